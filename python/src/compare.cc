// Comparisons of methods on splits of a table.
#include "jeffreys/fit/compare.h"

#include "python/src/density.h"
#include "python/src/watch.h"

namespace jeffreys::python {
namespace {

class JobWatch final : public JobObserver {
 public:
  explicit JobWatch(Watch& watch) : watch_(watch) {}

  void on_status(const QueueStatus& status) override {
    if (!watch_.due() && status.done < status.all) return;
    watch_.tell([&](py::dict& progress) {
      progress["label"] = "compare";
      progress["iteration"] = status.done;
      progress["iterations"] = status.all;
    });
  }
  bool should_stop() override { return watch_.should_stop(); }

 private:
  Watch& watch_;
};

const char* name_of_state(JobState state) {
  switch (state) {
    case JobState::done: return "done";
    case JobState::was_done: return "was done";
    case JobState::interrupted: return "interrupted";
    case JobState::elsewhere: return "elsewhere";
    case JobState::failed: return "failed";
    case JobState::missing_data: return "missing data";
    case JobState::left_out: return "left out";
  }
  return "";
}

std::vector<CompareMethod> read_methods(const std::vector<std::string>& texts) {
  if (texts.empty()) return all_compare_methods();
  std::vector<CompareMethod> methods;
  for (const std::string& text : texts) {
    for (CompareMethod& method : parse_compare_methods(text)) methods.push_back(std::move(method));
  }
  return methods;
}

CompareOptions read_options(const py::dict& given, const py::dict& columns) {
  const auto number = [&](const char* key) { return given[key].cast<std::size_t>(); };
  CompareOptions options{.methods = read_methods(given["methods"].cast<std::vector<std::string>>()),
                         .columns = read_columns(columns),
                         .settings = given["settings"].cast<SettingList>(),
                         .group = given["group"].cast<std::string>(),
                         .splits = number("splits"),
                         .seeds = number("seeds"),
                         .test = given["test"].cast<double>(),
                         .rows = number("rows"),
                         .most_tests = number("test_rows"),
                         .seed = given["seed"].cast<std::uint64_t>(),
                         .time_limit = given["time_limit"].cast<double>(),
                         .jobs = number("jobs"),
                         .folder = given["folder"].cast<std::string>()};
  const auto [index, count] = given["shard"].cast<std::pair<int, int>>();
  options.shard = {index, count};
  return options;
}

py::dict method_dict(const MethodResult& each) {
  py::dict method;
  method["method"] = each.method.name;
  method["definition"] = each.method.definition();
  method["splits"] = each.nll.n;
  method["nll"] = each.nll.mean;
  method["deviation"] = each.nll.standard_deviation;
  const bool compared = each.difference.splits > 0;
  const auto or_nan = [&](double value) { return compared ? value : kNotMeasured; };
  method["difference"] = or_nan(each.difference.mean);
  method["standard_error"] = or_nan(each.difference.standard_error);
  method["lower"] = or_nan(each.difference.lower);
  method["upper"] = or_nan(each.difference.upper);
  method["processor_seconds"] = each.processor_seconds;
  method["wall_seconds"] = each.wall_seconds;
  return method;
}

py::dict comparison_dict(const Comparison& found) {
  py::list methods;
  for (const MethodResult& each : found.methods) methods.append(method_dict(each));
  py::list jobs;
  for (const FinishedJob& job : found.jobs) {
    jobs.append(py::make_tuple(job.name, name_of_state(job.state), job.message));
  }
  py::dict result;
  result["rows"] = found.rows;
  result["dropped_rows"] = found.dropped;
  result["training_rows"] = found.training_rows;
  result["test_rows"] = found.test_rows;
  result["methods"] = methods;
  result["verdict"] = in_python(found.verdict);
  std::vector<std::string> notes;
  for (const std::string& note : found.notes) notes.push_back(in_python(note));
  result["notes"] = notes;
  result["jobs"] = jobs;
  return result;
}

py::dict compare_in_python(const Table& table, const py::dict& given, const py::dict& columns,
                           py::object tell) {
  const CompareOptions options = read_options(given, columns);
  Watch watch(std::move(tell));
  JobWatch observer(watch);
  const Comparison found = without_gil([&] { return compare_table(table, options, observer); });
  watch.rethrow();
  return comparison_dict(found);
}

}  // namespace

void bind_compare(py::module_& module) {
  module.def("compare", &compare_in_python, py::arg("table"), py::arg("options"),
             py::arg("columns"), py::arg("tell"));
  module.def("compare_kinds", [] {
    py::dict kinds;
    for (const CompareKind& kind : compare_kinds()) kinds[py::str(kind.name)] = kind.description;
    return kinds;
  });
  module.def("compare_methods", [](const std::vector<std::string>& texts) {
    py::list methods;
    for (const CompareMethod& method : read_methods(texts)) {
      methods.append(py::make_tuple(method.name, method.definition()));
    }
    return methods;
  });
}

}  // namespace jeffreys::python

// Fits of tables, and the densities that come of them.
#include <algorithm>
#include <cmath>
#include <span>
#include <unordered_map>

#include "jeffreys/fit/evaluate_density.h"
#include "jeffreys/fit/explain.h"
#include "jeffreys/fit/fit_record.h"
#include "jeffreys/fit/fit_table.h"
#include "jeffreys/fit/given.h"
#include "python/src/density.h"
#include "python/src/watch.h"

namespace jeffreys::python {
namespace {

using Settings = std::vector<std::tuple<std::string, std::string, std::string>>;

// The rows of the table that were held out, in increasing order. A fit mixes the rows, so they are
// found by what they hold; which of two equal rows it is makes no difference.
std::vector<std::int64_t> held_out_rows(const Table& table, const PreparedTable& prepared) {
  if (prepared.validation.size() == 0) return {};
  const auto bytes = [](const EncodedRows& rows, Eigen::Index i) {
    std::string result;
    for (const Matrix<double>* part : {&rows.x, &rows.context}) {
      if (part->cols() == 0) continue;
      const Vector<double> numbers = part->row(i);
      result.append(reinterpret_cast<const char*>(numbers.data()),
                    static_cast<std::size_t>(numbers.size()) * sizeof(double));
    }
    return result;
  };
  const Schema::Encoded all = prepared.schema.encode(table);
  std::unordered_map<std::string, std::vector<std::size_t>> places;
  for (Eigen::Index i = all.size(); i-- > 0;) {
    places[bytes(all, i)].push_back(all.rows[static_cast<std::size_t>(i)]);
  }
  std::vector<std::int64_t> found;
  for (Eigen::Index i = 0; i < prepared.validation.size(); ++i) {
    const auto same = places.find(bytes(prepared.validation, i));
    if (same == places.end() || same->second.empty()) continue;
    found.push_back(static_cast<std::int64_t>(same->second.back()));
    same->second.pop_back();
  }
  std::sort(found.begin(), found.end());
  return found;
}

py::tuple fit_in_python(const Table& table, const py::dict& columns, const Settings& settings,
                        const std::string& preset, const std::string& source, std::size_t threads,
                        const std::string& checkpoint, bool resume, py::object tell) {
  Watch watch(std::move(tell));
  const FitRun run = fit_run(watch, threads, checkpoint, resume);
  const SchemaOptions schema = read_columns(columns);
  const ChosenSettings chosen = chosen_settings(settings, preset);
  TableFit made = without_gil([&] { return fit_table(table, schema, chosen, run); });
  watch.rethrow();
  made.fit.density.record =
      fit_record(source, made.table, made.options, made.defaults, made.fit.report);
  if (!checkpoint.empty()) run.remove_unfinished();
  return py::make_tuple(DensityHandle(std::move(made.fit.density)),
                        result_record(made.table, made.fit.report),
                        to_array(held_out_rows(table, made.table)));
}

// How many fits it will be.
int members_in_python(const Table& table, const py::dict& columns, const Settings& settings,
                      const std::string& preset) {
  return table_members(table, read_columns(columns), chosen_settings(settings, preset));
}

// One of several fits: it is left in the folder.
void fit_member_in_python(const Table& table, const py::dict& columns, const Settings& settings,
                          const std::string& preset, const std::string& folder, int member,
                          std::size_t threads) {
  Watch watch(py::none{});
  const SchemaOptions schema = read_columns(columns);
  const ChosenSettings chosen = chosen_settings(settings, preset);
  const FitRun run = member_run(watch, threads, folder, member);
  without_gil([&] { static_cast<void>(fit_table(table, schema, chosen, run)); });
  watch.rethrow();
}

// NaN for a row without a score.
void write_by_row(const Vector<double>& values, const std::vector<std::size_t>& rows,
                  std::span<double> out) {
  if (rows.size() < out.size()) std::fill(out.begin(), out.end(), std::nan(""));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    out[rows[i]] = values(static_cast<Eigen::Index>(i));
  }
}

// Those that the program gives: none where too much is left open.
TableLogProb scores_of(const TabularDensity<float>& density, const Table& table, From from) {
  return without_gil([&] {
    TableLogProb scores = density.log_prob(table, from, Unusual::keep);
    withhold_uncertain(scores);
    return scores;
  });
}

py::array_t<double> log_prob(DensityHandle& self, const Table& table,
                             const std::optional<std::string>& from, std::size_t threads) {
  const auto density = self.with(threads);
  const From speaker = read_from(from).value_or(density->chosen());
  const TableLogProb scores = scores_of(*density, table, speaker);
  return by_row(scores.log_prob, scores.rows, table.rows());
}

// The same of numbers alone, in blocks: less memory, and nothing of the size of the whole is
// copied. With conditions an energy proxy draws samples by the place of a row, so that there is one
// block.
py::array_t<double> log_prob_of_numbers(DensityHandle& self, const MatrixView<double>& values,
                                        const std::optional<std::string>& from,
                                        std::size_t threads) {
  constexpr Eigen::Index kBlock = 1 << 14;
  const auto density = self.with(threads);
  const From speaker = read_from(from).value_or(density->chosen());
  py::array_t<double> result(values.rows());
  double* const out = result.mutable_data();
  const Eigen::Index most = density->schema().context_features() > 0 ? values.rows() : kBlock;
  without_gil([&] {
    for (Eigen::Index first = 0; first < values.rows(); first += most) {
      const Eigen::Index rows = std::min(most, values.rows() - first);
      const Table table = numbers_table(values.middleRows(first, rows), {}, "X", first);
      TableLogProb scores = density->log_prob(table, speaker, Unusual::keep);
      withhold_uncertain(scores);
      write_by_row(scores.log_prob, scores.rows, {out + first, static_cast<std::size_t>(rows)});
    }
  });
  return result;
}

// What `jeffreys log_prob` writes: scores, their errors, and notes on unusual rows.
py::dict describe_rows(DensityHandle& self, const Table& table,
                       const std::optional<std::string>& from, std::size_t threads) {
  const auto density = self.with(threads);
  const From speaker = read_from(from).value_or(density->chosen());
  const TableLogProb scores = scores_of(*density, table, speaker);
  py::dict result;
  result["log_prob"] = by_row(scores.log_prob, scores.rows, table.rows());
  result["error"] = by_row(scores.error, scores.rows, table.rows());
  const CalibrationScores& known = density->calibration();
  if ((speaker == From::main ? known.main : known.proxy).size() > 0) {
    result["p_value"] = by_row(density->p_values(scores, speaker), scores.rows, table.rows());
  }
  result["note"] = scores.unusual;
  return result;
}

py::array_t<double> p_values(DensityHandle& self, const Table& table,
                             const std::optional<std::string>& from, std::size_t threads) {
  const auto density = self.with(threads);
  const From speaker = read_from(from).value_or(density->chosen());
  const TableLogProb scores = scores_of(*density, table, speaker);
  return by_row(density->p_values(scores, speaker), scores.rows, table.rows());
}

py::tuple explain_rows(DensityHandle& self, const Table& table,
                       const std::optional<std::string>& from, std::size_t threads) {
  const auto density = self.with(threads);
  const From speaker = read_from(from).value_or(density->chosen());
  const Surprises found = without_gil([&] { return explain(*density, table, speaker); });
  Matrix<double> all = Matrix<double>::Constant(static_cast<Eigen::Index>(table.rows()),
                                                found.nats.cols(), std::nan(""));
  for (std::size_t i = 0; i < found.rows.size(); ++i) {
    all.row(static_cast<Eigen::Index>(found.rows[i])) =
        found.nats.row(static_cast<Eigen::Index>(i));
  }
  return py::make_tuple(found.columns, all);
}

py::dict nll_dict(const MeanNll& nll) {
  py::dict result;
  result["nll"] = nll.nll;
  result["standard_error"] = nll.standard_error;
  result["rows"] = nll.rows;
  return result;
}

py::dict evaluate(DensityHandle& self, const Table& table, const std::string& weights,
                  std::size_t threads) {
  const auto density = self.with(threads);
  const DensityEvaluation found =
      without_gil([&] { return evaluate_density(*density, table, weights); });
  py::dict result;
  result["main"] = nll_dict(found.main);
  if (found.proxy) result["proxy"] = nll_dict(*found.proxy);
  result["default"] = name_of(density->chosen());
  result["dropped_rows"] = found.dropped;
  result["rows_with_gaps"] = found.with_gaps;
  if (found.reverse) {
    py::dict reverse;
    reverse["kl"] = found.reverse->kl.mean;
    reverse["standard_error"] = found.reverse->kl.standard_error;
    reverse["effective_sample_size"] = found.reverse->importance.effective_sample_size;
    reverse["pareto_k"] = found.reverse->importance.pareto_k;
    reverse["samples"] = found.reverse->samples;
    result["reverse_kl"] = reverse;
  }
  if (found.energy.conditions > 0) result["warnings"] = found.energy.warnings();
  return result;
}

py::list describe_columns(const DensityHandle& self) {
  py::list columns;
  for (const ColumnInfo& info : self.get().schema().columns()) {
    py::dict column;
    column["name"] = info.name;
    column["role"] = name_of(info.role);
    column["kind"] = name_of(info.kind);
    column["labels"] = info.labels;
    column["minimum"] = info.minimum;
    column["maximum"] = info.maximum;
    column["resolution"] = info.resolution;
    column["bounds"] = py::make_tuple(info.bounds.lower, info.bounds.upper);
    columns.append(column);
  }
  return columns;
}

}  // namespace

std::optional<From> read_from(const std::optional<std::string>& from) {
  if (!from) return {};
  if (*from == "main") return From::main;
  if (*from == "proxy") return From::proxy;
  throw std::invalid_argument("model: expected 'main' or 'proxy', got '" + *from + "'");
}

SchemaOptions read_columns(const py::dict& given) {
  const auto names = [&](const char* key) {
    return given.contains(key) ? given[key].cast<std::vector<std::string>>()
                               : std::vector<std::string>();
  };
  SchemaOptions columns{.condition = names("condition"),
                        .categorical = names("categorical"),
                        .integer = names("integer"),
                        .ignore = names("ignore")};
  if (given.contains("weights")) columns.weights = given["weights"].cast<std::string>();
  if (given.contains("bounds")) {
    for (const auto& [name, ends] :
         given["bounds"].cast<std::map<std::string, std::pair<double, double>>>()) {
      columns.bounds[name] = {ends.first, ends.second};
    }
  }
  return columns;
}

py::array_t<double> by_row(const Vector<double>& values, const std::vector<std::size_t>& rows,
                           std::size_t all) {
  py::array_t<double> result(static_cast<py::ssize_t>(all));
  write_by_row(values, rows, {result.mutable_data(), all});
  return result;
}

ChosenSettings chosen_settings(const Settings& settings, const std::string& preset) {
  ChosenSettings chosen;
  if (!preset.empty()) chosen.choose_preset(preset);
  for (const auto& [key, value, origin] : settings) chosen.add(key, value, origin);
  return chosen;
}

py::dict training_course(const TabularDensity<float>& density) {
  py::dict course;
  const auto collect = [](const auto& records, const auto& visit_all) {
    std::map<std::string, std::vector<double>> columns;
    std::size_t row = 0;
    for (const auto& record : records) {
      visit_all(record, [&](const std::string& name, const auto& value) {
        std::vector<double>& column = columns[name];
        column.resize(row, std::nan(""));
        column.push_back(static_cast<double>(value));
      });
      ++row;
    }
    py::dict result;
    for (auto& [name, values] : columns) {
      values.resize(row, std::nan(""));
      result[py::str(name)] = to_array(std::move(values));
    }
    return result;
  };
  course["steps"] = collect(density.history,
                            [](const StepRecord& r, const auto& visit) { visit_step(r, visit); });
  course["evaluations"] = collect(density.evaluations, [](const Evaluation& r, const auto& visit) {
    visit_evaluation(r, visit);
  });
  return course;
}

void bind_density(py::module_& module) {
  module.def("fit_table", &fit_in_python, py::arg("table"), py::arg("columns"), py::arg("settings"),
             py::arg("preset"), py::arg("source"), py::arg("threads"), py::arg("checkpoint"),
             py::arg("resume"), py::arg("tell"));
  module.def("table_members", &members_in_python);
  module.def("fit_member", &fit_member_in_python);
  module.def("check_unfinished", [](const std::string& checkpoint, bool resume) {
    Watch nobody(py::none{});
    fit_run(nobody, 1, checkpoint, resume).check_unfinished();
  });
  py::class_<DensityHandle> density(module, "Density");
  density
      .def_static(
          "load",
          [](const std::string& path) {
            return DensityHandle(without_gil([&] { return TabularDensity<float>::load(path); }));
          })
      .def("save",
           [](const DensityHandle& self, const std::string& path) { self.get().save(path); })
      .def_property_readonly("record", [](const DensityHandle& self) { return self.get().record; })
      .def_property_readonly("chosen",
                             [](const DensityHandle& self) { return name_of(self.get().chosen()); })
      .def_property_readonly(
          "has_proxy", [](const DensityHandle& self) { return self.get().proxy() != nullptr; })
      .def_property_readonly("attachments",
                             [](const DensityHandle& self) { return self.get().attachments; })
      .def("with_attachment",
           [](const DensityHandle& self, const std::string& name, const std::string& text) {
             TabularDensity<float> copy = self.get();
             copy.attachments[name] = text;
             return DensityHandle(std::move(copy));
           })
      .def_property_readonly("columns", &describe_columns)
      .def_property_readonly("notes",
                             [](const DensityHandle& self) { return self.get().schema().notes(); })
      .def_property_readonly(
          "feature_names",
          [](const DensityHandle& self) { return self.get().schema().feature_names(); })
      .def_property_readonly(
          "condition_names",
          [](const DensityHandle& self) { return self.get().schema().condition_names(); })
      .def_property_readonly(
          "text_columns",
          [](const DensityHandle& self) { return self.get().schema().text_columns(); })
      .def("course", [](const DensityHandle& self) { return training_course(self.get()); })
      .def("log_prob", &log_prob)
      .def("log_prob_of_numbers", &log_prob_of_numbers)
      .def("describe_rows", &describe_rows)
      .def("p_values", &p_values)
      .def("explain", &explain_rows)
      .def("evaluate", &evaluate);
  bind_given(density);
}

}  // namespace jeffreys::python

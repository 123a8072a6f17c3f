// Simulations: the library keeps the journal and the account of failures; a simulator is a command,
// or a function of Python.
#include "jeffreys/sbi/simulate.h"

#include "jeffreys/sbi/prior.h"
#include "python/src/binding.h"
#include "python/src/watch.h"

namespace jeffreys::python {
namespace {

class SimulateWatch final : public SimulateObserver {
 public:
  explicit SimulateWatch(Watch& watch) : watch_(watch) {}

  void on_progress(const SimulateProgress& progress) override {
    if (!watch_.due()) return;
    watch_.tell([&](py::dict& told) {
      told["label"] = "simulate";
      told["iteration"] = progress.finished + progress.failed;
      told["iterations"] = progress.requested;
      told["failed"] = progress.failed;
    });
  }
  bool should_stop() override { return watch_.should_stop(); }

 private:
  Watch& watch_;
};

// An exception of the function fails the call, with its text as the reason.
SimulatorFunction call_python(const py::object& function) {
  return [&function](const MatrixView<double>& parameters, std::uint64_t seed,
                     std::uint64_t first_row) {
    const py::gil_scoped_acquire held;
    try {
      return function(Matrix<double>(parameters), seed, first_row).cast<Matrix<double>>();
    } catch (const py::error_already_set& error) {
      if (error.matches(PyExc_ValueError)) throw std::invalid_argument(py::str(error.value()));
      throw std::runtime_error(py::str(error.value()));
    }
  };
}

py::dict report_dict(const SimulateReport& report) {
  py::dict failures;
  for (const auto& [kind, count] : report.failures) {
    py::dict failure;
    failure["rows"] = count.rows;
    failure["first"] = count.first_message;
    failures[py::str(std::string(name_of(kind)))] = failure;
  }
  py::dict result;
  result["requested"] = report.requested;
  result["simulated"] = report.finished;
  result["resumed"] = report.resumed;
  result["failed"] = report.failed();
  result["calls"] = report.calls;
  result["failures"] = failures;
  result["seconds"] = report.seconds;
  return result;
}

py::tuple simulate_rows(const py::object& simulator, Eigen::Index outcomes, double call_seconds,
                        const Prior& prior, std::int64_t rows, std::int64_t rows_per_call,
                        int processes, std::uint64_t seed,
                        const std::vector<std::string>& outcome_names, const std::string& journal,
                        bool retry_failed, const std::map<std::string, std::string>& identity,
                        py::object tell) {
  const bool is_command = py::isinstance<py::str>(simulator);
  const std::unique_ptr<Simulator> made =
      is_command ? make_command_simulator({.command = simulator.cast<std::string>(),
                                           .seconds = call_seconds,
                                           .outcomes = outcomes})
                 : make_function_simulator(call_python(simulator), outcomes);
  const SimulateOptions options{.rows = rows,
                                .rows_per_call = rows_per_call,
                                .processes = processes,
                                .seed = seed,
                                .parameter_names = prior.names(),
                                .outcome_names = outcome_names,
                                .journal = journal,
                                .retry_failed = retry_failed,
                                .identity = identity};
  const auto draw = [&](std::uint64_t first, std::int64_t count) {
    return prior.sample(count, seed, 0, first);
  };
  Watch watch(std::move(tell));
  SimulateWatch observer(watch);
  Simulations simulations = without_gil([&] { return simulate(*made, draw, options, &observer); });
  watch.rethrow();
  return py::make_tuple(std::move(simulations.table), report_dict(simulations.report));
}

}  // namespace

void bind_simulate(py::module_& module) {
  module.def("simulate", &simulate_rows, py::arg("simulator"), py::arg("outcomes"),
             py::arg("call_seconds"), py::arg("prior"), py::arg("rows"), py::arg("rows_per_call"),
             py::arg("processes"), py::arg("seed"), py::arg("outcome_names"), py::arg("journal"),
             py::arg("retry_failed"), py::arg("identity"), py::arg("tell"));
}

}  // namespace jeffreys::python

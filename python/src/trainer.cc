// The dual method, step by step.
#include "jeffreys/train/trainer.h"

#include "jeffreys/fit/fit_options.h"
#include "jeffreys/fit/fit_record.h"
#include "python/src/models.h"
#include "python/src/watch.h"

namespace jeffreys::python {
namespace {

template <typename T>
struct TrainerHandle {
  std::shared_ptr<UnnormalizedDensity<T>> main;
  std::shared_ptr<UnnormalizedDensity<T>> proxy;
  std::int64_t iterations = 0;
  std::unique_ptr<Trainer<T>> trainer;
};

// Settings are those of a fit, by the same keys.
TrainOptions train_options(const std::vector<std::pair<std::string, std::string>>& settings,
                           std::uint64_t seed) {
  FitOptions options;
  for (const auto& [key, value] : settings) change_setting(options, key, value);
  options.train.seed = seed;
  options.train.validate();
  return options.train;
}

template <typename T>
std::unique_ptr<TrainerHandle<T>> make_trainer(
    const ModelHandle<T>& main, const ModelHandle<T>* proxy, const Matrix<T>& x,
    const Matrix<T>& context, const Matrix<T>& validation_x, const Matrix<T>& validation_context,
    const std::vector<std::pair<std::string, std::string>>& settings, std::uint64_t seed) {
  auto handle = std::make_unique<TrainerHandle<T>>();
  handle->main = main.model;
  if (proxy != nullptr) handle->proxy = proxy->model;
  auto* density = dynamic_cast<Density<T>*>(handle->main.get());
  if (density == nullptr) {
    throw std::invalid_argument("main: expected a model that draws samples, got an energy model");
  }
  if (handle->proxy == handle->main) {
    throw std::invalid_argument("proxy: expected another model than main; make a copy");
  }
  const TrainOptions options = train_options(settings, seed);
  handle->iterations = options.iterations;
  handle->trainer = std::make_unique<Trainer<T>>(
      *density, handle->proxy.get(), TrainingData<T>{x, context, validation_x, validation_context},
      options);
  return handle;
}

py::dict step_dict(const StepRecord& record) {
  py::dict result;
  visit_step(record,
             [&](const std::string& name, const auto& value) { result[py::str(name)] = value; });
  return result;
}

class TrainerWatch final : public TrainObserver {
 public:
  TrainerWatch(Watch& watch, std::int64_t iterations) : watch_(watch), iterations_(iterations) {}

  void on_evaluation(const Evaluation& evaluation) override { evaluation_ = evaluation; }
  void on_step(const StepRecord& record) override {
    if (!watch_.due() && record.iteration != iterations_) return;
    watch_.tell([&](py::dict& told) {
      told["label"] = "train";
      told["iteration"] = record.iteration;
      told["iterations"] = iterations_;
      told["nll"] = record.divergences.forward;
      told["validation"] = evaluation_.main;
      told["validation_proxy"] = evaluation_.proxy;
      told["balance"] = record.balance;
    });
  }
  bool should_stop() override { return watch_.should_stop(); }

 private:
  Watch& watch_;
  std::int64_t iterations_;
  Evaluation evaluation_;
};

template <typename T>
py::dict run_trainer(TrainerHandle<T>& self, py::object tell) {
  Watch watch(std::move(tell));
  TrainerWatch observer(watch, self.iterations);
  const TrainResult found = without_gil([&] { return self.trainer->run(&observer); });
  watch.rethrow();
  py::dict result;
  result["stop_reason"] = name_of(found.stop_reason);
  result["iterations"] = found.iterations;
  result["skipped"] = found.skipped;
  result["seconds"] = found.seconds;
  result["multipliers"] = found.multipliers;
  result["main_iteration"] = found.main.iteration;
  result["main_nll"] = found.main.nll;
  return result;
}

template <typename T>
void bind_trainer_of(py::module_& module, const char* name) {
  using Handle = TrainerHandle<T>;
  py::class_<Handle>(module, name)
      .def(py::init(&make_trainer<T>))
      .def(
          "step",
          [](Handle& self) { return step_dict(without_gil([&] { return self.trainer->step(); })); })
      .def("run", &run_trainer<T>)
      .def("save", [](const Handle& self, const std::string& path) { self.trainer->save(path); })
      .def("resume", [](Handle& self, const std::string& path) { self.trainer->resume(path); })
      .def_property_readonly("iteration",
                             [](const Handle& self) { return self.trainer->iteration(); })
      .def_property_readonly("multipliers",
                             [](const Handle& self) { return self.trainer->multipliers(); });
}

}  // namespace

void bind_trainer(py::module_& module) {
  bind_trainer_of<float>(module, "Trainer32");
  bind_trainer_of<double>(module, "Trainer64");
}

}  // namespace jeffreys::python

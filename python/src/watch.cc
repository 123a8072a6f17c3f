#include "python/src/watch.h"

namespace jeffreys::python {
namespace {

constexpr std::chrono::milliseconds kAskEvery{50};
constexpr std::chrono::milliseconds kTellEvery{100};

class FitWatch final : public TrainObserver {
 public:
  FitWatch(Watch& watch, std::string label, const FitOptions& options, const PreparedTable& table)
      : watch_(watch), label_(std::move(label)), iterations_(options.train.iterations) {
    const EncodedRows& rows = table.validation.size() > 0 ? table.validation : table.training;
    shift_ = rows.size() > 0 ? -rows.log_jacobian.mean() : 0;
  }

  void on_evaluation(const Evaluation& evaluation) override { evaluation_ = evaluation; }

  // NLLs are in the user's units.
  void on_step(const StepRecord& record) override {
    if (!watch_.due() && record.iteration != iterations_) return;
    watch_.tell([&](py::dict& progress) {
      progress["label"] = label_;
      progress["iteration"] = record.iteration;
      progress["iterations"] = iterations_;
      progress["nll"] = record.divergences.forward + shift_;
      progress["validation"] = evaluation_.main + shift_;
      progress["validation_proxy"] = evaluation_.proxy + shift_;
      progress["balance"] = record.balance;
    });
  }

 private:
  Watch& watch_;
  std::string label_;
  std::int64_t iterations_;
  double shift_ = 0;
  Evaluation evaluation_;
};

}  // namespace

void Watch::keep(py::error_already_set& error) {
  if (!error_) error_ = std::make_unique<py::error_already_set>(error);
}

bool Watch::should_stop() {
  const Clock::time_point now = Clock::now();
  if (error_ || now < asked_ + kAskEvery) return error_ != nullptr;
  asked_ = now;
  const py::gil_scoped_acquire held;
  if (PyErr_CheckSignals() != 0) {
    py::error_already_set error;
    keep(error);
  }
  return error_ != nullptr;
}

bool Watch::due() const { return !tell_.is_none() && Clock::now() >= told_ + kTellEvery; }

void Watch::tell(const std::function<void(py::dict&)>& fill) {
  if (error_ || tell_.is_none()) return;
  told_ = Clock::now();
  const py::gil_scoped_acquire held;
  try {
    py::dict progress;
    fill(progress);
    tell_(progress);
  } catch (py::error_already_set& error) {
    keep(error);
  }
}

void Watch::rethrow() {
  if (!error_) return;
  const std::unique_ptr<py::error_already_set> error = std::move(error_);
  throw py::error_already_set(*error);
}

std::unique_ptr<TrainObserver> watch_fit(Watch& watch, const std::string& label,
                                         const FitOptions& options, const PreparedTable& table) {
  return std::make_unique<FitWatch>(watch, label, options, table);
}

FitRun fit_run(Watch& watch, std::size_t threads, const std::string& checkpoint, bool resume) {
  return {
      .threads = threads,
      .checkpoint = checkpoint,
      .folder = checkpoint.empty() ? "" : checkpoint + ".members",
      .resume = resume,
      .observe =
          [&watch](const std::string& label, const FitOptions& options,
                   const PreparedTable& table) { return watch_fit(watch, label, options, table); },
      .should_stop = [&watch] { return watch.should_stop(); }};
}

FitRun member_run(Watch& watch, std::size_t threads, const std::string& folder, int member) {
  return {.threads = threads,
          .folder = folder,
          .resume = true,
          .only_member = member,
          .should_stop = [&watch] { return watch.should_stop(); }};
}

}  // namespace jeffreys::python

#include "jeffreys/fit/fit_table.h"

#include <fmt/format.h>

#include <utility>

#include "jeffreys/base/input_error.h"

namespace jeffreys {
namespace {

// What the caller watches a fit with, and whether the whole run is to stop.
class WatchedFit final : public TrainObserver {
 public:
  WatchedFit(std::unique_ptr<TrainObserver> own, const std::function<bool()>& stop)
      : own_(std::move(own)), stop_(stop) {}

  void on_step(const StepRecord& record) override {
    if (own_) own_->on_step(record);
  }
  void on_evaluation(const Evaluation& evaluation) override {
    if (own_) own_->on_evaluation(evaluation);
  }
  bool should_stop() override { return (own_ && own_->should_stop()) || (stop_ && stop_()); }

 private:
  std::unique_ptr<TrainObserver> own_;
  const std::function<bool()>& stop_;
};

}  // namespace

void FitRun::check_unfinished() const {
  bool found = false;
  for (const auto& [path, what] :
       {std::pair{checkpoint, "the checkpoint"}, std::pair{folder, "the folder"}}) {
    if (path.empty() || !std::filesystem::exists(path)) continue;
    found = true;
    if (resume) continue;
    throw InputError(
        path.string(),
        fmt::format("{} of an unfinished fit: go on with --resume, or delete it", what));
  }
  if (resume && !found && tell) tell("no checkpoint to resume from: starting anew");
}

void FitRun::remove_unfinished() const {
  if (!checkpoint.empty()) std::filesystem::remove(checkpoint);
  if (!folder.empty()) std::filesystem::remove_all(folder);
}

Fit fit(const PreparedTable& table, const FitOptions& options, const FitRun& run,
        const std::string& label) {
  WatchedFit observer(run.observe ? run.observe(label, options, table) : nullptr, run.should_stop);
  return fit(table, options, run.threads, run.resume, &observer);
}

FitPlan plan_fit(const Table& table, const SchemaOptions& columns, const ChosenSettings& settings,
                 const DefaultOptions& by_size) {
  FitOptions data_options;
  data_options.schema = columns;
  settings.apply_to(data_options);
  data_options.schema.validate();
  PreparedTable prepared = prepare(table, data_options);
  const std::size_t features = prepared.schema.features();
  const std::size_t conditions = prepared.schema.context_features();
  const auto defaults_for = [=](std::size_t rows) {
    return settings.defaults(by_size, rows, features, conditions);
  };
  const auto options_for = [=](std::size_t rows) {
    FitOptions options = defaults_for(rows);
    options.schema = columns;
    settings.apply_to(options);
    options.train.validate();
    return options;
  };
  return {std::move(prepared), defaults_for, options_for};
}

TableFit fit_table(const Table& table, const SchemaOptions& columns, const ChosenSettings& settings,
                   const FitRun& run) {
  return fit_table(plan_fit(table, columns, settings), run);
}

TableFit fit_table(FitPlan plan, const FitRun& run) {
  const std::size_t rows = plan.table.rows();
  FitOptions options = plan.options_for(rows);
  options.train.checkpoint.path = run.checkpoint;
  run.check_unfinished();
  Fit made = fit(plan.table, options, run, "fit");
  return {std::move(plan.table), std::move(options), plan.defaults_for(rows), std::move(made)};
}

}  // namespace jeffreys

#include "jeffreys/fit/fit.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "jeffreys/base/input_error.h"
#include "jeffreys/fit/models.h"

namespace jeffreys {
namespace {

Matrix<double> take_rows(const Matrix<double>& all, const std::vector<std::size_t>& rows) {
  Matrix<double> part(static_cast<Eigen::Index>(rows.size()), all.cols());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    part.row(static_cast<Eigen::Index>(i)) = all.row(static_cast<Eigen::Index>(rows[i]));
  }
  return part;
}

SchemaOptions schema_options(const FitOptions& options) {
  SchemaOptions schema = options.schema;
  schema.seed = options.seed;
  return schema;
}

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

PreparedTable prepare(const Table& table, const FitOptions& options) {
  const std::size_t rows = complete_rows(table, options.schema).size();
  const double fraction =
      options.validation_fraction < 0 ? validation_fraction(rows) : options.validation_fraction;
  return prepare(table, options, split_rows(rows, fraction, options.seed));
}

PreparedTable prepare(const Table& table, const FitOptions& options, const Split& split) {
  return prepare(table, Schema::fit(table, schema_options(options), split.training), split);
}

PreparedTable prepare(const Table& table, Schema schema, const Split& split) {
  PreparedTable result{.schema = std::move(schema)};
  const Schema::Encoded encoded = result.schema.encode(table);
  result.dropped = encoded.dropped;
  result.x = take_rows(encoded.x, split.training);
  result.context = take_rows(encoded.context, split.training);
  result.log_jacobian = take_rows(encoded.log_jacobian, split.training);
  result.validation_x = take_rows(encoded.x, split.validation);
  result.validation_context = take_rows(encoded.context, split.validation);
  result.validation_log_jacobian = take_rows(encoded.log_jacobian, split.validation);
  return result;
}

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
  if (run.threads < 1) throw std::invalid_argument("threads: expected at least 1, got 0");
  options.validate();
  TrainOptions train = options.train;
  train.seed = options.seed;
  const auto features = static_cast<Eigen::Index>(table.schema.features());
  const auto context = static_cast<Eigen::Index>(table.schema.context_features());
  AnyDensity<float> main = make_main_model(options, features, context);
  std::optional<AnyModel<float>> proxy;
  if (needs_proxy(train.method)) proxy = make_proxy_model(options, features, context);

  Fit result{TabularDensity<float>(table.schema, std::move(main), std::move(proxy)), {}};
  TabularDensity<float>& density = result.density;
  if (run.threads > 1) density.use_threads(std::make_shared<ThreadPool>(run.threads));
  {
    Trainer<float> trainer(
        density.edit_main(), density.edit_proxy(),
        {table.x.cast<float>(), table.context.cast<float>(), table.validation_x.cast<float>(),
         table.validation_context.cast<float>()},
        train);
    if (run.resume && std::filesystem::exists(train.checkpoint.path)) {
      trainer.resume(train.checkpoint.path);
    }
    WatchedFit observer(run.observe ? run.observe(label, options, table) : nullptr,
                        run.should_stop);
    result.report.training = trainer.run(&observer);
  }
  density.history = result.report.training.history;
  // The model's bytes do not depend on how long its training took.
  for (StepRecord& step : density.history) step.times = {};
  density.evaluations = result.report.training.evaluations;
  if (result.report.training.stop_reason == StopReason::interrupted) return result;
  density.normalize(options.seed);
  result.report.energy = density.check_energy(
      table.validation_x.rows() > 0 ? table.validation_context : table.context, options.seed);
  assess(table, density, result.report);
  density.choose(result.report.chosen);
  return result;
}

}  // namespace jeffreys

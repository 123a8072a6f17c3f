#include "jeffreys/fit/fit.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "jeffreys/evaluate/gaussian_baseline.h"
#include "jeffreys/fit/assess.h"
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

Fit fit(const PreparedTable& table, const FitOptions& options, std::size_t threads, bool resume,
        TrainObserver* observer) {
  if (threads < 1) throw std::invalid_argument("threads: expected at least 1, got 0");
  TrainOptions train = options.train;
  train.seed = options.seed;
  const auto features = static_cast<Eigen::Index>(table.schema.features());
  const auto context = static_cast<Eigen::Index>(table.schema.context_features());
  AnyDensity<float> main = make_main_model(options, features, context);
  std::optional<AnyModel<float>> proxy;
  if (needs_proxy(train.method)) proxy = make_proxy_model(options, features, context);

  Fit result{TabularDensity<float>(table.schema, std::move(main), std::move(proxy)), {}};
  TabularDensity<float>& density = result.density;
  if (threads > 1) density.use_threads(std::make_shared<ThreadPool>(threads));
  {
    Trainer<float> trainer(
        density.edit_main(), density.edit_proxy(),
        {table.x.cast<float>(), table.context.cast<float>(), table.validation_x.cast<float>(),
         table.validation_context.cast<float>()},
        train);
    if (resume && std::filesystem::exists(train.checkpoint.path)) {
      trainer.resume(train.checkpoint.path);
    }
    result.report.training = trainer.run(observer);
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

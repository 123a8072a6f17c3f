#include "jeffreys/fit/fit_table.h"

#include <utility>

namespace jeffreys {
FitPlan plan_fit(const Table& table, const SchemaOptions& columns, const ChosenSettings& settings,
                 const DefaultOptions& by_size) {
  // Of these only what concerns the rows is looked at here.
  FitOptions data_options = by_size(table.rows(), 1, 1, FitOptions().proxy);
  data_options.schema = columns;
  settings.apply_to(data_options);
  check_cells(table, data_options.schema);
  PreparedTable prepared = prepare(ordered_by_content(table, columns.ignore), data_options);
  const std::size_t features = prepared.schema.features();
  const std::size_t conditions = prepared.schema.context_features();
  const auto defaults_for = [=](std::size_t rows) {
    return settings.defaults(by_size, rows, features, conditions);
  };
  const auto options_for = [=](std::size_t rows) {
    FitOptions options = defaults_for(rows);
    options.schema = columns;
    settings.apply_to(options);
    options.validate();
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
  if (made.report.training.stop_reason != StopReason::interrupted) {
    const bool kept = plan.table.calibration.size() > 0;
    made.density.calibrate(kept ? plan.table.calibration : plan.table.validation, kept);
  }
  return {std::move(plan.table), std::move(options), plan.defaults_for(rows), std::move(made)};
}

}  // namespace jeffreys

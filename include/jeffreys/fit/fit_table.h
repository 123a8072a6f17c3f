// From a table and a user's settings to a density with its report, in one call.
#pragma once

#include <functional>

#include "jeffreys/fit/chosen_settings.h"
#include "jeffreys/fit/fit.h"

namespace jeffreys {

// A table with the options of a fit to so many of its rows.
struct FitPlan {
  PreparedTable table;
  std::function<FitOptions(std::size_t rows)> defaults_for;
  std::function<FitOptions(std::size_t rows)> options_for;  // with the user's settings
};

// Throws InputError for a table that no model can be fitted to, std::invalid_argument for columns
// or settings that make no sense.
[[nodiscard]] FitPlan plan_fit(const Table& table, const SchemaOptions& columns,
                               const ChosenSettings& settings,
                               const DefaultOptions& by_size = default_fit_options);

struct TableFit {
  PreparedTable table;
  FitOptions options;   // of this fit
  FitOptions defaults;  // what they would be without settings
  Fit fit;              // if it was interrupted: as far as it came
};

// Throws as plan_fit and FitRun::check_unfinished do, and InputError for a checkpoint of another
// fit. If it was interrupted, fit.report.training.stop_reason says so, and the same call with
// run.resume goes on: the result is as if nothing had happened.
[[nodiscard]] TableFit fit_table(const Table& table, const SchemaOptions& columns = {},
                                 const ChosenSettings& settings = {}, const FitRun& run = {});
[[nodiscard]] TableFit fit_table(FitPlan plan, const FitRun& run = {});

}  // namespace jeffreys

// From a table and a user's settings to a density with its report, in one call.
#pragma once

#include <functional>

#include "jeffreys/fit/chosen_settings.h"
#include "jeffreys/fit/fit.h"

namespace jeffreys {

// Whether a plan holds rows out; several fits that leave out rows of their own need all of them.
enum class HoldOut { share, none };

// A table with the options of a fit to so many of its rows.
struct FitPlan {
  PreparedTable table;
  std::function<FitOptions(std::size_t rows)> defaults_for;
  std::function<FitOptions(std::size_t rows)> options_for;  // with the user's settings
  ChosenSettings settings;
};

// Throws InputError for a table that no model can be fitted to, std::invalid_argument for columns
// or settings that make no sense.
[[nodiscard]] FitPlan plan_fit(const Table& table, const SchemaOptions& columns,
                               const ChosenSettings& settings,
                               const DefaultOptions& by_size = default_fit_options,
                               HoldOut hold_out = HoldOut::share);

// How many fits make the density of a table with so many rows: 10, but one for fewer than
// 40 rows and from 20,000 on.
[[nodiscard]] int default_table_members(std::size_t rows);

// How many fits fit_table will make of a table: the setting `members`, or what it takes without
// one. Throws as fit_table does where the setting does not go with the table.
[[nodiscard]] int table_members(const Table& table, const SchemaOptions& columns = {},
                                const ChosenSettings& settings = {});

struct TableFit {
  PreparedTable table;
  FitOptions options;   // of this fit
  FitOptions defaults;  // what they would be without settings
  Fit fit;              // if it was interrupted: as far as it came
};

// By one fit, or by several, as the setting `members` says; if it does not, by so many as
// default_table_members() says, but by one where the settings choose a method, a model or a proxy,
// or hold nothing out. The main model of several is a DensityMixture of their models and, unless
// the setting `simple` is false, of a Gaussian and of mixtures of Gaussians, weighed by rows that
// they have not seen; it has no proxy. With the setting `distill` it is one flow that has learned
// from draws of the mixture. Their method is maximum likelihood unless another is chosen.
//
// Throws as plan_fit and FitRun::check_unfinished do, and InputError for a checkpoint of another
// fit. If it was interrupted, fit.report.training.stop_reason says so, and the same call with
// run.resume goes on: the result is as if nothing had happened.
[[nodiscard]] TableFit fit_table(const Table& table, const SchemaOptions& columns = {},
                                 const ChosenSettings& settings = {}, const FitRun& run = {});
// A single fit.
[[nodiscard]] TableFit fit_table(FitPlan plan, const FitRun& run = {});

}  // namespace jeffreys

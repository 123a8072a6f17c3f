// From a table and a user's settings to a density with its report, in one call.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "jeffreys/fit/chosen_settings.h"
#include "jeffreys/fit/fit.h"

namespace jeffreys {

// How a fit, or several that belong together, are run. No finished result depends on it.
struct FitRun {
  std::size_t threads = 1;
  // What an interrupted run leaves to go on from: of one fit this file, of several this folder.
  // Empty: nothing is kept.
  std::filesystem::path checkpoint = {};
  std::filesystem::path folder = {};
  bool resume = false;  // go on from them
  // Makes what watches one of the fits; label: "fit", or "fit 3 of 11". May be empty, or give
  // nothing.
  std::function<std::unique_ptr<TrainObserver>(const std::string& label, const FitOptions& options,
                                               const PreparedTable& table)>
      observe = {};
  // Asked after every step and between the fits; true interrupts the run.
  std::function<bool()> should_stop = {};
  // Told in a sentence what happens beside the fits. May be empty.
  std::function<void(const std::string& sentence)> tell = {};

  // Throws InputError if there is something to go on from and `resume` does not say so.
  void check_unfinished() const;
  // For when the result is safe.
  void remove_unfinished() const;
};

// Trains as fit() of jeffreys/fit/fit.h does, run as `run` says, with the options' own checkpoint.
[[nodiscard]] Fit fit(const PreparedTable& table, const FitOptions& options, const FitRun& run,
                      const std::string& label);

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

// From a table to a density: schema, split, models, training, selection, and what can be said about
// the result.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "jeffreys/evaluate/held_out.h"
#include "jeffreys/fit/fit_options.h"
#include "jeffreys/fit/tabular_density.h"
#include "jeffreys/table/split.h"
#include "jeffreys/train/trainer.h"

namespace jeffreys {

// A table as the models will see it.
struct PreparedTable {
  Schema schema;
  EncodedRows training = {};
  EncodedRows validation = {};   // held out
  EncodedRows calibration = {};  // kept for p-values alone
  std::size_t dropped = 0;       // rows that are left out because of missing cells

  [[nodiscard]] std::size_t rows() const { return static_cast<std::size_t>(training.size()); }
};

// Fits the schema to the training rows and encodes all rows. Throws InputError for a table that no
// model can be fitted to.
[[nodiscard]] PreparedTable prepare(const Table& table, const FitOptions& options);
// The same with the caller's own split of usable_rows(table, options.schema).
[[nodiscard]] PreparedTable prepare(const Table& table, const FitOptions& options,
                                    const Split& split);
// The same with the caller's own schema, and a split of all rows that the schema encodes.
[[nodiscard]] PreparedTable prepare(const Table& table, Schema schema, const Split& split);

// How one model fits; in the user's units.
struct ModelReport {
  MeanNll training;
  MeanNll held_out;             // of no rows if nothing was held out
  PairedDifference over_gauss;  // gain over the Gaussian baseline on held-out (or training) rows
};

// A kind of density in the mixture that several fits make (DensityMixture), judged by rows that it
// has not seen.
struct BlendShare {
  std::string name;   // "flow", "whitened flow", "flow proxy", "Gaussian", "mixture"
  int densities = 1;  // of this kind, which share the weight evenly
  double weight = 0;  // in the mixture; 0: left out
  MeanNll held_out = {};
};

struct FitReport {
  TrainResult training;  // of several fits: iterations and seconds of all of them
  ModelReport main;
  std::optional<ModelReport> proxy;
  ModelReport gaussian;
  EnergyCheck energy;  // of an energy proxy, at held-out conditions where it has conditions
  From chosen = From::main;
  // If several fits were made into one (jeffreys/fit/member_fits.h): how many they were, and how
  // many of them held each row out.
  int members = 1;
  int held_out_by = 0;
  std::vector<BlendShare> blend = {};  // what the main model is a mixture of; empty: it is none
  // By how much a fit does better on the rows that stopped it than on others that it left out; it
  // is taken off the held-out NLLs.
  double optimism = 0;
  // If one flow learned what several fits say, and is the main model in their place: how much less
  // it finds of the mixture's own draws, in nats a row.
  std::optional<PairedDifference> distilled = {};
  double balance = kNotMeasured;   // mean over the last tenth of training
  double residual = kNotMeasured;  // largest distance of a KL multiplier from rest, likewise
  std::string verdict;             // one sentence
  std::vector<std::string> warnings;
};

struct Fit {
  TabularDensity<float> density;
  FitReport report;
};

// How a fit, or several that belong together, are run. No finished result depends on it.
struct FitRun {
  std::size_t threads = 1;
  // What an interrupted run leaves to go on from: of one fit this file, of several this folder.
  // Empty: nothing is kept.
  std::filesystem::path checkpoint = {};
  std::filesystem::path folder = {};
  bool resume = false;  // go on from them
  // Of several fits this one alone, from 0, for runs that share them out: it is left in `folder`,
  // and the run ends as one that was interrupted. With the files of all of them in one folder, a
  // run that resumes makes the density.
  std::optional<int> only_member = {};
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

// Trains on a prepared table. If run.resume says so, it goes on from options.train.checkpoint.path
// if there is such a file; the run's own paths do not count here. A fit that was interrupted has
// report.training.stop_reason = interrupted and can be resumed.
[[nodiscard]] Fit fit(const PreparedTable& table, const FitOptions& options, const FitRun& run = {},
                      const std::string& label = "fit");

// The same, but nobody judges the result: the report has its training alone, and the main model
// speaks.
[[nodiscard]] Fit train_fit(const PreparedTable& table, const FitOptions& options,
                            const FitRun& run = {}, const std::string& label = "fit");

// Log densities of rows that were held out by some fits, in the user's units, where others judge
// them than the main model and the Gaussian of the training rows; empty: these do. They are then
// those of all training rows, in their order, and table.validation does not count.
struct HeldOutLogProbs {
  Vector<double> main = {};
  Vector<double> gaussian = {};
};

// What can be said about a fit once it is done: NLLs against the baseline, diagnostics, warnings
// and a verdict.
void assess(const PreparedTable& all, const TabularDensity<float>& density, FitReport& report,
            const HeldOutLogProbs& held_out = {});

}  // namespace jeffreys

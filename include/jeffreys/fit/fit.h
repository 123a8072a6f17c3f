// From a table to a density: schema, split, models, training, selection, and what can be said about
// the result.
#pragma once

#include <filesystem>
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
  Matrix<double> x = {};  // [training rows, features]
  Matrix<double> context = {};
  Vector<double> log_jacobian = {};
  Matrix<double> validation_x = {};
  Matrix<double> validation_context = {};
  Vector<double> validation_log_jacobian = {};
  std::size_t dropped = 0;  // rows with missing cells

  [[nodiscard]] std::size_t rows() const { return static_cast<std::size_t>(x.rows()); }
};

// Fits the schema to the training rows and encodes all rows. Throws InputError for a table that no
// model can be fitted to.
[[nodiscard]] PreparedTable prepare(const Table& table, const FitOptions& options);
// The same with the caller's own split of complete_rows(table, options.schema).
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

struct FitReport {
  TrainResult training;
  ModelReport main;
  std::optional<ModelReport> proxy;
  ModelReport gaussian;
  EnergyCheck energy;  // of an energy proxy, at held-out conditions where it has conditions
  From chosen = From::main;
  // If several fits were made into one (jeffreys/sbi/committee_fit.h): how many they were, and how
  // many of them held each row out.
  int members = 1;
  int held_out_by = 0;
  double balance = kNotMeasured;   // mean over the last tenth of training
  double residual = kNotMeasured;  // largest distance of a KL multiplier from rest, likewise
  std::string verdict;             // one sentence
  std::vector<std::string> warnings;
};

struct Fit {
  TabularDensity<float> density;
  FitReport report;
};

// Trains on a prepared table. threads: at least 1; the result does not depend on it. resume: go on
// from options.train.checkpoint.path if there is such a file. A fit that was interrupted has
// report.training.stop_reason = interrupted and can be resumed.
[[nodiscard]] Fit fit(const PreparedTable& table, const FitOptions& options,
                      std::size_t threads = 1, bool resume = false,
                      TrainObserver* observer = nullptr);

}  // namespace jeffreys

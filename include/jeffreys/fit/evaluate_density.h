// How well a density fits rows that it has not seen, and how its two models agree.
#pragma once

#include <optional>
#include <string>

#include "jeffreys/evaluate/held_out.h"
#include "jeffreys/fit/tabular_density.h"
#include "jeffreys/objective/importance.h"

namespace jeffreys {

struct DensityEvaluation {
  // KL(main || proxy), and how even the weights of the same samples are.
  struct Reverse {
    PairedDifference kl;
    ImportanceEstimate importance;
    Eigen::Index samples = 0;  // of the main model
  };

  MeanNll main = {};  // in the user's units
  std::optional<MeanNll> proxy = {};
  std::size_t dropped = 0;              // rows that were left out because of missing values
  std::size_t with_gaps = 0;            // rows that were judged by the cells which they have
  std::string weights = {};             // the column that says how much each row counts, if any
  std::optional<Reverse> reverse = {};  // of a density with a proxy and without conditions
  EnergyCheck energy = {};              // of an energy proxy, at the table's conditions
};

// Throws InputError for a table that the density's schema cannot read. weights: the column that
// says how much each row counts; empty: that of the fit, if there was one and the table has it. The
// same arguments give the same result.
[[nodiscard]] DensityEvaluation evaluate_density(const TabularDensity<float>& density,
                                                 const Table& table,
                                                 const std::string& weights = {});

}  // namespace jeffreys

// What fresh samples say about an energy proxy: its normaliser zeta, how far the estimate of zeta
// can be trusted, and whether the proxy has mass where the main model draws no samples.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "jeffreys/model/density.h"

namespace jeffreys {

// One entry for each condition, or one in all without conditions. zeta is estimated from samples of
// the main model and as many with wider tails (jeffreys/model/defensive_samples.h).
struct EnergyNormalizer {
  Vector<double> log_zeta;
  Vector<double> log_zeta_half;          // from half the samples; lower if they are too few
  Vector<double> effective_sample_size;  // of the main model's samples alone, as a share
  Vector<double> pareto_k;               // of all samples' weights; above 0.7: do not trust zeta
  Vector<double> unseen;                 // share of the mass that the main model's samples miss
};

// samples: for each condition, an even number.
template <typename T>
[[nodiscard]] EnergyNormalizer normalize_energy(const Density<T>& main,
                                                const UnnormalizedDensity<T>& proxy,
                                                const MatrixView<T>& context, Eigen::Index samples,
                                                std::uint64_t seed);

// The same in a few numbers.
struct EnergyCheck {
  Eigen::Index conditions = 0;  // how many were looked at; 0: nothing was
  Eigen::Index samples = 0;     // for each of them
  double log_zeta = 0;          // mean over the conditions, and their range
  double log_zeta_lowest = 0;
  double log_zeta_highest = 0;
  double log_zeta_half = 0;  // mean, from half as many samples
  double effective_sample_size = 1;
  double pareto_k = 0;  // the value below which nine of ten conditions lie
  double unseen = 0;    // mean share of the mass that the main model's samples miss

  // Whether densities and samples of the proxy can be used.
  [[nodiscard]] bool usable() const;
  // What a user should know about them, a sentence each.
  [[nodiscard]] std::vector<std::string> warnings() const;
};
[[nodiscard]] EnergyCheck summarize(const EnergyNormalizer& normalizer, Eigen::Index samples);

}  // namespace jeffreys

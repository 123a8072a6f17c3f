// Corrects how much probability a posterior has at which of its densities.
//
// The place of a true parameter is the share of the posterior's draws that have a higher density.
// Places of new pairs are uniform exactly if regions of highest density hold what they promise. If
// they have the density r, so has the truth: draws that are kept in proportion to r of their place
// have uniform places in turn (as long as r does not change the order of densities).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace jeffreys {

class RankCorrection {
 public:
  // From the places of true parameters in [0, 1].
  explicit RankCorrection(std::span<const double> places);

  // For a mixture of `members`, from places of the same pairs under one of them and under mixtures
  // of `together`. What mixing does to the places goes with the variance that it takes away, which
  // is 1 - 1/n of it for n members: so the two are extrapolated.
  static RankCorrection for_mixture(std::span<const double> alone, std::span<const double> mixed,
                                    int together, int members);

  // r, with mean 1 over [0, 1].
  [[nodiscard]] double density(double place) const;

 private:
  struct Cells {
    std::vector<double> density;  // in cells of equal width
  };
  explicit RankCorrection(const Cells& raw);

  Cells cells_;
};

}  // namespace jeffreys

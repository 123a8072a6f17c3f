#include "jeffreys/evaluate/expected_coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "evaluate/significance.h"
#include "jeffreys/evaluate/uniformity.h"

namespace jeffreys {
namespace {

// A region of credibility k / (samples + 1) holds the truths of ranks below k; between two such
// credibilities the share of simulations is interpolated.
class CoverageCurve {
 public:
  CoverageCurve(std::span<const int> ranks, int samples)
      : within_(static_cast<std::size_t>(samples) + 2, 0.0) {
    for (const int rank : ranks) within_[static_cast<std::size_t>(rank) + 1] += 1;
    double sum = 0;
    for (double& share : within_) {
      sum += share;
      share = sum / static_cast<double>(ranks.size());
    }
  }

  double at(double credibility) const {
    const double place = credibility * static_cast<double>(within_.size() - 1);
    const auto low = std::min(static_cast<std::size_t>(place), within_.size() - 2);
    const double part = place - static_cast<double>(low);
    return within_[low] + part * (within_[low + 1] - within_[low]);
  }

 private:
  std::vector<double> within_;  // share of ranks below 0, 1, ..., samples + 1
};

Calibration sign_of(double standard_errors) {
  return standard_errors > 0 ? Calibration::over_confident : Calibration::under_confident;
}

ExpectedCoverage coverage_of(std::span<const int> ranks, const PosteriorRanks& all,
                             double significance, const UniformityTest& test) {
  constexpr int kSteps = 100;
  const CoverageCurve curve(ranks, all.samples);
  ExpectedCoverage result{.band = kolmogorov_smirnov_distance(significance, ranks.size()),
                          .distance = test.distance,
                          .p_value = test.distance_p_value};
  for (int i = 0; i <= kSteps; ++i) {
    result.credibility.push_back(static_cast<double>(i) / kSteps);
    result.coverage.push_back(curve.at(result.credibility.back()));
  }
  const auto n = static_cast<double>(ranks.size());
  for (const double level : {0.5, 0.68, 0.9, 0.95}) {
    const double coverage = curve.at(level);
    const double centred = (n * coverage + 2) / (n + 4);
    result.levels.push_back({level, coverage, std::sqrt(centred * (1 - centred) / (n + 4))});
  }
  return result;
}

// An explanation follows the kind: what the diagnostic cannot tell apart.
void conclude(ExpectedCoverage& result, std::size_t simulations, const std::string& explanation) {
  const ExpectedCoverage::Level& level = result.levels[2];
  result.verdict = fmt::format(
      "{}{} with {} simulations (p = {:.2g}): regions of {:g} % hold the truth in {:.1f} +- {:.1f} "
      "% of them",
      to_string(result.calibration), explanation, simulations, result.p_value,
      100 * level.credibility, 100 * level.coverage, 100 * level.standard_error);
}

}  // namespace

ExpectedCoverage highest_density_coverage(const PosteriorRanks& ranks, double significance) {
  check_significance(significance);
  const UniformityTest test = uniformity_test(ranks.density, ranks.samples, ranks.seed);
  ExpectedCoverage result = coverage_of(ranks.density, ranks, significance, test);
  if (result.p_value < significance) {
    // Coverage above and below the credibility at different levels may cancel in the mean.
    constexpr double kClear = 2.5;  // standard errors
    result.calibration =
        std::abs(test.location) < kClear ? Calibration::uneven : sign_of(test.location);
  }
  const bool over = result.calibration == Calibration::over_confident;
  conclude(result, ranks.density.size(), over ? " (too narrow or in the wrong place)" : "");
  return result;
}

// A truth that is more widely spread than the samples is at times nearer to the point than all of
// them and at times, in several dimensions mostly, further away: the ranks avoid the middle or lean
// upwards. A truth that is less spread does the opposite.
ExpectedCoverage reference_point_coverage(const PosteriorRanks& ranks, double significance) {
  check_significance(significance);
  const UniformityTest test = uniformity_test(ranks.distance, ranks.samples, ranks.seed);
  ExpectedCoverage result = coverage_of(ranks.distance, ranks, significance, test);
  if (result.p_value < significance) {
    const bool leans = std::abs(test.location) > std::abs(test.spread);
    result.calibration = sign_of(leans ? test.location : test.spread);
  }
  const bool over = result.calibration == Calibration::over_confident;
  conclude(result, ranks.distance.size(), over ? " (too narrow or in the wrong place)" : "");
  return result;
}

}  // namespace jeffreys

#include "jeffreys/evaluate/rank_calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "base/checks.h"
#include "evaluate/significance.h"

namespace jeffreys {
namespace {

// Ranks that lean to one side also avoid the middle, but by fewer standard errors.
Calibration shape_of(const UniformityTest& test) {
  constexpr double kClear = 2.5;  // standard errors
  if (std::max(std::abs(test.location), std::abs(test.spread)) < kClear) return Calibration::uneven;
  if (std::abs(test.location) >= std::abs(test.spread)) return Calibration::biased;
  return test.spread > 0 ? Calibration::over_confident : Calibration::under_confident;
}

std::string description(const RankCalibration::Parameter& parameter) {
  const bool biased = parameter.calibration == Calibration::biased;
  // High ranks: the truth lies above the samples.
  const char* side = !biased ? "" : parameter.test.location > 0 ? ", too low" : ", too high";
  return fmt::format("{} (p = {:.2g}{})", parameter.name, parameter.p_value, side);
}

// "over-confident in a (p = 0.001), b (p = 0.002); biased in c (p = 0.0003, too low) with ..."
std::string verdict_of(const RankCalibration& result, Eigen::Index simulations) {
  std::string text;
  for (const Calibration kind : {Calibration::over_confident, Calibration::under_confident,
                                 Calibration::biased, Calibration::uneven}) {
    std::string listed;
    for (const RankCalibration::Parameter& parameter : result.parameters) {
      if (parameter.calibration != kind) continue;
      listed += (listed.empty() ? "" : ", ") + description(parameter);
    }
    if (listed.empty()) continue;
    text += fmt::format("{}{} in {}", text.empty() ? "" : "; ", to_string(kind), listed);
  }
  if (text.empty()) text = to_string(Calibration::no_sign);
  const std::string correction =
      result.parameters.size() > 1 ? ", p-values after Holm's correction" : "";
  return fmt::format("{} with {} simulations (smallest p = {:.2g}{})", text, simulations,
                     result.p_value, correction);
}

}  // namespace

std::string to_string(Calibration calibration) {
  switch (calibration) {
    case Calibration::no_sign: return "no sign of miscalibration";
    case Calibration::over_confident: return "over-confident";
    case Calibration::under_confident: return "under-confident";
    case Calibration::biased: return "biased";
    case Calibration::uneven: return "unevenly calibrated";
  }
  throw std::invalid_argument(
      fmt::format("calibration: expected a known one, got {}", static_cast<int>(calibration)));
}

RankCalibration rank_calibration(const PosteriorRanks& ranks, const std::vector<std::string>& names,
                                 double significance) {
  check_size("names", static_cast<std::int64_t>(names.size()), ranks.parameter.cols());
  check_at_least("names", static_cast<std::int64_t>(names.size()), 1);
  check_significance(significance);
  RankCalibration result;
  std::vector<double> p_values;
  for (Eigen::Index c = 0; c < ranks.parameter.cols(); ++c) {
    std::vector<int> column(static_cast<std::size_t>(ranks.parameter.rows()));
    Eigen::Map<Vector<int>>(column.data(), ranks.parameter.rows()) = ranks.parameter.col(c);
    result.parameters.push_back({.name = names[static_cast<std::size_t>(c)],
                                 .test = uniformity_test(column, ranks.samples, ranks.seed)});
    p_values.push_back(result.parameters.back().test.p_value);
  }
  const std::vector<double> corrected = holm_correction(p_values);
  for (std::size_t c = 0; c < names.size(); ++c) {
    RankCalibration::Parameter& parameter = result.parameters[c];
    parameter.p_value = corrected[c];
    if (corrected[c] < significance) parameter.calibration = shape_of(parameter.test);
  }
  result.p_value = *std::min_element(corrected.begin(), corrected.end());
  result.verdict = verdict_of(result, ranks.parameter.rows());
  return result;
}

}  // namespace jeffreys

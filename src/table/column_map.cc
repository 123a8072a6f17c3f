#include "table/column_map.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "jeffreys/base/random_purpose.h"
#include "kernels/random.h"

namespace jeffreys {
namespace {

constexpr double kOutermostGuess = 1e-4;  // as a probability of the prior

// Uniform numbers by row of the table, made in blocks.
class RowUniforms {
 public:
  RowUniforms(std::uint64_t seed, std::size_t place)
      : key_{.seed = seed, .purpose = kDequantizePurpose, .iteration = place} {}

  double at(std::size_t row) {
    const std::size_t block = row / kRows;
    if (block != block_) {
      kernels::fill_uniforms(kernels::RandomArguments<double>{.key = key_,
                                                              .first_row = block * kRows,
                                                              .rows = kRows,
                                                              .columns = 1,
                                                              .output = numbers_.data()});
      block_ = block;
    }
    return numbers_[row % kRows];
  }

 private:
  static constexpr std::size_t kRows = 1024;
  kernels::RandomKey key_;
  std::size_t block_ = static_cast<std::size_t>(-1);
  std::array<double, kRows> numbers_{};
};

// A value that noise carried over an end, as in files of earlier versions, comes back by as much;
// one exactly at an end is nudged.
double keep_inside(const ColumnInfo& info, double value) {
  const auto [lower, upper] = info.reach;
  if (value < lower) value = lower + (lower - value);
  if (value > upper) value = upper - (value - upper);
  if (value <= lower) value = lower + info.nudge;
  if (value >= upper) value = upper - info.nudge;
  return value;
}

struct Unbounded {
  double value;
  double log_slope;
};

Unbounded remove_bounds(const Bounds& bounds, double value) {
  const bool below = std::isfinite(bounds.lower);
  const bool above = std::isfinite(bounds.upper);
  if (!below && !above) return {value, 0};
  const double from_lower = below ? std::log(value - bounds.lower) : 0;
  const double from_upper = above ? std::log(bounds.upper - value) : 0;
  const double log_width = below && above ? std::log(bounds.upper - bounds.lower) : 0;
  return {from_lower - from_upper, log_width - from_lower - from_upper};
}

double restore_bounds(const Bounds& bounds, double value) {
  const bool below = std::isfinite(bounds.lower);
  const bool above = std::isfinite(bounds.upper);
  double result = value;
  if (below && above) {
    const double width = bounds.upper - bounds.lower;
    // From the nearer end, so that values near either keep their precision.
    result = value < 0 ? bounds.lower + width / (1 + std::exp(-value))
                       : bounds.upper - width / (1 + std::exp(value));
  } else if (below) {
    result = bounds.lower + std::exp(value);
  } else if (above) {
    result = bounds.upper - std::exp(-value);
  }
  constexpr double kLargest = std::numeric_limits<double>::max();
  return std::clamp(result, std::max(bounds.lower, -kLargest), std::min(bounds.upper, kLargest));
}

// A value exactly at an end has an infinite score: it counts as the outermost of 2^32 equally
// likely values, which is the outermost that a prior draws too.
double keep_inside(const Distribution& distribution, double value) {
  constexpr double kOutermost = 0x1p-33;
  const auto [lower, upper] = distribution.support();
  if (value <= lower) return distribution.quantile(kOutermost);
  return value >= upper ? distribution.quantile(1 - kOutermost) : value;
}

bool by_score(const ColumnInfo& info) {
  return info.distribution && info.distribution->kind == DistributionKind::log_normal;
}

Origin origin_at(const ColumnInfo& info, const FeatureCells& cells, Eigen::Index row) {
  return info.regression.empty() ? Origin{} : origin_of(info, cells.context.row(row));
}

void encode_score(const ColumnInfo& info, const FeatureCells& cells, Eigen::Index feature,
                  Matrix<double>& x, Vector<double>& log_jacobian) {
  const double log_scale = std::log(info.scale);
  for (std::size_t i = 0; i < cells.rows.size(); ++i) {
    const auto r = static_cast<Eigen::Index>(i);
    const double value = keep_inside(*info.distribution, cells.values[cells.rows[i]]);
    const Origin origin = origin_at(info, cells, r);
    const double place = (info.distribution->normal_score(value) - origin.zero) / origin.unit;
    x(r, feature) = (place - info.mean) / info.scale;
    log_jacobian[r] +=
        info.distribution->log_score_slope(value) - std::log(origin.unit) - log_scale;
  }
}

}  // namespace

void encode_feature(const ColumnInfo& info, const FeatureCells& cells, Eigen::Index feature,
                    Matrix<double>& x, Vector<double>& log_jacobian) {
  if (by_score(info)) return encode_score(info, cells, feature, x, log_jacobian);
  RowUniforms uniforms(cells.seed, cells.place);
  const bool bounded = info.bounds != Bounds{};
  const double centre = info.kind == ColumnKind::categorical ? 0.0 : 0.5;
  const double log_scale = std::log(info.scale);
  for (std::size_t i = 0; i < cells.rows.size(); ++i) {
    const auto r = static_cast<Eigen::Index>(i);
    double value = cells.values[cells.rows[i]];
    if (info.noise > 0) value += info.noise * (uniforms.at(cells.rows[i]) - centre);
    log_jacobian[r] -= log_scale;
    if (bounded) {
      const Unbounded free = remove_bounds(info.reach, keep_inside(info, value));
      value = free.value;
      log_jacobian[r] += free.log_slope;
    }
    x(r, feature) = (value - origin_at(info, cells, r).zero - info.mean) / info.scale;
  }
}

// A guess far beyond an end would be folded to the other: it goes one deviation too far at most.
// Among scores it stays as much away from an end: nearer to it the slope would make a unit of what
// is only a small part of the deviation.
Origin origin_of(const ColumnInfo& info, const Eigen::Ref<const Eigen::RowVectorXd>& context) {
  double guess = info.regression.back();
  for (Eigen::Index j = 0; j < context.size(); ++j) {
    guess += info.regression[static_cast<std::size_t>(j)] * context(j);
  }
  if (!info.distribution) return {.zero = guess};
  const auto [lower, upper] = info.distribution->support();
  const double deviation = info.regression_deviation;
  if (!by_score(info)) return {.zero = std::clamp(guess, lower - deviation, upper + deviation)};
  const double least = std::max(lower + deviation, info.distribution->quantile(kOutermostGuess));
  const double most = std::min(upper - deviation, info.distribution->quantile(1 - kOutermostGuess));
  guess = least < most ? std::clamp(guess, least, most) : info.distribution->quantile(0.5);
  return {.zero = info.distribution->normal_score(guess),
          .unit = std::exp(info.distribution->log_score_slope(guess))};
}

std::optional<Fold> fold_of(const ColumnInfo& info) {
  if (!info.distribution || by_score(info)) return std::nullopt;
  return Fold(info.distribution->support());
}

double FeatureDecoder::operator()(double z, const Origin& origin) const {
  if (std::isnan(z)) return z;
  const double free = (z * info_.scale + info_.mean) * origin.unit + origin.zero;
  if (fold_) return fold_->inside(free);
  if (info_.distribution) return info_.distribution->from_normal_score(free);
  const double value = restore_bounds(info_.reach, free);
  if (info_.kind == ColumnKind::categorical) {
    return std::clamp(std::floor(value), 0.0, static_cast<double>(info_.labels.size() - 1));
  }
  double rounded = round_(value);
  if (rounded < info_.bounds.lower) rounded = round_(rounded + info_.resolution);
  if (rounded > info_.bounds.upper) rounded = round_(rounded - info_.resolution);
  return std::clamp(rounded, info_.bounds.lower, info_.bounds.upper);
}

}  // namespace jeffreys

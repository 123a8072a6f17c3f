#include "table/column_map.h"

#include <algorithm>
#include <cmath>

#include "base/normal_tail.h"

namespace jeffreys {
namespace {

constexpr double kOutermostGuess = 1e-4;  // as a probability of the prior

// One exactly at an end is nudged.
double keep_inside(const ColumnInfo& info, double value) {
  const auto [lower, upper] = info.reach;
  if (value <= lower) value = lower + info.nudge;
  if (value >= upper) value = upper - info.nudge;
  return value;
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

}  // namespace

bool is_category(const ColumnInfo& info) {
  return info.kind == ColumnKind::categorical && info.noise == 0;
}

std::size_t class_count(const ColumnInfo& info) {
  if (is_category(info)) return info.labels.size();
  return info.atoms.empty() ? 0 : info.atoms.size() + 1;
}

double class_of(const ColumnInfo& info, double value) {
  if (is_category(info)) return value;
  const auto found = std::find(info.atoms.begin(), info.atoms.end(), value);
  return found == info.atoms.end() ? 0 : static_cast<double>(found - info.atoms.begin() + 1);
}

bool is_open(const ColumnInfo& info) { return info.noise > 0 || !info.atoms.empty(); }

FeatureEncoder::FeatureEncoder(const ColumnInfo& info)
    : info_(info),
      by_score_(by_score(info)),
      bounded_(info.bounds != Bounds{}),
      bounds_(info.reach, info.shape),
      centre_(info.kind == ColumnKind::categorical ? 0.0 : 0.5),
      log_scale_(std::log(info.scale)) {}

FeatureEncoder::Encoded FeatureEncoder::score(double value, const Origin& origin) const {
  const double inside = keep_inside(*info_.distribution, value);
  const double place = (info_.distribution->normal_score(inside) - origin.zero) / origin.unit;
  return {(place - info_.mean) / info_.scale,
          info_.distribution->log_score_slope(inside) - std::log(origin.unit) - log_scale_};
}

FeatureEncoder::Encoded FeatureEncoder::operator()(double value, double place,
                                                   const Origin& origin) const {
  if (by_score_) return score(value, origin);
  if (class_of(info_, value) > 0) {
    const double number = place < 0.5 ? -upper_tail_quantile(std::log(place))
                                      : upper_tail_quantile(std::log1p(-place));
    return {number, -log_normal_density(number)};
  }
  double log_slope = -log_scale_;
  if (info_.noise > 0) {
    // In files of earlier versions a cell may reach over a bound: what is beyond is no part of it.
    const double first = value - centre_ * info_.noise;
    const double begin = std::max(first, info_.reach.lower);
    const double end = std::min(first + info_.noise, info_.reach.upper);
    value = begin + place * (end - begin);
    if (end - begin < info_.noise) log_slope += std::log((end - begin) / info_.noise);
  }
  if (bounded_) {
    const BoundMap::Score free = bounds_.score(keep_inside(info_, value));
    value = free.value;
    log_slope += free.log_slope;
  }
  return {(value - origin.zero - info_.mean) / info_.scale, log_slope};
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
  const double value = info_.bounds != Bounds{} ? bounds_.value(free) : free;
  if (info_.kind == ColumnKind::categorical) {
    return std::clamp(std::floor(value), 0.0, static_cast<double>(info_.labels.size() - 1));
  }
  double rounded = info_.resolution > 0 ? round_(value) : info_.notation.round(value);
  if (rounded < info_.bounds.lower) rounded = round_(rounded + info_.resolution);
  if (rounded > info_.bounds.upper) rounded = round_(rounded - info_.resolution);
  return std::clamp(rounded, info_.bounds.lower, info_.bounds.upper);
}

}  // namespace jeffreys

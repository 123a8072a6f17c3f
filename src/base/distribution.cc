#include "jeffreys/base/distribution.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "base/checks.h"
#include "base/normal_tail.h"

namespace jeffreys {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Less than this beside the values themselves leaves a few digits at most.
constexpr double kLeastShare = 1e-12;
// Further out, logarithms of probabilities lose digits, and nobody means it.
constexpr double kMostDeviations = 100;
// Draws from 32-bit uniform numbers stay within.
constexpr double kDrawnDeviations = 6.5;

// The probability below a value or above it, whichever is smaller.
struct Tail {
  bool upper;
  double log_probability;
};

// The truncated normal distribution that a normal one is, and a log_normal one on the scale of
// logarithms. Distances are in deviations, and taken from the nearest end: near an end, the
// difference of two large numbers would have no digits.
class TruncatedNormal {
 public:
  explicit TruncatedNormal(const Distribution& distribution)
      : mean_(distribution.mean),
        deviation_(distribution.deviation),
        ends_(distribution.support()),
        logarithmic_(distribution.kind == DistributionKind::log_normal),
        begin_(from_mean(ends_.lower)),
        end_(from_mean(ends_.upper)) {}

  bool whole() const { return std::isinf(begin_) && std::isinf(end_); }
  double begin() const { return begin_; }
  double end() const { return end_; }

  double from_mean(double value) const {
    return ((logarithmic_ ? std::log(value) : value) - mean_) / deviation_;
  }

  double log_mass() const {
    if (whole()) return 0;
    if (std::isinf(begin_)) return log_upper_tail(-end_);
    if (std::isinf(end_)) return log_upper_tail(begin_);
    return log_mass_between(begin_, distance(ends_.lower, ends_.upper));
  }

  Tail tail_of(double value) const {
    const double log_total = log_mass();
    const double below = std::isinf(begin_)
                             ? log_upper_tail(-from_mean(value))
                             : log_mass_between(begin_, distance(ends_.lower, value));
    if (below - log_total < -std::numbers::ln2) return {false, below - log_total};
    const double above = std::isinf(end_) ? log_upper_tail(from_mean(value))
                                          : log_mass_between(-end_, distance(value, ends_.upper));
    return {true, above - log_total};
  }

  double value_at(const Tail& tail) const {
    const double log_probability = tail.log_probability + log_mass();
    const double sign = tail.upper ? -1 : 1;
    const double near = tail.upper ? -end_ : begin_;
    if (std::isinf(near)) {
      const double value = mean_ + sign * deviation_ * lower_quantile(log_probability);
      return logarithmic_ ? std::exp(value) : value;
    }
    const double end = tail.upper ? ends_.upper : ends_.lower;
    const double step = sign * deviation_ * width_of_mass(near, log_probability);
    return end + (logarithmic_ ? end * std::expm1(step) : step);
  }

 private:
  double distance(double lower, double upper) const {
    if (!logarithmic_) return (upper - lower) / deviation_;
    const double excess = (upper - lower) / lower;
    return (excess < 1 ? std::log1p(excess) : std::log(upper) - std::log(lower)) / deviation_;
  }

  static double lower_quantile(double log_probability) {
    return log_probability < -std::numbers::ln2
               ? -upper_tail_quantile(log_probability)
               : upper_tail_quantile(std::log(-std::expm1(log_probability)));
  }

  double mean_;
  double deviation_;
  Bounds ends_;
  bool logarithmic_;
  double begin_;
  double end_;
};

Tail uniform_tail(const Bounds& bounds, double value) {
  const double width = bounds.upper - bounds.lower;
  const double below = (value - bounds.lower) / width;
  return below < 0.5 ? Tail{false, std::log(below)}
                     : Tail{true, std::log((bounds.upper - value) / width)};
}

double value_at(const Distribution& distribution, const Tail& tail) {
  const auto [lower, upper] = distribution.support();
  double value = 0;
  if (distribution.kind == DistributionKind::uniform) {
    const double step = (upper - lower) * std::exp(tail.log_probability);
    value = tail.upper ? upper - step : lower + step;
  } else {
    value = TruncatedNormal(distribution).value_at(tail);
  }
  return std::clamp(value, std::nextafter(lower, upper), std::nextafter(upper, lower));
}

[[noreturn]] void refuse(const char* member, const std::string& expected, double got) {
  throw std::invalid_argument(fmt::format("{}: expected {}, got {}", member, expected, got));
}

void require_bounds(const Bounds& bounds, bool both) {
  const auto require_finite = [](const char* member, double bound) {
    if (!(std::abs(bound) <= kLargestValue)) {
      refuse(member, fmt::format("a number within {} and {}", -kLargestValue, kLargestValue),
             bound);
    }
  };
  if (both || bounds.lower != -kInfinity) require_finite("lower", bounds.lower);
  if (both || bounds.upper != kInfinity) require_finite("upper", bounds.upper);
  if (!(bounds.lower < bounds.upper)) {
    refuse("lower", fmt::format("a number below upper, {}", bounds.upper), bounds.lower);
  }
  const double width = bounds.upper - bounds.lower;
  const double size = std::max(std::abs(bounds.lower), std::abs(bounds.upper));
  if (std::isfinite(width) && !(width >= std::max(kLeastShare * size, 1 / kLargestValue))) {
    refuse("lower", fmt::format("more room below upper, {}", bounds.upper), bounds.lower);
  }
}

void require_moments(const Distribution& distribution) {
  const auto [kind, mean, deviation, bounds] = distribution;
  if (!std::isfinite(mean)) refuse("mean", "a finite number", mean);
  if (!(deviation > 0 && std::isfinite(deviation))) {
    refuse("deviation", "a positive number", deviation);
  }
  const bool logarithmic = kind == DistributionKind::log_normal;
  const double size = logarithmic ? std::max(std::abs(mean), 1.0) : std::abs(mean);
  if (deviation < std::max(kLeastShare * size, 1 / kLargestValue)) {
    refuse("deviation", fmt::format("more beside the mean, {}", mean), deviation);
  }
  const double largest = logarithmic ? std::log(kLargestValue) : kLargestValue;
  if (!(std::abs(mean) <= largest)) refuse("mean", "draws of up to 1e150", mean);
  if (!(std::abs(mean) + kDrawnDeviations * deviation <= largest)) {
    refuse("deviation", "draws of up to 1e150", deviation);
  }
}

}  // namespace

Distribution Distribution::uniform(double lower, double upper) {
  return {.kind = DistributionKind::uniform, .bounds = {lower, upper}};
}

Distribution Distribution::normal(double mean, double deviation, Bounds truncation) {
  return {DistributionKind::normal, mean, deviation, truncation};
}

Distribution Distribution::log_normal(double mean, double deviation, Bounds truncation) {
  return {DistributionKind::log_normal, mean, deviation, truncation};
}

void Distribution::validate() const {
  require_bounds(bounds, kind == DistributionKind::uniform);
  if (kind == DistributionKind::uniform) {
    if (mean != 0) refuse("mean", "0 for uniform, which has none", mean);
    if (deviation != 1) refuse("deviation", "1 for uniform, which has none", deviation);
    return;
  }
  require_moments(*this);
  if (kind == DistributionKind::log_normal) {
    if (std::isfinite(bounds.lower) && bounds.lower < 0) {
      refuse("lower", "0 or more for log_normal", bounds.lower);
    }
    if (bounds.upper <= 0) refuse("upper", "a number above 0 for log_normal", bounds.upper);
  }
  const TruncatedNormal normal(*this);
  if (normal.begin() > kMostDeviations) {
    refuse("lower", fmt::format("at most {} deviations above the mean", kMostDeviations),
           bounds.lower);
  }
  if (normal.end() < -kMostDeviations) {
    refuse("upper", fmt::format("at most {} deviations below the mean", kMostDeviations),
           bounds.upper);
  }
}

Bounds Distribution::support() const {
  const bool positive = kind == DistributionKind::log_normal;
  return {positive ? std::max(bounds.lower, 0.0) : bounds.lower, bounds.upper};
}

bool Distribution::contains(double value) const {
  const auto [lower, upper] = support();
  const bool positive = kind == DistributionKind::log_normal;
  return std::isfinite(value) && value >= lower && value <= upper && !(positive && value <= 0);
}

double Distribution::log_prob(double value) const {
  if (std::isnan(value)) return value;
  if (!contains(value)) return -kInfinity;
  if (kind == DistributionKind::uniform) return -std::log(bounds.upper - bounds.lower);
  const TruncatedNormal normal(*this);
  return log_normal_density(normal.from_mean(value)) - std::log(deviation) - normal.log_mass() -
         (kind == DistributionKind::log_normal ? std::log(value) : 0);
}

double Distribution::quantile(double probability) const {
  if (!(probability > 0 && probability < 1)) {
    refuse("probability", "a number between 0 and 1", probability);
  }
  return value_at(*this, probability < 0.5 ? Tail{false, std::log(probability)}
                                           : Tail{true, std::log1p(-probability)});
}

double Distribution::normal_score(double value) const {
  if (std::isnan(value)) return value;
  const auto [lower, upper] = support();
  if (value <= lower) return -kInfinity;
  if (value >= upper) return kInfinity;
  Tail tail{};
  if (kind == DistributionKind::uniform) {
    tail = uniform_tail(bounds, value);
  } else {
    const TruncatedNormal normal(*this);
    if (normal.whole()) return normal.from_mean(value);
    tail = normal.tail_of(value);
  }
  const double distance = upper_tail_quantile(tail.log_probability);
  return tail.upper ? distance : -distance;
}

double Distribution::from_normal_score(double score) const {
  if (std::isnan(score)) return score;
  if (kind != DistributionKind::uniform && TruncatedNormal(*this).whole()) {
    const auto [lower, upper] = support();
    const double value = mean + deviation * score;
    return std::clamp(kind == DistributionKind::log_normal ? std::exp(value) : value,
                      std::nextafter(lower, upper), std::nextafter(upper, lower));
  }
  return value_at(*this, {score > 0, log_upper_tail(std::abs(score))});
}

double Distribution::log_score_slope(double value) const {
  if (kind != DistributionKind::uniform && TruncatedNormal(*this).whole()) {
    return -std::log(deviation) - (kind == DistributionKind::log_normal ? std::log(value) : 0);
  }
  return log_prob(value) - log_normal_density(normal_score(value));
}

}  // namespace jeffreys

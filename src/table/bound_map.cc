#include "table/bound_map.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "base/normal_tail.h"

namespace jeffreys {
namespace {

// Below this share of the tail's exponent it is that of an exponential.
constexpr double kNoTail = 1e-8;
const double kLogHalf = std::log(0.5);

// A point of a distribution: logarithms of S, of F = 1 - S, and of the density.
struct Point {
  double log_above;
  double log_below;
  double log_density;
};

double log_one_minus_exp(double log_value) {
  return log_value > kLogHalf ? std::log(-std::expm1(log_value)) : std::log1p(-std::exp(log_value));
}

Point point_at_distance(const BoundShape& shape, double distance) {
  const double log_ratio = std::log(distance / shape.scale);
  const double y = std::exp(shape.power * log_ratio);
  const double decay = shape.tail > kNoTail ? std::log1p(shape.tail * y) / shape.tail : y;
  return {-decay, log_one_minus_exp(-decay),
          std::log(shape.power / shape.scale) + (shape.power - 1) * log_ratio -
              (1 + shape.tail) * decay};
}

double distance_at(const BoundShape& shape, double log_above) {
  const double y =
      shape.tail > kNoTail ? std::expm1(-shape.tail * log_above) / shape.tail : -log_above;
  return shape.scale * std::pow(y, 1 / shape.power);
}

// u and 1 - u are both given, so that neither end loses digits.
Point point_between(const BoundShape& shape, double u, double rest) {
  const double log_u = rest < 0.5 ? std::log1p(-rest) : std::log(u);
  const double log_power_rest = log_one_minus_exp(shape.power * log_u);
  const double log_above = shape.tail * log_power_rest;
  return {log_above, log_one_minus_exp(log_above),
          std::log(shape.power * shape.tail) + (shape.power - 1) * log_u +
              (shape.tail - 1) * log_power_rest};
}

double score_of(const Point& point) {
  return point.log_above < kLogHalf ? upper_tail_quantile(point.log_above)
                                    : -upper_tail_quantile(point.log_below);
}

// log S of a score, with all its digits where S is close to 1 too.
double log_above(double score) {
  return score < 0 ? std::log1p(-std::exp(log_upper_tail(-score))) : log_upper_tail(score);
}

double plain_score(const Bounds& reach, double value, bool below, bool above) {
  return (below ? std::log(value - reach.lower) : 0) - (above ? std::log(reach.upper - value) : 0);
}

// Logarithm of (posterior of the shape) per value, for the search below.
class Likelihood {
 public:
  Likelihood(const Bounds& reach, std::span<const double> values) : reach_(reach) {
    two_ = std::isfinite(reach.lower) && std::isfinite(reach.upper);
    std::vector<double> sorted(values.begin(), values.end());
    std::sort(sorted.begin(), sorted.end());
    // Of many values evenly spaced quantiles say as much.
    constexpr std::size_t kMost = 2000;
    const std::size_t used = std::min(kMost, sorted.size());
    for (std::size_t i = 0; i < used; ++i) values_.push_back(sorted[i * sorted.size() / used]);
    count_ = static_cast<double>(sorted.size());
  }

  // Where the search begins: an exponential or uniform distribution.
  [[nodiscard]] BoundShape start() const {
    double sum = 0;
    for (const double value : values_) sum += distance(value);
    return {.power = 1, .tail = two_ ? 1.0 : 0.1, .scale = two_ ? 1 : sum / size()};
  }

  [[nodiscard]] double operator()(const BoundShape& shape) const {
    double sum = 0;
    for (const double value : values_) {
      sum += two_ ? between(shape, value).log_density
                  : point_at_distance(shape, distance(value)).log_density;
    }
    const double log_power = std::log(shape.power);
    const double tail = two_ ? std::log(shape.tail) : shape.tail;
    return sum / size() - (log_power * log_power + tail * tail) / (2 * count_);
  }

  // Of the most likely normal distribution of logarithms, which has as many numbers.
  [[nodiscard]] double of_logarithms() const {
    const BoundMap logarithms(reach_, {});
    double sum = 0;
    double squares = 0;
    double slopes = 0;
    for (const double value : values_) {
      const BoundMap::Score score = logarithms.score(value);
      sum += score.value;
      squares += score.value * score.value;
      slopes += score.log_slope;
    }
    const double variance = squares / size() - sum / size() * (sum / size());
    return slopes / size() - 0.5 * (1 + std::log(2 * std::numbers::pi * variance));
  }

  [[nodiscard]] bool two() const { return two_; }

 private:
  [[nodiscard]] double size() const { return static_cast<double>(values_.size()); }
  [[nodiscard]] double distance(double value) const {
    return std::isfinite(reach_.lower) ? value - reach_.lower : reach_.upper - value;
  }
  [[nodiscard]] Point between(const BoundShape& shape, double value) const {
    const double width = reach_.upper - reach_.lower;
    return point_between(shape, (value - reach_.lower) / width, (reach_.upper - value) / width);
  }

  Bounds reach_;
  bool two_;
  std::vector<double> values_;
  double count_;
};

// Steps of the search in the logarithms of power and scale, and in the tail: its logarithm between
// two bounds, where it is a power too.
BoundShape moved(const BoundShape& shape, bool two, std::size_t direction, double step) {
  constexpr double kMostPower = 50;
  constexpr double kMostTail = 3;
  BoundShape next = shape;
  if (direction == 0) {
    next.power = std::clamp(shape.power * std::exp(step), 1 / kMostPower, kMostPower);
  } else if (direction == 1) {
    next.tail = two ? std::clamp(shape.tail * std::exp(step), 1 / kMostPower, kMostPower)
                    : std::clamp(shape.tail + step, 0.0, kMostTail);
  } else {
    next.scale = shape.scale * std::exp(step);
  }
  return next;
}

}  // namespace

// One number after the other is moved as long as that helps, then steps are halved.
BoundShape BoundMap::fit(const Bounds& reach, std::span<const double> values) {
  constexpr double kSmallestStep = 1e-3;
  const Likelihood likelihood(reach, values);
  BoundShape best = likelihood.start();
  double most = likelihood(best);
  const std::size_t directions = likelihood.two() ? 2 : 3;
  for (double step = 0.5; step > kSmallestStep; step /= 2) {
    for (bool improved = true; improved;) {
      improved = false;
      for (std::size_t direction = 0; direction < directions; ++direction) {
        for (const double signed_step : {step, -step}) {
          const BoundShape next = moved(best, likelihood.two(), direction, signed_step);
          const double value = likelihood(next);
          if (!(value > most)) continue;
          best = next;
          most = value;
          improved = true;
        }
      }
    }
  }
  return likelihood.of_logarithms() > most ? BoundShape{} : best;
}

bool BoundMap::two() const { return std::isfinite(reach_.lower) && std::isfinite(reach_.upper); }

BoundMap::Score BoundMap::score(double value) const {
  const auto [lower, upper] = reach_;
  if (shape_.power == 0) {
    const bool below = std::isfinite(lower);
    const bool above = std::isfinite(upper);
    return {plain_score(reach_, value, below, above), (two() ? std::log(upper - lower) : 0) -
                                                          (below ? std::log(value - lower) : 0) -
                                                          (above ? std::log(upper - value) : 0)};
  }
  const double width = upper - lower;
  const bool from_lower = std::isfinite(lower);
  const Point point = two()
                          ? point_between(shape_, (value - lower) / width, (upper - value) / width)
                          : point_at_distance(shape_, from_lower ? value - lower : upper - value);
  const double score = score_of(point);
  return {from_lower ? score : -score,
          point.log_density - log_normal_density(score) - (two() ? std::log(width) : 0)};
}

double BoundMap::value(double score) const {
  const auto [lower, upper] = reach_;
  const bool from_lower = std::isfinite(lower);
  const double width = upper - lower;
  double result = score;
  if (shape_.power == 0) {
    // Between two bounds from the nearer one, so that values near either keep their precision.
    if (two()) {
      result = score < 0 ? lower + width / (1 + std::exp(-score))
                         : upper - width / (1 + std::exp(score));
    } else {
      result = from_lower ? lower + std::exp(score) : upper - std::exp(-score);
    }
  } else if (two()) {
    const double log_u = log_one_minus_exp(log_above(score) / shape_.tail) / shape_.power;
    result = score < 0 ? lower + width * std::exp(log_u) : upper + width * std::expm1(log_u);
  } else {
    const double distance = distance_at(shape_, log_above(from_lower ? score : -score));
    result = from_lower ? lower + distance : upper - distance;
  }
  constexpr double kLargest = std::numeric_limits<double>::max();
  return std::clamp(result, std::max(lower, -kLargest), std::min(upper, kLargest));
}

}  // namespace jeffreys

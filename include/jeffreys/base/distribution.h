// One-dimensional distributions in closed form: what is known about a number before any data.
//
// A value's normal score is Phi^-1(F(value)). Scores of values drawn from the distribution are
// standard normal, so that a model of scores starts near the distribution and cannot leave its
// support.
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace jeffreys {

struct Bounds {
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();

  bool operator==(const Bounds&) const = default;
};

enum class DistributionKind { uniform, normal, log_normal };

std::string_view name_of(DistributionKind kind);
std::vector<std::string> distribution_names();
// Throws std::invalid_argument for an unknown name, listing the known ones.
DistributionKind parse_distribution_kind(std::string_view name);

// Everything but validate, to_json and describe needs a distribution that validate accepts. Scores,
// quantiles and densities are accurate in both tails, also where a truncation leaves only a tail.
struct Distribution {
  DistributionKind kind = DistributionKind::normal;
  double mean = 0;       // of the value; of its logarithm for log_normal; 0 for uniform
  double deviation = 1;  // likewise; 1 for uniform
  Bounds bounds = {};    // the ends of uniform; where normal and log_normal are truncated

  static Distribution uniform(double lower, double upper);
  static Distribution normal(double mean, double deviation, Bounds truncation = {});
  static Distribution log_normal(double mean, double deviation, Bounds truncation = {});

  // Throws std::invalid_argument that names the member: numbers that are not finite, lower >=
  // upper, deviation <= 0, a truncation that leaves nothing, and sizes that double cannot resolve
  // (ends or deviation below 1e-12 of the values, draws beyond 1e-150 or 1e150).
  void validate() const;

  // Where the density is positive; a log_normal begins at 0 or above.
  Bounds support() const;
  // Whether the value is in the support: ends that are given belong to it, the 0 of log_normal does
  // not.
  bool contains(double value) const;

  // Natural logarithm of the density; minus infinity outside the support, NaN for NaN.
  double log_prob(double value) const;
  // F^-1(probability) for 0 < probability < 1, strictly inside the support.
  double quantile(double probability) const;

  // Phi^-1(F(value)): infinite at the ends of the support and beyond.
  double normal_score(double value) const;
  // F^-1(Phi(score)): finite and strictly inside the support, also for infinite scores; NaN for
  // NaN.
  double from_normal_score(double score) const;
  // log d normal_score / d value = log_prob(value) - log phi(normal_score(value)), for a value
  // strictly inside the support.
  double log_score_slope(double value) const;

  // {"kind": "normal", "mean": 0, "deviation": 1, "lower": 0}; ends that are not there are
  // left out.
  std::string to_json() const;
  // Throws InputError naming `file` unless to_json of a valid distribution could have written it.
  static Distribution from_json(const std::string& text, const std::string& file);

  // "uniform, -1 to 1", "normal with mean 0 and deviation 1, 0 and above"
  std::string describe() const;
  // "-1 to 1", "0 and above", "all numbers"
  std::string describe_support() const;

  bool operator==(const Distribution&) const = default;
};

}  // namespace jeffreys

#include "experiment/lost_run.h"

namespace jeffreys::experiment {
namespace {

constexpr const char* kDivergence = "main.jeffreys";

// Of the curve up to this point.
std::optional<std::int64_t> lost_since(const Curve& curve, const std::vector<double>& divergence,
                                       std::size_t last, const LostRule& rule) {
  const auto far = [&](std::size_t i) { return !(divergence[i] <= rule.divergence); };
  if (divergence.empty() || !far(last)) return std::nullopt;
  std::size_t first = last;
  while (first > 0 && far(first - 1)) --first;
  const bool long_ago = curve.iteration[last] - curve.iteration[first] >= rule.iterations;
  return long_ago ? std::optional(curve.iteration[first]) : std::nullopt;
}

}  // namespace

std::optional<std::int64_t> lost_since(const Curve& curve, const LostRule& rule) {
  if (curve.iteration.empty()) return std::nullopt;
  return lost_since(curve, curve.column(kDivergence), curve.iteration.size() - 1, rule);
}

std::optional<std::int64_t> first_lost(const Curve& curve, const LostRule& rule) {
  const std::vector<double> divergence = curve.column(kDivergence);
  for (std::size_t i = 0; i < curve.iteration.size(); ++i) {
    if (const auto since = lost_since(curve, divergence, i, rule)) return since;
  }
  return std::nullopt;
}

}  // namespace jeffreys::experiment

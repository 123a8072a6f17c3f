#include "model/spline_flow_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "base/checks.h"
#include "kernels/random.h"

namespace jeffreys {
namespace {

void check_range(std::string_view field, Eigen::Index value, Eigen::Index least) {
  check_between(field, value, least, kMostUnits);
}

bool is_permutation_of_positions(std::vector<std::int64_t> order) {
  std::sort(order.begin(), order.end());
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (order[i] != static_cast<std::int64_t>(i)) return false;
  }
  return true;
}

// Fisher-Yates on uniforms of the counter-based generator.
std::vector<std::int64_t> random_order(std::size_t features, std::uint64_t seed,
                                       std::size_t transform) {
  std::vector<double> uniforms(features);
  kernels::fill_uniforms(kernels::RandomArguments<double>{
      {seed, kRandomOrder, transform}, 0, 1, features, uniforms.data()});
  std::vector<std::int64_t> order(features);
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = features; i-- > 1;) {
    std::swap(order[i], order[static_cast<std::size_t>(uniforms[i] * static_cast<double>(i + 1))]);
  }
  return order;
}

}  // namespace

void SplineFlowOptions::validate() const {
  check_range("SplineFlowOptions.features", features, 1);
  check_range("SplineFlowOptions.context_features", context_features, 0);
  check_range("SplineFlowOptions.transforms", transforms, 1);
  check_range("SplineFlowOptions.bins", bins, 1);
  for (const Eigen::Index width : hidden) check_range("SplineFlowOptions.hidden", width, 1);
  if (!(student_t == 0 || (student_t >= 1 && student_t <= 1000))) {
    throw std::invalid_argument(fmt::format(
        "SplineFlowOptions.student_t: expected 0 or a number from 1 to 1000, got {}", student_t));
  }
  if (orders.empty()) return;
  if (static_cast<Eigen::Index>(orders.size()) != transforms) {
    throw std::invalid_argument(
        fmt::format("SplineFlowOptions.orders: expected {} (one for each transform), got {}",
                    transforms, orders.size()));
  }
  for (const std::vector<std::int64_t>& given : orders) {
    if (static_cast<Eigen::Index>(given.size()) != features ||
        !is_permutation_of_positions(given)) {
      throw std::invalid_argument(
          fmt::format("SplineFlowOptions.orders: expected permutations of 0..{}, got ({})",
                      features - 1, fmt::join(given, ", ")));
    }
  }
}

SplineFlowOptions with_orders(const SplineFlowOptions& options) {
  options.validate();
  SplineFlowOptions filled = options;
  const auto features = static_cast<std::size_t>(options.features);
  for (std::size_t t = filled.orders.size(); t < static_cast<std::size_t>(options.transforms);
       ++t) {
    if (options.order == FeatureOrder::random) {
      filled.orders.push_back(random_order(features, options.seed, t));
      continue;
    }
    std::vector<std::int64_t> order(features);
    std::iota(order.begin(), order.end(), 0);
    if (t % 2 == 1) std::reverse(order.begin(), order.end());
    filled.orders.push_back(std::move(order));
  }
  return filled;
}

// Every term was checked to be below 2^20.
double SplineFlowOptions::least_parameters() const {
  const double outputs = static_cast<double>(features) * (3.0 * static_cast<double>(bins) - 1);
  double claimed = outputs;
  auto inputs = static_cast<double>(features > 1 ? features + context_features : context_features);
  if (inputs > 0) {
    for (const Eigen::Index width : hidden) {
      claimed += inputs * static_cast<double>(width);
      inputs = static_cast<double>(width);
    }
    claimed += inputs * outputs;
  }
  const auto d = static_cast<double>(features);
  return claimed * static_cast<double>(transforms) + (affine ? d * (d + 3) / 2 : 0);
}

}  // namespace jeffreys

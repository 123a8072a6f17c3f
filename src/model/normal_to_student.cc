#include "model/normal_to_student.h"

#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <map>
#include <mutex>
#include <numbers>

namespace jeffreys {
namespace {

// A quantile that is too large for a number is infinite; it stops nothing.
using Policy = boost::math::policies::policy<
    boost::math::policies::overflow_error<boost::math::policies::ignore_error>,
    boost::math::policies::evaluation_error<boost::math::policies::ignore_error>>;
using Student = boost::math::students_t_distribution<double, Policy>;

constexpr double kNodesForOne = 64;
constexpr double kFarthest = 10;  // a normal number that nobody draws

}  // namespace

NormalToStudent::NormalToStudent(double degrees_of_freedom) : freedom_(degrees_of_freedom) {
  const auto last = static_cast<std::size_t>(kFarthest * kNodesForOne);
  nodes_.reserve(last + 1);
  for (std::size_t k = 0; k <= last; ++k) {
    nodes_.push_back(node_at(static_cast<double>(k) / kNodesForOne));
  }
}

// By the lower tail, where probabilities keep their digits.
double NormalToStudent::exact(double size) const {
  const double tail = 0.5 * std::erfc(size / std::numbers::sqrt2);
  return tail > 0 ? -boost::math::quantile(Student(freedom_), tail) : INFINITY;
}

NormalToStudent::Node NormalToStudent::node_at(double size) const {
  const double t = size == 0 ? 0 : exact(size);
  const double normal_density = std::exp(-0.5 * size * size) / std::sqrt(2 * std::numbers::pi);
  const double slope = normal_density / boost::math::pdf(Student(freedom_), t);
  return {std::asinh(t / std::sqrt(freedom_)), slope / std::sqrt(freedom_ + t * t) / kNodesForOne};
}

double NormalToStudent::operator()(double normal) const {
  if (!std::isfinite(normal)) return normal;
  const double size = std::abs(normal);
  if (size >= kFarthest) return std::copysign(exact(size), normal);
  const double place = size * kNodesForOne;
  const auto k = static_cast<std::size_t>(place);
  const double u = place - static_cast<double>(k);
  const Node& left = nodes_[k];
  const Node& right = nodes_[k + 1];
  const double rise = right.value - left.value;
  // Hermite's cubic.
  const double square = 3 * rise - 2 * left.slope - right.slope;
  const double cube = left.slope + right.slope - 2 * rise;
  const double value = left.value + u * (left.slope + u * (square + u * cube));
  return std::copysign(std::sqrt(freedom_) * std::sinh(value), normal);
}

std::shared_ptr<const NormalToStudent> NormalToStudent::shared(double degrees_of_freedom) {
  static std::mutex mutex;
  static std::map<double, std::shared_ptr<const NormalToStudent>> known;
  const std::lock_guard lock(mutex);
  auto& map = known[degrees_of_freedom];
  if (!map) map = std::make_shared<const NormalToStudent>(degrees_of_freedom);
  return map;
}

}  // namespace jeffreys

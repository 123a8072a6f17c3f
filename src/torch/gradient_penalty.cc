#include "torch/gradient_penalty.h"

#include <array>
#include <cmath>
#include <type_traits>

namespace jeffreys {
namespace {

// The derivative along a line as a weighted sum of values at multiples of a step, over the step.
struct Point {
  double offset;
  double weight;
};

// Steps are for rows of unit deviation. A longer one errs by higher derivatives of the critic, a
// shorter one by rounding. Double is for tests, so it may cost twice as much.
template <typename T>
constexpr bool kSingle = std::is_same_v<T, float>;
template <typename T>
constexpr double kStep = kSingle<T> ? 3e-3 : 1e-3;
constexpr std::array<Point, 2> kTwoPoints = {{{1, 1.0 / 2}, {-1, -1.0 / 2}}};
constexpr std::array<Point, 4> kFourPoints = {
    {{1, 2.0 / 3}, {-1, -2.0 / 3}, {2, -1.0 / 12}, {-2, 1.0 / 12}}};

template <typename T>
constexpr const auto& points() {
  if constexpr (kSingle<T>) {
    return kTwoPoints;
  } else {
    return kFourPoints;
  }
}

}  // namespace

template <typename T>
double add_gradient_penalty(const EnergyModel<T>& critic, const MatrixView<T>& x, double weight,
                            std::span<T> gradient) {
  const auto& stencil = points<T>();
  const Eigen::Index rows = x.rows();
  const Matrix<T> slopes = critic.input_gradient(x).x;
  double penalty = 0;
  Matrix<T> moved(std::ssize(stencil) * rows, x.cols());
  Vector<T> weights(moved.rows());
  for (Eigen::Index i = 0; i < rows; ++i) {
    const double length = slopes.row(i).template cast<double>().norm();
    penalty += (length - 1) * (length - 1) / static_cast<double>(rows);
    const double stride = length > 0 ? kStep<T> / length : 0;
    const double share = weight * 2 * (length - 1) / static_cast<double>(rows) / kStep<T>;
    for (Eigen::Index k = 0; k < std::ssize(stencil); ++k) {
      const Point& point = stencil[static_cast<std::size_t>(k)];
      moved.row(k * rows + i) = x.row(i) + static_cast<T>(point.offset * stride) * slopes.row(i);
      weights[k * rows + i] = static_cast<T>(point.weight * share);
    }
  }
  if (std::isfinite(penalty)) critic.add_scores(moved, Matrix<T>(), weights, gradient);
  return penalty;
}

template double add_gradient_penalty(const EnergyModel<float>&, const MatrixView<float>&, double,
                                     std::span<float>);
template double add_gradient_penalty(const EnergyModel<double>&, const MatrixView<double>&, double,
                                     std::span<double>);

}  // namespace jeffreys

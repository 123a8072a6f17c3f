#include "jeffreys/truth/source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <utility>

#include "jeffreys/base/random_purpose.h"
#include "kernels/random.h"
#include "truth/source_kinds.h"

namespace jeffreys {
namespace {

constexpr double kDeviation = 0.05;

kernels::RandomArguments<double> all_of(Matrix<double>& matrix, const kernels::RandomKey& key) {
  return {key, 0, static_cast<std::size_t>(matrix.rows()), static_cast<std::size_t>(matrix.cols()),
          matrix.data()};
}

std::unique_ptr<Source> make_ring() {
  std::vector<PlanePoint> centers;
  for (int i = 0; i < 8; ++i) {
    const double angle = 0.25 * i * std::numbers::pi;
    centers.push_back(
        {std::numbers::sqrt2 * std::cos(angle), std::numbers::sqrt2 * std::sin(angle)});
  }
  return make_mixture("ring", std::move(centers), kDeviation);
}

std::unique_ptr<Source> make_grid() {
  std::vector<PlanePoint> centers;
  for (int i = -2; i <= 2; ++i) {
    for (int j = -2; j <= 2; ++j) {
      centers.push_back({j / std::numbers::sqrt2, i / std::numbers::sqrt2});
    }
  }
  return make_mixture("grid", std::move(centers), kDeviation);
}

// As scikit-learn's make_moons.
std::unique_ptr<Source> make_moons() {
  const auto upper = [](double t) { return PlanePoint{std::cos(t), std::sin(t)}; };
  const auto lower = [](double t) { return PlanePoint{1 - std::cos(t), 0.5 - std::sin(t)}; };
  return make_noisy_curves(
      "moons", {{0, std::numbers::pi, 1, upper}, {0, std::numbers::pi, 1, lower}}, kDeviation);
}

// Differs from the paper: divided by 4, to lie where a spline flow is more than the identity.
std::unique_ptr<Source> make_spiral() {
  constexpr double kScale = 0.25;
  const auto arm = [](double t) {
    return PlanePoint{kScale * t * std::cos(t), kScale * t * std::sin(t)};
  };
  return make_noisy_curves("spiral", {{0, 10, kScale * std::hypot(1.0, 10.0), arm}}, kScale * 0.02);
}

std::unique_ptr<Source> make_gmm40(std::uint64_t layout_seed) {
  Matrix<double> uniform(40, 2);
  kernels::fill_uniforms(all_of(uniform, {layout_seed, kSourceLayout, 0}));
  std::vector<PlanePoint> centers;
  for (const auto& row : uniform.rowwise()) centers.push_back({row[0], row[1]});
  return make_mixture("gmm40", std::move(centers), kDeviation);
}

}  // namespace

std::size_t choose_part(double u, std::size_t count, double& rest) {
  const double scaled = u * static_cast<double>(count);
  const std::size_t part = std::min(static_cast<std::size_t>(scaled), count - 1);
  rest = scaled - static_cast<double>(part);
  return part;
}

PlaneRange range_around(const std::vector<PlanePoint>& points, double margin) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  PlaneRange range{kInfinity, -kInfinity, kInfinity, -kInfinity};
  for (const auto& [x, y] : points) {
    range = {std::min(range.x_min, x - margin), std::max(range.x_max, x + margin),
             std::min(range.y_min, y - margin), std::max(range.y_max, y + margin)};
  }
  return range;
}

Matrix<double> Source::sample(Eigen::Index rows, std::uint64_t seed,
                              std::uint64_t iteration) const {
  if (rows < 0) throw std::invalid_argument(fmt::format("rows: expected 0 or more, got {}", rows));
  Matrix<double> uniform(rows, 2);
  Matrix<double> normal(rows, 2);
  kernels::fill_uniforms(all_of(uniform, {seed, kSourceUniform, iteration}));
  kernels::fill_normals(all_of(normal, {seed, kSourceNormal, iteration}));
  Matrix<double> x(rows, 2);
  place(uniform, normal, x);
  return x;
}

Vector<double> Source::log_prob(const MatrixView<double>& x) const {
  if (x.cols() != features()) {
    throw std::invalid_argument(
        fmt::format("x: expected {} columns, got {}", features(), x.cols()));
  }
  Vector<double> result(x.rows());
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    const bool defined = !std::isnan(x(i, 0)) && !std::isnan(x(i, 1));
    result[i] = defined ? log_density(x(i, 0), x(i, 1)) : std::numeric_limits<double>::quiet_NaN();
  }
  return result;
}

std::vector<GridNode> even_line(double from, double to, double spacing) {
  const int count = static_cast<int>(std::ceil((to - from) / spacing)) + 1;
  std::vector<GridNode> line;
  for (int i = 0; i < count; ++i) line.push_back({from + i * spacing, spacing});
  return line;
}

double Source::entropy() const {
  const PlaneRange area = range();
  const std::vector<GridNode> across = grid_line(area.x_min, area.x_max);
  double sum = 0;
  for (const auto& [y, height] : grid_line(area.y_min, area.y_max)) {
    for (const auto& [x, width] : across) {
      const double log_p = log_density(x, y);
      if (log_p > -700) sum -= width * height * std::exp(log_p) * log_p;
    }
  }
  return sum;
}

std::vector<std::string> source_names() {
  return {"ring", "grid", "moons", "spiral", "rings", "gmm40", "two_gaussians"};
}

std::unique_ptr<Source> make_source(const std::string& name, std::uint64_t layout_seed) {
  if (name == "ring") return make_ring();
  if (name == "grid") return make_grid();
  if (name == "moons") return make_moons();
  if (name == "spiral") return make_spiral();
  if (name == "rings") return make_noisy_circles(name, {0.2, 0.6}, 0.1);
  if (name == "gmm40") return make_gmm40(layout_seed);
  if (name == "two_gaussians") return make_mixture(name, {{-1, 0}, {1, 0}}, 0.25);
  throw std::invalid_argument(
      fmt::format("source: expected one of {}, got '{}'", fmt::join(source_names(), ", "), name));
}

}  // namespace jeffreys

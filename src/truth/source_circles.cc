// Uniform noise around circles. The density at a point is proportional to the length of the arcs
// in the square from which the noise could have led there.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "truth/source_kinds.h"

namespace jeffreys {
namespace {

constexpr double kTurn = 2 * std::numbers::pi;

// The square [x, x + width] x [y, y + width].
struct Square {
  double x;
  double y;
  double width;

  bool holds(double px, double py) const {
    return px >= x && px <= x + width && py >= y && py <= y + width;
  }
  double nearest() const {
    return std::hypot(std::max({x, -x - width, 0.0}), std::max({y, -y - width, 0.0}));
  }
  double farthest() const {
    return std::hypot(std::max(std::abs(x), std::abs(x + width)),
                      std::max(std::abs(y), std::abs(y + width)));
  }
};

// The part of the circle's turn that lies in the square: between two neighbouring angles at which
// the circle crosses the lines of the square it is all inside or all outside.
double fraction_inside(double radius, const Square& square) {
  if (square.nearest() > radius || square.farthest() < radius) return 0;
  std::array<double, 10> angles = {0, kTurn};
  std::size_t count = 2;
  const auto add = [&](double angle) { angles[count++] = angle < 0 ? angle + kTurn : angle; };
  for (const double edge : {square.x / radius, (square.x + square.width) / radius}) {
    if (std::abs(edge) >= 1) continue;
    add(std::acos(edge));
    add(-std::acos(edge));
  }
  for (const double edge : {square.y / radius, (square.y + square.width) / radius}) {
    if (std::abs(edge) >= 1) continue;
    add(std::asin(edge));
    add(std::numbers::pi - std::asin(edge));
  }
  std::sort(angles.begin(), angles.begin() + static_cast<std::ptrdiff_t>(count));
  double inside = 0;
  for (std::size_t i = 1; i < count; ++i) {
    const double middle = 0.5 * (angles[i - 1] + angles[i]);
    if (square.holds(radius * std::cos(middle), radius * std::sin(middle))) {
      inside += angles[i] - angles[i - 1];
    }
  }
  return inside / kTurn;
}

class NoisyCircles : public Source {
 public:
  NoisyCircles(std::string name, std::vector<double> radii, double width)
      : name_(std::move(name)), radii_(std::move(radii)), width_(width) {}

  std::string name() const override { return name_; }

  PlaneRange range() const override {
    const double most = *std::max_element(radii_.begin(), radii_.end());
    const double margin = 0.5 * width_;
    return {-most - margin, most + width_ + margin, -most - margin, most + width_ + margin};
  }

 private:
  void place(const Matrix<double>& uniform, const Matrix<double>& normal,
             Matrix<double>& x) const override {
    for (Eigen::Index i = 0; i < x.rows(); ++i) {
      double rest = 0;
      const double radius = radii_[choose_part(uniform(i, 0), radii_.size(), rest)];
      const double length = std::hypot(normal(i, 0), normal(i, 1));
      x(i, 0) = radius * normal(i, 0) / length + width_ * rest;
      x(i, 1) = radius * normal(i, 1) / length + width_ * uniform(i, 1);
    }
  }

  double log_density(double x, double y) const override {
    if (std::isinf(x) || std::isinf(y)) return -std::numeric_limits<double>::infinity();
    double sum = 0;
    for (const double radius : radii_) {
      sum += fraction_inside(radius, {x - width_, y - width_, width_});
    }
    return std::log(sum / (static_cast<double>(radii_.size()) * width_ * width_));
  }

  // The density has square roots where a side of the square touches a circle: between these lines
  // nodes gather towards both ends, which smooths the roots away.
  std::vector<GridNode> grid_line(double from, double to) const override {
    constexpr int kNodes = 150;
    std::vector<double> breaks = {from, to};
    for (const double radius : radii_) {
      for (const double line : {-radius, radius, width_ - radius, width_ + radius}) {
        breaks.push_back(line);
      }
    }
    std::sort(breaks.begin(), breaks.end());
    std::vector<GridNode> line;
    for (std::size_t b = 1; b < breaks.size(); ++b) {
      const double length = breaks[b] - breaks[b - 1];
      for (int i = 0; i < kNodes; ++i) {
        const double t = (i + 0.5) / kNodes;
        line.push_back(
            {breaks[b - 1] + length * t * t * (3 - 2 * t), length * 6 * t * (1 - t) / kNodes});
      }
    }
    return line;
  }

  std::string name_;
  std::vector<double> radii_;
  double width_;
};

}  // namespace

std::unique_ptr<Source> make_noisy_circles(std::string name, std::vector<double> radii,
                                           double width) {
  return std::make_unique<NoisyCircles>(std::move(name), std::move(radii), width);
}

}  // namespace jeffreys

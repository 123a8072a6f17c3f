// Normal noise around curves. The density is an integral along the curves of a Gaussian, computed
// at nodes that are close together compared with the noise. Nodes come in runs with a circle
// around each, so that a point looks only at the runs that can matter to it.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "truth/source_kinds.h"

namespace jeffreys {
namespace {

// Gauss-Legendre on [-1, 1], upper half: exact for polynomials of degree 15.
constexpr std::array<double, 4> kPlace = {0.1834346424956498, 0.5255324099163290,
                                          0.7966664774136267, 0.9602898564975363};
constexpr std::array<double, 4> kWeight = {0.3626837833783620, 0.3137066458778873,
                                           0.2223810344533745, 0.1012285362903763};
// What is smaller than the largest term by this factor's logarithm is left out.
constexpr double kNegligible = 40;

struct Node {
  double x;
  double y;
  double weight;  // all of them sum to 1
};

struct Run {
  double x;
  double y;
  std::size_t first;
  std::size_t last;
};

class NoisyCurves : public Source {
 public:
  NoisyCurves(std::string name, std::vector<Curve> curves, double deviation)
      : name_(std::move(name)), curves_(std::move(curves)), deviation_(deviation) {
    for (const Curve& curve : curves_) add_runs(curve);
  }

  std::string name() const override { return name_; }

  PlaneRange range() const override {
    std::vector<PlanePoint> points;
    for (const Node& node : nodes_) points.push_back({node.x, node.y});
    return range_around(points, 7 * deviation_);
  }

 private:
  void place(const Matrix<double>& uniform, const Matrix<double>& normal,
             Matrix<double>& x) const override {
    for (Eigen::Index i = 0; i < x.rows(); ++i) {
      double rest = 0;
      const Curve& curve = curves_[choose_part(uniform(i, 0), curves_.size(), rest)];
      const PlanePoint p = curve.at(curve.begin + uniform(i, 1) * (curve.end - curve.begin));
      x(i, 0) = p[0] + deviation_ * normal(i, 0);
      x(i, 1) = p[1] + deviation_ * normal(i, 1);
    }
  }

  double log_density(double x, double y) const override {
    double reach = std::numeric_limits<double>::infinity();
    for (std::size_t r = 0; r < runs_.size();) {
      const double distance = distance_of(runs_[r], x, y);
      reach = std::min(reach, distance);
      r += 1 + skipped(distance - reach);
    }
    double nearest = std::numeric_limits<double>::infinity();
    for_each_near(x, y, reach,
                  [&](double distance, double) { nearest = std::min(nearest, distance); });
    if (std::isinf(nearest)) return -nearest;
    // Far away rounding must not lose the nearest run.
    reach = std::max(reach, deviation_ * std::sqrt(2 * (nearest + kNegligible)));
    double sum = 0;
    for_each_near(x, y, reach, [&](double distance, double weight) {
      if (distance <= nearest + kNegligible) sum += weight * std::exp(nearest - distance);
    });
    return std::log(sum / (2 * std::numbers::pi * deviation_ * deviation_)) - nearest;
  }

  std::vector<GridNode> grid_line(double from, double to) const override {
    return even_line(from, to, 0.9 * deviation_);
  }

  // Calls use(half the squared distance in deviations, weight) for all nodes of runs that may
  // have a node within reach.
  template <typename Use>
  void for_each_near(double x, double y, double reach, const Use& use) const {
    const double scale = 0.5 / (deviation_ * deviation_);
    const double limit = reach + radius_;
    for (std::size_t r = 0; r < runs_.size();) {
      const double distance = distance_of(runs_[r], x, y);
      for (std::size_t n = runs_[r].first; n < runs_[r].last && distance <= limit; ++n) {
        const double dx = x - nodes_[n].x;
        const double dy = y - nodes_[n].y;
        use(scale * (dx * dx + dy * dy), nodes_[n].weight);
      }
      r += 1 + skipped(distance - limit);
    }
  }

  static double distance_of(const Run& run, double x, double y) {
    const double dx = x - run.x;
    const double dy = y - run.y;
    return std::sqrt(dx * dx + dy * dy);
  }

  // How many of the next runs cannot be nearer than a run is by more than `excess`.
  std::size_t skipped(double excess) const {
    return excess > step_ ? static_cast<std::size_t>(std::min(excess / step_, 1e6) - 0.5) : 0;
  }

  // Runs of 2 panels of 8 nodes; a panel is at most two deviations long.
  void add_runs(const Curve& curve) {
    constexpr int kPanels = 2;
    const double length = (curve.end - curve.begin) * curve.fastest;
    const int runs = static_cast<int>(std::ceil(length / (2 * kPanels * deviation_)));
    const double half = 0.5 * (curve.end - curve.begin) / (runs * kPanels);
    const double share = 0.5 / (static_cast<double>(curves_.size()) * runs * kPanels);
    for (int r = 0; r < runs; ++r) {
      const PlanePoint center = curve.at(curve.begin + (2 * r + 1) * kPanels * half);
      const std::size_t first = nodes_.size();
      for (int p = 0; p < kPanels; ++p) {
        const double middle = curve.begin + (2 * (r * kPanels + p) + 1) * half;
        for (std::size_t n = 0; n < kPlace.size(); ++n) {
          for (const double t : {middle - half * kPlace[n], middle + half * kPlace[n]}) {
            const auto [x, y] = curve.at(t);
            nodes_.push_back({x, y, share * kWeight[n]});
            radius_ = std::max(radius_, std::hypot(x - center[0], y - center[1]));
          }
        }
      }
      if (!runs_.empty()) {
        step_ = std::max(step_, distance_of(runs_.back(), center[0], center[1]));
      }
      runs_.push_back({center[0], center[1], first, nodes_.size()});
    }
  }

  std::string name_;
  std::vector<Curve> curves_;
  double deviation_;
  std::vector<Node> nodes_;
  std::vector<Run> runs_;
  double step_ = 0;    // the largest distance of successive runs
  double radius_ = 0;  // around every run's centre, holds its nodes
};

}  // namespace

std::unique_ptr<Source> make_noisy_curves(std::string name, std::vector<Curve> curves,
                                          double deviation) {
  return std::make_unique<NoisyCurves>(std::move(name), std::move(curves), deviation);
}

}  // namespace jeffreys

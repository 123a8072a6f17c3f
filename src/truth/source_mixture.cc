#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "truth/source_kinds.h"

namespace jeffreys {
namespace {

class Mixture : public Source {
 public:
  Mixture(std::string name, std::vector<PlanePoint> centers, double deviation)
      : name_(std::move(name)), centers_(std::move(centers)), deviation_(deviation) {}

  std::string name() const override { return name_; }
  PlaneRange range() const override { return range_around(centers_, 7 * deviation_); }

  Modes modes() const override {
    Modes modes{Matrix<double>(static_cast<Eigen::Index>(centers_.size()), 2), deviation_};
    for (std::size_t i = 0; i < centers_.size(); ++i) {
      modes.centers.row(static_cast<Eigen::Index>(i)) << centers_[i][0], centers_[i][1];
    }
    return modes;
  }

 private:
  void place(const Matrix<double>& uniform, const Matrix<double>& normal,
             Matrix<double>& x) const override {
    for (Eigen::Index i = 0; i < x.rows(); ++i) {
      double rest = 0;
      const PlanePoint& center = centers_[choose_part(uniform(i, 0), centers_.size(), rest)];
      x(i, 0) = center[0] + deviation_ * normal(i, 0);
      x(i, 1) = center[1] + deviation_ * normal(i, 1);
    }
  }

  double log_density(double x, double y) const override {
    double nearest = std::numeric_limits<double>::infinity();
    for (const PlanePoint& center : centers_) nearest = std::min(nearest, distance(center, x, y));
    // Also infinitely far away, where differences of distances mean nothing.
    if (std::isinf(nearest)) return -nearest;
    double sum = 0;
    for (const PlanePoint& center : centers_) sum += std::exp(nearest - distance(center, x, y));
    const double area = 2 * std::numbers::pi * deviation_ * deviation_;
    return std::log(sum / (static_cast<double>(centers_.size()) * area)) - nearest;
  }

  std::vector<GridNode> grid_line(double from, double to) const override {
    return even_line(from, to, 0.25 * deviation_);
  }

  // Half the squared distance in deviations.
  double distance(const PlanePoint& center, double x, double y) const {
    const double dx = (x - center[0]) / deviation_;
    const double dy = (y - center[1]) / deviation_;
    return 0.5 * (dx * dx + dy * dy);
  }

  std::string name_;
  std::vector<PlanePoint> centers_;
  double deviation_;
};

}  // namespace

std::unique_ptr<Source> make_mixture(std::string name, std::vector<PlanePoint> centers,
                                     double deviation) {
  return std::make_unique<Mixture>(std::move(name), std::move(centers), deviation);
}

}  // namespace jeffreys

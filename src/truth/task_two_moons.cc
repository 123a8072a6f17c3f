// Two moons. With u = (parameter_1 + parameter_2) / sqrt(2), v = (parameter_2 - parameter_1) /
// sqrt(2), which is a rotation, the simulator is
//   outcome = (q_1 + 0.25 - |u|, q_2 + v),  q = r (cos angle, sin angle),
// r normal around 0.1 with deviation 0.01, the angle uniform in (-pi/2, pi/2).
//
// Why the likelihood is a crescent: q has polar coordinates r and angle with density
// N(r; 0.1, 0.01^2) / pi, and dq = |r| dr dangle, hence the density N(r) / (pi |r|) at the q that
// parameters and outcome determine, |u| + outcome_1 - 0.25 and outcome_2 - v. It is half a circle,
// thin, and opens to the left. Negative r are treated exactly: they alone lead to q_1 < 0, where
// r = -|q|. Their probability is 8e-24, and the generator of normal numbers never draws one.
//
// Why there are two of them: u and -u give the same outcome. For each sign of u the map from
// parameters to q is an isometry, so the parameters have the density of q, divided by 2, and are
// found from noise without any Jacobian. |u| below 0 is impossible, and the prior's square is the
// diamond |u| + |v| <= sqrt(2); both cut off the crescents.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "truth/task_kinds.h"
#include "truth/task_square.h"

namespace jeffreys {
namespace {

constexpr double kRadius = 0.1;
constexpr double kRadiusDeviation = 0.01;
constexpr double kOffset = 0.25;
constexpr double kRoot = std::numbers::sqrt2;
// What lies farther away from the circle has the probability 3e-12.
constexpr double kReach = kRadius + 7 * kRadiusDeviation;

// The numbers r that obey inequalities a r <= b.
struct RadiusInterval {
  double from = -std::numeric_limits<double>::infinity();
  double to = std::numeric_limits<double>::infinity();

  void require(double a, double b) {
    if (a > 0) {
      to = std::min(to, b / a);
    } else if (a < 0) {
      from = std::max(from, b / a);
    } else if (b < 0) {
      to = -std::numeric_limits<double>::infinity();
    }
  }

  double probability() const {
    return normal_probability((from - kRadius) / kRadiusDeviation,
                              (to - kRadius) / kRadiusDeviation);
  }
};

// From (0, 1) to itself, slowly at both ends.
double gathered(double t) { return t * t * (3 - 2 * t); }

double angle_of(double uniform) { return std::numbers::pi * (uniform - 0.5); }

class TwoMoons : public SquareTask {
 public:
  explicit TwoMoons(std::string name) : SquareTask(std::move(name), -1, 1, 2) {}

  Vector<double> observation() const override { return Vector<double>::Zero(2); }

 private:
  void place_outcome(Row parameter, const Noise& noise, std::span<double> outcome) const override {
    const double r = kRadius + kRadiusDeviation * noise.normal[0];
    const double angle = angle_of(noise.uniform[0]);
    outcome[0] = r * std::cos(angle) + kOffset - std::abs(parameter[0] + parameter[1]) / kRoot;
    outcome[1] = r * std::sin(angle) + (parameter[1] - parameter[0]) / kRoot;
  }

  bool place_posterior(Row observation, const Noise& noise,
                       std::span<double> parameter) const override {
    const double r = kRadius + kRadiusDeviation * noise.normal[0];
    const double angle = angle_of(noise.uniform[0]);
    const double length = r * std::cos(angle) + kOffset - observation[0];
    const double u = noise.uniform[1] < 0.5 ? -length : length;
    const double v = observation[1] - r * std::sin(angle);
    parameter[0] = (u - v) / kRoot;
    parameter[1] = (u + v) / kRoot;
    return length >= 0 && holds(parameter);
  }

  double likelihood(Row parameter, Row outcome) const override {
    const double q_1 = outcome[0] - kOffset + std::abs(parameter[0] + parameter[1]) / kRoot;
    const double q_2 = outcome[1] - (parameter[1] - parameter[0]) / kRoot;
    // The density has a pole at q = 0, of negligible mass; it must not spoil a picture's grid.
    constexpr double kLeastDistance = 1e-9;
    const double distance = std::max(std::hypot(q_1, q_2), kLeastDistance);
    const double z = (std::copysign(distance, q_1) - kRadius) / kRadiusDeviation;
    return -0.5 * z * z - std::log(std::sqrt(2 * std::numbers::pi) * kRadiusDeviation) -
           std::log(std::numbers::pi * distance);
  }

  // Given the angle, |u| and v are linear in r: |u| >= 0 and |u| + |v| <= sqrt(2) leave an interval
  // with a known probability. Over the angles it is smooth unless a line that cuts off passes close
  // to q = 0: then it jumps at the angle of that line. Between these angles the nodes gather
  // towards both ends.
  double part_inside(Row observation) const override {
    constexpr int kNodes = 10000;
    constexpr double kHalf = 0.5 / kNodes;
    constexpr double kQuarter = 0.25 * std::numbers::pi;
    constexpr std::array<double, 4> kBreaks = {-2 * kQuarter, -kQuarter, kQuarter, 2 * kQuarter};
    double sum = 0;
    for (std::size_t b = 1; b < kBreaks.size(); ++b) {
      const double length = kBreaks[b] - kBreaks[b - 1];
      for (int i = 0; i < kNodes; ++i) {
        const double t = (i + 0.5) / kNodes;
        // Differences sum to the whole length: crescents that are not cut off count exactly 1.
        const double width = length * (gathered(t + kHalf) - gathered(t - kHalf));
        sum += width * part_along(kBreaks[b - 1] + length * gathered(t), observation);
      }
    }
    return sum / std::numbers::pi;
  }

  static double part_along(double angle, Row observation) {
    const double cosine = std::cos(angle);
    const double sine = std::sin(angle);
    const double u = kOffset - observation[0];
    const double v = observation[1];
    RadiusInterval r;
    r.require(-cosine, u);
    r.require(cosine - sine, kRoot - u - v);
    r.require(cosine + sine, kRoot - u + v);
    return r.probability();
  }

  ParameterRange reach(Row observation) const override {
    const double u = kOffset - observation[0] + kReach;
    const double v = observation[1];
    ParameterRange range{Vector<double>(2), Vector<double>(2)};
    range.lower << (-u - v - kReach) / kRoot, (-u + v - kReach) / kRoot;
    range.upper << (u - v + kReach) / kRoot, (u + v + kReach) / kRoot;
    return range;
  }
};

}  // namespace

std::unique_ptr<Task> make_two_moons(std::string name) {
  return std::make_unique<TwoMoons>(std::move(name));
}

}  // namespace jeffreys

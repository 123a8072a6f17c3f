// How each kind of source is made; make_source() knows the names and numbers.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "jeffreys/truth/source.h"

namespace jeffreys {

using PlanePoint = std::array<double, 2>;

// Gaussians with equal weights and the same deviation in every direction.
std::unique_ptr<Source> make_mixture(std::string name, std::vector<PlanePoint> centers,
                                     double deviation);

// A curve with a parameter that is uniform in an interval.
struct Curve {
  double begin = 0;
  double end = 1;
  double fastest = 1;  // no smaller than the speed anywhere
  std::function<PlanePoint(double)> at;
};

// Curves with equal weights and normal noise around them.
std::unique_ptr<Source> make_noisy_curves(std::string name, std::vector<Curve> curves,
                                          double deviation);

// Circles around the origin with equal weights and noise uniform in (0, width)^2.
std::unique_ptr<Source> make_noisy_circles(std::string name, std::vector<double> radii,
                                           double width);

// Which of `count` equal parts of (0, 1) holds u; `rest` receives the place within it, in [0, 1).
std::size_t choose_part(double u, std::size_t count, double& rest);

// The smallest range around the points, widened by `margin`.
PlaneRange range_around(const std::vector<PlanePoint>& points, double margin);

// The trapezoidal rule: on smooth functions that vanish at both ends it converges faster than any
// power of the spacing.
std::vector<GridNode> even_line(double from, double to, double spacing);

}  // namespace jeffreys

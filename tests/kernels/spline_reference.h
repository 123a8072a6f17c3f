// The spline as parity/layout.json defines it, one number at a time. Real is double where values
// are compared, and long double where its finite differences stand for derivatives.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace jeffreys::kernels {

class ExactSpline {
 public:
  using Real = long double;

  // raw: [3 bins - 1]: widths, heights, inner derivatives.
  template <typename T>
  ExactSpline(std::size_t bins, const std::vector<T>& raw)
      : x_(knots(bins, raw, 0)), y_(knots(bins, raw, bins)), slope_(bins + 1, Real(1)) {
    for (std::size_t j = 1; j < bins; ++j) {
      const auto d = static_cast<Real>(raw[2 * bins + j - 1]);
      slope_[j] = std::exp(d / (1 + std::abs(d / kLog)));
    }
  }

  Real value(Real x) const {
    const std::size_t k = bin(x);
    if (k == slope_.size()) return x;
    const Parts p = parts(x, k);
    return y_[k] + (y_[k + 1] - y_[k]) * (p.s * p.t * p.t + slope_[k] * p.u) / p.denominator;
  }

  Real log_determinant(Real x) const {
    const std::size_t k = bin(x);
    if (k == slope_.size()) return 0;
    const Parts p = parts(x, k);
    const Real numerator =
        2 * p.s * p.u + slope_[k] * (1 - p.t) * (1 - p.t) + slope_[k + 1] * p.t * p.t;
    return std::log(p.s * p.s * numerator / (p.denominator * p.denominator));
  }

  const std::vector<Real>& x_knots() const { return x_; }
  const std::vector<Real>& y_knots() const { return y_; }

 private:
  static constexpr Real kLog = -6.907755278982137L;  // ln 1e-3

  struct Parts {
    Real s, t, u, denominator;
  };

  template <typename T>
  static std::vector<Real> knots(std::size_t bins, const std::vector<T>& raw, std::size_t first) {
    std::vector<Real> result = {0};
    for (std::size_t j = 0; j < bins; ++j) {
      const auto w = static_cast<Real>(raw[first + j]);
      result.push_back(result.back() + std::exp(w / (1 + std::abs(2 * w / kLog))));
    }
    const Real sum = result.back();
    for (Real& knot : result) knot = 5 * (2 * (knot / sum) - 1);
    return result;
  }

  // k = (number of knots strictly below x) - 1, or slope_.size() for the identity outside.
  std::size_t bin(Real x) const {
    std::size_t below = 0;
    for (const Real knot : x_) below += knot < x ? 1 : 0;
    return below == 0 || below == x_.size() ? slope_.size() : below - 1;
  }

  Parts parts(Real x, std::size_t k) const {
    Parts p;
    const Real width = x_[k + 1] - x_[k];
    p.s = (y_[k + 1] - y_[k]) / width;
    p.t = (x - x_[k]) / width;
    p.u = p.t * (1 - p.t);
    p.denominator = p.s + (slope_[k] + slope_[k + 1] - 2 * p.s) * p.u;
    return p;
  }

  std::vector<Real> x_, y_, slope_;
};

}  // namespace jeffreys::kernels

// Collects errors in units of what each may be, so that a test over many numbers states one law and
// shows its worst case.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <ostream>

namespace jeffreys::kernels {

template <typename T>
inline constexpr double kEpsilon = static_cast<double>(std::numeric_limits<T>::epsilon());

class ErrorMeter {
 public:
  template <typename T, typename U>
  void add(T actual, U expected, double bound) {
    const auto a = static_cast<double>(actual);
    const auto e = static_cast<double>(expected);
    add_ratio(a == e ? 0 : std::abs(a - e) / bound, a, e);
  }

  // low <= actual <= high; outside of it the distance is measured in units of the bound.
  void add_between(double actual, long double low, long double high, double bound) {
    const long double nearest = std::max(low, std::min(high, static_cast<long double>(actual)));
    const auto ratio = static_cast<double>(std::abs(actual - nearest) / bound);
    add_ratio(ratio, actual, static_cast<double>(nearest));
  }

  // The worst error in units of its bound; infinite if an error was not a number.
  double worst() const { return worst_; }
  std::size_t count() const { return count_; }

  friend std::ostream& operator<<(std::ostream& out, const ErrorMeter& meter) {
    out.precision(17);
    return out << "number " << meter.worst_at_ << " of " << meter.count_ << ": " << meter.actual_
               << " instead of " << meter.expected_;
  }

 private:
  void add_ratio(double ratio, double actual, double expected) {
    if (!std::isfinite(ratio)) ratio = std::numeric_limits<double>::infinity();
    if (ratio > worst_) {
      worst_ = ratio;
      worst_at_ = count_;
      actual_ = actual;
      expected_ = expected;
    }
    ++count_;
  }

  double worst_ = 0;
  double actual_ = 0;
  double expected_ = 0;
  std::size_t worst_at_ = 0;
  std::size_t count_ = 0;
};

}  // namespace jeffreys::kernels

#include "table/ties.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

namespace jeffreys {
namespace {

constexpr int kMostDecimals = 12;

bool is_float(double value) { return static_cast<double>(static_cast<float>(value)) == value; }

// The greatest common divisor of value * power over all values, or 0 unless every value is the
// number nearest to a multiple of 1 / power: in double, or in float when all values are floats.
// Beyond the limits on the multiples most numbers would pass by chance.
std::int64_t common_divisor(const std::vector<double>& values, double power, bool floats) {
  const double limit = floats ? 1e6 : 1e13;
  std::int64_t divisor = 0;
  for (const double value : values) {
    const double multiple = std::round(value * power);
    if (!(std::abs(multiple) <= limit)) return 0;
    const double nearest = multiple / power;
    const bool fits =
        floats ? static_cast<float>(nearest) == static_cast<float>(value) : nearest == value;
    if (!fits) return 0;
    if (divisor != 1) divisor = std::gcd(divisor, static_cast<std::int64_t>(multiple));
  }
  return divisor;
}

double decimal_step(const std::vector<double>& values, bool floats) {
  double power = 1;
  for (int decimals = 0; decimals <= kMostDecimals; ++decimals, power *= 10) {
    const std::int64_t divisor = common_divisor(values, power, floats);
    if (divisor > 0) return static_cast<double>(divisor) / power;
  }
  return 0;
}

double least_gap(const std::vector<double>& sorted) {
  // Gaps below this are the rounding of one value computed in two ways.
  const double rounding = 1e-9 * (sorted.back() - sorted.front());
  double least = 0;
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    const double gap = sorted[i] - sorted[i - 1];
    if (gap > rounding && (least == 0 || gap < least)) least = gap;
  }
  return least;
}

bool fits(const std::vector<double>& sorted, double step) {
  return std::all_of(sorted.begin(), sorted.end(), [&](double value) {
    const double multiple = (value - sorted.front()) / step;
    return std::abs(multiple - std::round(multiple)) < 1e-6;
  });
}

}  // namespace

bool Lattice::whole() const {
  return step > 0 && std::floor(step) == step && std::floor(offset) == offset;
}

Repeats count_repeats(const std::vector<double>& sorted) {
  Repeats repeats;
  std::size_t run = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    run = i > 0 && sorted[i] == sorted[i - 1] ? run + 1 : 1;
    if (run == 1) ++repeats.distinct;
    if (run <= repeats.most) continue;
    repeats.most = run;
    repeats.most_frequent = sorted[i];
  }
  const auto rows = static_cast<double>(sorted.size());
  repeats.ties = static_cast<double>(repeats.distinct) < 0.9 * rows ||
                 (repeats.most >= 3 && static_cast<double>(repeats.most) > 0.02 * rows);
  return repeats;
}

std::vector<double> take_atoms(std::vector<double>& sorted) {
  constexpr std::size_t kMostAtoms = 3;
  constexpr std::size_t kLeastRows = 10;
  constexpr double kLeastShare = 0.05;
  constexpr std::size_t kLeastOthers = 20;
  std::vector<double> others = sorted;
  std::vector<double> atoms;
  for (;;) {
    if (others.size() < kLeastOthers) return {};
    const Repeats repeats = count_repeats(others);
    if (!repeats.ties) break;
    if (atoms.size() == kMostAtoms || repeats.most < kLeastRows ||
        static_cast<double>(repeats.most) < kLeastShare * static_cast<double>(sorted.size())) {
      return {};
    }
    atoms.push_back(repeats.most_frequent);
    std::erase(others, repeats.most_frequent);
  }
  if (!atoms.empty()) sorted = std::move(others);
  return atoms;
}

Lattice find_lattice(const std::vector<double>& sorted) {
  Lattice lattice;
  lattice.least_gap = least_gap(sorted);
  lattice.step = decimal_step(sorted, false);
  if (lattice.step == 0 && std::all_of(sorted.begin(), sorted.end(), is_float)) {
    lattice.step = decimal_step(sorted, true);
  }
  if (lattice.step > 0 || lattice.least_gap == 0) return lattice;
  const double range = sorted.back() - sorted.front();
  const double steps = std::round(range / lattice.least_gap);
  if (steps <= 1e6 && fits(sorted, range / steps)) {
    lattice.step = range / steps;
    lattice.offset = sorted.front();
  }
  return lattice;
}

Rounding::Rounding(double step, double offset) : step_(step), offset_(offset) {
  double power = 1;
  for (int decimals = 0; decimals <= kMostDecimals; ++decimals, power *= 10) {
    const auto exact = [&](double value) { return std::round(value * power) / power == value; };
    if (step > 0 && exact(step) && exact(offset)) {
      power_ = power;
      return;
    }
  }
}

double Rounding::operator()(double value) const {
  if (step_ <= 0 || !std::isfinite(value)) return value;
  const double rounded = offset_ + std::round((value - offset_) / step_) * step_;
  if (!std::isfinite(rounded)) return value;
  constexpr double kExact = 0x1p53;
  if (power_ == 0 || std::abs(rounded * power_) >= kExact) return rounded;
  // Adding 0 turns -0 into 0.
  return std::round(rounded * power_) / power_ + 0.0;
}

}  // namespace jeffreys

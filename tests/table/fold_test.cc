// Values beyond an end, folded back inside.
#include "table/fold.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

namespace jeffreys {
namespace {

constexpr double kNoEnd = std::numeric_limits<double>::infinity();

std::vector<Bounds> supports() {
  return {{-1, 1}, {0, 1e-9}, {1e6, 1e6 + 1}, {-1e100, 3e100}, {.lower = 2}, {.upper = -3}, {}};
}

// Around both ends, in units of the support's width, or of 1 where there is none.
std::vector<double> values_around(const Bounds& support) {
  const bool two = std::isfinite(support.lower) && std::isfinite(support.upper);
  const double unit = two ? support.upper - support.lower : 1;
  const double middle = std::isfinite(support.lower)   ? support.lower
                        : std::isfinite(support.upper) ? support.upper
                                                       : 0;
  std::vector<double> values;
  for (double place = -3.05; place < 4; place += 0.1) values.push_back(middle + place * unit);
  return values;
}

bool contains(const Bounds& support, double value) {
  return value > support.lower && value < support.upper;
}

TEST(Fold, LeavesValuesInsideAsTheyAre) {
  for (const Bounds& support : supports()) {
    for (const double value : values_around(support)) {
      if (!contains(support, value)) continue;
      EXPECT_EQ(Fold(support).inside(value), value);
    }
  }
}

TEST(Fold, IsStrictlyInsideForEveryNumber) {
  for (const Bounds& support : supports()) {
    const Fold fold(support);
    for (const double size : {0.0, 1.0, 2.0, 3.0, 40.0, 1e6, 1e10, 1e300, kNoEnd}) {
      for (const double value : {-size, size}) {
        const double inside = fold.inside(value);
        EXPECT_TRUE(std::isfinite(inside) && contains(support, inside)) << value;
      }
    }
    EXPECT_TRUE(std::isnan(fold.inside(std::nan(""))));
  }
}

TEST(Fold, IsAReflectionNearAnEnd) {
  const Fold fold({-1, 1});
  EXPECT_NEAR(fold.inside(-1.001), -0.999, 1e-6);
  EXPECT_NEAR(fold.inside(1.001), 0.999, 1e-6);
  EXPECT_EQ(Fold({.lower = 2}).inside(-5), 9);
  EXPECT_EQ(Fold({.upper = -3}).inside(-2), -4);
}

TEST(Fold, SourcesAreBeyondTheirEndAndFoldToTheValue) {
  for (const Bounds& support : supports()) {
    const Fold fold(support);
    const double rounding =
        1e-14 * std::max(std::isfinite(support.lower) ? std::abs(support.lower) : 0.0,
                         std::isfinite(support.upper) ? std::abs(support.upper) : 0.0);
    for (const double value : values_around(support)) {
      if (!contains(support, value)) continue;
      EXPECT_EQ(fold.below(value).has_value(), std::isfinite(support.lower));
      EXPECT_EQ(fold.above(value).has_value(), std::isfinite(support.upper));
      if (const auto source = fold.below(value)) {
        EXPECT_LT(source->value, support.lower);
        EXPECT_NEAR(fold.inside(source->value), value, rounding);
      }
      if (const auto source = fold.above(value)) {
        EXPECT_GT(source->value, support.upper);
        EXPECT_NEAR(fold.inside(source->value), value, rounding);
      }
    }
  }
}

TEST(Fold, SlopesAreThoseOfTheSources) {
  for (const Bounds& support : {Bounds{-1, 1}, Bounds{.lower = 2}, Bounds{.upper = -3}}) {
    const Fold fold(support);
    constexpr double kStep = 1e-6;
    for (const double value : values_around(support)) {
      if (!contains(support, value)) continue;
      for (const auto side : {&Fold::below, &Fold::above}) {
        const auto source = (fold.*side)(value);
        if (!source) continue;
        const double rise = (fold.*side)(value + kStep)->value - (fold.*side)(value - kStep)->value;
        EXPECT_NEAR(std::log(std::abs(rise) / (2 * kStep)), source->log_slope, 1e-7);
      }
    }
  }
}

// What a density of folded values must sum, for normal ones that spill over both ends.
TEST(Fold, TheDensityOfFoldedValuesIntegratesToOne) {
  for (const Bounds& support : {Bounds{-1, 1}, Bounds{.lower = -1}, Bounds{.upper = 0.5}}) {
    const Fold fold(support);
    const auto density = [](double x) {
      const double z = (x - 0.3) / 0.9;
      return std::exp(-0.5 * z * z) / (0.9 * std::sqrt(2 * std::numbers::pi));
    };
    const double from = std::max(support.lower, -9.0);
    const double to = std::min(support.upper, 9.0);
    constexpr int kCells = 100'000;
    double mass = 0;
    for (int i = 0; i < kCells; ++i) {
      const double value = from + (to - from) * (i + 0.5) / kCells;
      double sum = density(value);
      for (const auto& source : {fold.below(value), fold.above(value)}) {
        if (source) sum += density(source->value) * std::exp(source->log_slope);
      }
      mass += sum * (to - from) / kCells;
    }
    EXPECT_NEAR(mass, 1, 1e-6);
  }
}

}  // namespace
}  // namespace jeffreys

// Smoothed densities against ones that are known.
#include "report/smooth_density.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "kernels/random.h"

namespace jeffreys::report {
namespace {

std::vector<double> numbers(std::size_t n, std::uint16_t purpose, bool normal) {
  std::vector<double> filled(n);
  const kernels::RandomArguments<double> arguments{{1, purpose, 0}, 0, n, 1, filled.data()};
  normal ? kernels::fill_normals(arguments) : kernels::fill_uniforms(arguments);
  return filled;
}

// The share of the samples in cells where the density reaches the threshold.
double share_inside(const SmoothDensity& smooth, const std::vector<double>& x,
                    const std::vector<double>& y, const Interval& range, double threshold) {
  const auto cell = [&](double value, Eigen::Index cells) {
    return static_cast<Eigen::Index>((value - range.min) / (range.max - range.min) *
                                     static_cast<double>(cells));
  };
  double inside = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Eigen::Index row = smooth.density.rows() == 1 ? 0 : cell(y[i], smooth.density.rows());
    if (smooth.density(row, cell(x[i], smooth.density.cols())) >= threshold) ++inside;
  }
  return inside / static_cast<double>(x.size());
}

TEST(SmoothDensity, RegionsHoldTheirShareOfTheSamples) {
  const auto x = numbers(4000, 0, true);
  const auto y = numbers(4000, 1, true);
  const Interval range{-7, 7};
  const SmoothDensity one = smooth_density(x, range, 200);
  const SmoothDensity two = smooth_density(x, range, y, range, 100);
  for (std::size_t i = 0; i < kRegionShares.size(); ++i) {
    // No more than the samples of a cell are beyond the share.
    EXPECT_NEAR(share_inside(one, x, y, range, one.thresholds[i]), kRegionShares[i], 0.03);
    EXPECT_NEAR(share_inside(two, x, y, range, two.thresholds[i]), kRegionShares[i], 0.01);
    EXPECT_GE(share_inside(two, x, y, range, two.thresholds[i]), kRegionShares[i]);
  }
}

TEST(SmoothDensity, IsThatOfAGaussian) {
  const SmoothDensity smooth = smooth_density(numbers(20000, 0, true), {-5, 5}, 100);
  const double integral = 0.1 * smooth.density.sum();
  for (Eigen::Index c = 0; c < 100; ++c) {
    const double x = -5 + 0.1 * (static_cast<double>(c) + 0.5);
    const double expected = std::exp(-0.5 * x * x) / std::sqrt(2 * std::numbers::pi);
    // A cell at the top has the standard error 0.014 before it is smoothed, about 0.005 after; the
    // bias of smoothing adds as much.
    EXPECT_NEAR(smooth.density(0, c) / integral, expected, 0.025) << x;
  }
}

TEST(SmoothDensity, KeepsItsHeightAtTheEnds) {
  const SmoothDensity smooth = smooth_density(numbers(20000, 0, false), {0, 1}, 100);
  // Zero beyond the ends would halve it there; flat, the highest is 1.
  EXPECT_GT(smooth.density(0, 0), 0.85);
  EXPECT_GT(smooth.density(0, 99), 0.85);
}

TEST(SmoothDensity, HasOneTopWhereOneIsTrue) {
  const SmoothDensity smooth = smooth_density(numbers(1000, 0, true), {-4, 4}, 192);
  int tops = 0;
  for (Eigen::Index c = 1; c < 191; ++c) {
    const bool top = smooth.density(0, c) > smooth.density(0, c - 1) &&
                     smooth.density(0, c) >= smooth.density(0, c + 1);
    tops += top && smooth.density(0, c) > 0.2 ? 1 : 0;
  }
  EXPECT_EQ(tops, 1);
}

TEST(SmoothDensity, PutsXAlongTheColumns) {
  const SmoothDensity smooth = smooth_density(std::vector<double>(30, 0.1), {0, 1},
                                              std::vector<double>(30, 0.81), {0, 1}, 50);
  Eigen::Index row = 0;
  Eigen::Index column = 0;
  smooth.density.maxCoeff(&row, &column);
  EXPECT_EQ(row, 40);
  EXPECT_EQ(column, 5);
}

TEST(SmoothDensity, IgnoresSamplesOutside) {
  const SmoothDensity smooth =
      smooth_density({-3, 0.5, 0.5, 7, std::nan("")}, {0, 1}, {0.5, 0.5, 0.5, 0.5, 0.5}, {0, 1}, 5);
  EXPECT_EQ(smooth.density(2, 2), 1);
  EXPECT_EQ(smooth_density({5, 6}, {0, 1}, 5).density.sum(), 0);
}

TEST(SmoothDensity, RefinedCellsLieBetweenTheirNeighbours) {
  Matrix<double> cells(1, 2);
  cells << 0, 3;
  const Matrix<double> fine = refined(cells, 3);
  ASSERT_EQ(fine.rows(), 3);
  ASSERT_EQ(fine.cols(), 6);
  const std::vector<double> expected = {0, 0, 1, 2, 3, 3};
  for (Eigen::Index c = 0; c < 6; ++c) {
    EXPECT_NEAR(fine(1, c), expected[static_cast<std::size_t>(c)], 1e-12);
  }
}

}  // namespace
}  // namespace jeffreys::report

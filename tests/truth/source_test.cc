#include "jeffreys/truth/source.h"
#include "support/not_finite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace jeffreys {
namespace {

class SourceLaws : public ::testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<Source> source_ = make_source(GetParam());
};

// Probabilities of cells [per_side][per_side] of the range, by the midpoint rule within each.
std::vector<double> cell_masses(const Source& source, int per_side, int refinement) {
  const PlaneRange range = source.range();
  const int lines = per_side * refinement;
  const double dx = (range.x_max - range.x_min) / lines;
  const double dy = (range.y_max - range.y_min) / lines;
  std::vector<double> masses(static_cast<std::size_t>(per_side * per_side));
  Matrix<double> line(lines, 2);
  for (int i = 0; i < lines; ++i) {
    for (int j = 0; j < lines; ++j)
      line.row(j) << range.x_min + dx * (j + 0.5), range.y_min + dy * (i + 0.5);
    const Vector<double> log_p = source.log_prob(line);
    for (int j = 0; j < lines; ++j) {
      const int cell = (i / refinement) * per_side + j / refinement;
      masses[static_cast<std::size_t>(cell)] += std::exp(log_p[j]) * dx * dy;
    }
  }
  return masses;
}

double sum(const std::vector<double>& values) {
  double total = 0;
  for (const double value : values) total += value;
  return total;
}

TEST_P(SourceLaws, DensityIntegratesToOne) {
  // 800 lines resolve the narrowest source, the spiral, with 0.8 points a deviation.
  EXPECT_NEAR(sum(cell_masses(*source_, 1, 800)), 1, 1e-3);
}

TEST_P(SourceLaws, MeanLogDensityOfSamplesIsMinusEntropy) {
  constexpr Eigen::Index kRows = 40000;
  const Vector<double> log_p = source_->log_prob(source_->sample(kRows, 3));
  ASSERT_TRUE(log_p.allFinite());
  const double mean = log_p.mean();
  const double error = std::sqrt((log_p.array() - mean).square().mean() / kRows);
  EXPECT_NEAR(-mean, source_->entropy(), 4 * error);
  EXPECT_LT(error, 0.01);
}

TEST_P(SourceLaws, SamplesFillCellsByTheirProbability) {
  constexpr int kCells = 20;
  constexpr int kRows = 40000;
  const std::vector<double> masses = cell_masses(*source_, kCells, 40);
  const PlaneRange range = source_->range();
  std::vector<double> counts(masses.size());
  const Matrix<double> x = source_->sample(kRows, 4);
  for (const auto& row : x.rowwise()) {
    const int i = static_cast<int>(kCells * (row[1] - range.y_min) / (range.y_max - range.y_min));
    const int j = static_cast<int>(kCells * (row[0] - range.x_min) / (range.x_max - range.x_min));
    ++counts.at(static_cast<std::size_t>(i * kCells + j));
  }
  double chi_square = 0;
  int cells = 0;
  double other_expected = 0;
  double other_count = 0;
  for (std::size_t c = 0; c < masses.size(); ++c) {
    const double expected = kRows * masses[c];
    if (expected >= 10) {
      chi_square += (counts[c] - expected) * (counts[c] - expected) / expected;
      ++cells;
    } else {
      other_expected += expected;
      other_count += counts[c];
    }
  }
  // A chi-square with k degrees has mean k and deviation sqrt(2 k).
  EXPECT_LT(chi_square, cells + 4 * std::sqrt(2.0 * cells));
  EXPECT_NEAR(other_count, other_expected, 4 * std::sqrt(other_expected) + 1);
  EXPECT_GT(cells, 4);
}

TEST_P(SourceLaws, SameSeedSameBits) {
  const Matrix<double> first = source_->sample(100, 5, 2);
  EXPECT_EQ(first, make_source(GetParam())->sample(100, 5, 2));
  EXPECT_EQ(first.topRows(37), source_->sample(37, 5, 2));
  EXPECT_NE(first, source_->sample(100, 6, 2));
  EXPECT_NE(first, source_->sample(100, 5, 3));
}

TEST_P(SourceLaws, SuccessiveRowsAreIndependent) {
  constexpr Eigen::Index kRows = 20000;
  const Matrix<double> x = source_->sample(kRows, 7);
  for (int c = 0; c < 2; ++c) {
    const Vector<double> centered = x.col(c).array() - x.col(c).mean();
    const double correlation =
        centered.head(kRows - 1).dot(centered.tail(kRows - 1)) / centered.squaredNorm();
    EXPECT_NEAR(correlation, 0, 4 / std::sqrt(kRows)) << "standard error 1 / sqrt(rows)";
  }
}

TEST_P(SourceLaws, FarAndUndefinedPointsStayInTheirRows) {
  const double infinity = std::numeric_limits<double>::infinity();
  Matrix<double> x(7, 2);
  x << source_->sample(1, 1), kNan, 0, 0, infinity, 1e200, -1e200, 50, -50, 1e18, 1e18, 1e153, 0;
  const Vector<double> log_p = source_->log_prob(x);
  EXPECT_TRUE(std::isfinite(log_p[0]));
  EXPECT_TRUE(std::isnan(log_p[1]));
  EXPECT_EQ(log_p[2], -infinity);
  EXPECT_EQ(log_p[3], -infinity);
  if (GetParam() == "rings") {
    EXPECT_EQ(log_p[4], -infinity);
    EXPECT_EQ(log_p[5], -infinity);
  } else {
    EXPECT_LT(log_p[4], -1000);
    EXPECT_TRUE(std::isfinite(log_p[4]));
    EXPECT_TRUE(std::isfinite(log_p[5]));
  }
  EXPECT_LT(log_p[6], -1e300);
}

INSTANTIATE_TEST_SUITE_P(All, SourceLaws, ::testing::ValuesIn(source_names()),
                         [](const auto& each) { return each.param; });

TEST(Source, RingHasTheEntropyOfItsGaussiansAndItsChoice) {
  // Components do not overlap: log 8 + 1 + log(2 pi 0.05^2).
  const double apart = std::log(8.0) + 1 + std::log(2 * M_PI * 0.05 * 0.05);
  EXPECT_NEAR(make_source("ring")->entropy(), apart, 1e-6);
}

TEST(Source, RingAndGridHaveCentersOfUnitVariance) {
  for (const char* name : {"ring", "grid"}) {
    constexpr Eigen::Index kRows = 40000;
    const Matrix<double> x = make_source(name)->sample(kRows, 8);
    for (int c = 0; c < 2; ++c) {
      const double variance = (x.col(c).array() - x.col(c).mean()).square().mean();
      EXPECT_NEAR(variance, 1 + 0.05 * 0.05, 4 / std::sqrt(kRows))
          << "squares of both have a deviation below 1: standard error 1 / sqrt(rows)";
    }
  }
}

TEST(Source, RingsAreNotCentered) {
  constexpr Eigen::Index kRows = 40000;
  const Matrix<double> x = make_source("rings")->sample(kRows, 9);
  // Coordinates have deviation 0.32.
  EXPECT_NEAR(x.col(0).mean(), 0.05, 4 * 0.32 / std::sqrt(kRows));
  EXPECT_NEAR(x.col(1).mean(), 0.05, 4 * 0.32 / std::sqrt(kRows));
}

TEST(Source, MoonsAgreeWithASumOfManyGaussians) {
  const auto source = make_source("moons");
  const Matrix<double> x = source->sample(50, 10);
  const Vector<double> log_p = source->log_prob(x);
  constexpr int kSteps = 20000;
  for (Eigen::Index r = 0; r < x.rows(); ++r) {
    double total = 0;
    for (int i = 0; i < kSteps; ++i) {
      const double t = M_PI * (i + 0.5) / kSteps;
      const double upper = std::pow(x(r, 0) - std::cos(t), 2) + std::pow(x(r, 1) - std::sin(t), 2);
      const double lower =
          std::pow(x(r, 0) - 1 + std::cos(t), 2) + std::pow(x(r, 1) - 0.5 + std::sin(t), 2);
      total += std::exp(-upper / 0.005) + std::exp(-lower / 0.005);
    }
    EXPECT_NEAR(log_p[r], std::log(total / (2 * kSteps * 2 * M_PI * 0.0025)), 1e-6);
  }
}

TEST(Source, Gmm40IsPlacedByItsSeed) {
  const auto source = make_source("gmm40");
  // Below that of 40 components apart, above that of 15 such.
  const double one = 1 + std::log(2 * M_PI * 0.05 * 0.05);
  EXPECT_LT(source->entropy(), std::log(40.0) + one);
  EXPECT_GT(source->entropy(), std::log(15.0) + one);
  const Vector<double> mean = source->sample(20000, 2).colwise().mean();
  // Of 40 uniform centres, with standard error 0.29 / sqrt(40).
  EXPECT_NEAR(mean[0], 0.5, 4 * 0.046);
  EXPECT_NEAR(mean[1], 0.5, 4 * 0.046);
  EXPECT_NE(source->sample(10, 1), make_source("gmm40", 1)->sample(10, 1));
}

TEST(Source, RefusesWhatItDoesNotKnow) {
  try {
    make_source("swirl");
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("two_gaussians"));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("'swirl'"));
  }
  EXPECT_THROW(make_source("ring")->log_prob(Matrix<double>(3, 1)), std::invalid_argument);
  EXPECT_THROW(make_source("ring")->sample(-1, 0), std::invalid_argument);
  EXPECT_EQ(make_source("ring")->sample(0, 0).rows(), 0);
}

}  // namespace
}  // namespace jeffreys

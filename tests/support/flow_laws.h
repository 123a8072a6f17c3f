// Laws of a spline flow, as checks that report through GoogleTest. They hold for any parameters, so
// they are checked for fresh flows, perturbed ones, and flows after training.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include <Eigen/LU>

#include "support/finite_differences.h"
#include "support/model_helpers.h"

namespace jeffreys::testing {

// Mean with its standard error.
struct Mean {
  explicit Mean(const Vector<double>& values)
      : value(values.mean()),
        error(std::sqrt((values.array() - value).square().sum()) /
              static_cast<double>(values.size())) {}
  double value;
  double error;
};

// How far, at most, a component of a row's image moves when the row moves by 1 in some direction of
// signs: how much rounding grows on the way.
template <typename Map>
Vector<double> growth_of(const Map& map, const Matrix<double>& rows) {
  constexpr double kMove = 1e-7;
  Vector<double> growth = Vector<double>::Zero(rows.rows());
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const Matrix<double> move = kMove * normals(rows.rows(), rows.cols(), seed).array().sign();
    const Matrix<double> difference = map(rows + move) - map(rows - move);
    growth = growth.cwiseMax(difference.cwiseAbs().rowwise().maxCoeff() / (2 * kMove)).eval();
  }
  return growth;
}

// Where x has a map's image y, and the other map brings y back to `again`: x within the tolerance,
// for x of magnitude 1. No arithmetic can undo a map that presses x together: the rounding of y
// comes back grown. So 32 sqrt(features) units in the last place (rounding of sums over features)
// times that growth are granted where they exceed the tolerance: with 5 features that takes a
// growth of 6,000 in double and of 12 in float. Rows in which it exceeds 1e6 do not count; a share
// of the rows has to.
template <typename T, typename Map>
void expect_back(const Matrix<T>& x, const Matrix<T>& y, const Matrix<T>& again, const Map& back,
                 double tolerance, double share) {
  const Vector<double> growth = growth_of(back, y.template cast<double>());
  const Matrix<double> error =
      ((again - x).array().abs() / (1 + x.array().abs())).template cast<double>();
  const double unit = 32 * std::sqrt(static_cast<double>(x.cols())) *
                      static_cast<double>(std::numeric_limits<T>::epsilon());
  double compared = 0;
  for (Eigen::Index r = 0; r < x.rows(); ++r) {
    if (growth[r] > 1e6) continue;
    ++compared;
    const double rounding = unit * growth[r];
    EXPECT_LE(error.row(r).maxCoeff(), std::max(tolerance, rounding))
        << "row " << r << ", growth " << growth[r];
  }
  EXPECT_GE(compared, share * static_cast<double>(x.rows()));
}

// Both ways round: data to noise to data, and noise to data to noise.
template <typename T>
void expect_inverse(const SplineFlow<T>& flow, const Matrix<T>& rows, const Matrix<T>& context,
                    double tolerance, double share = 1.0) {
  const SplineFlow<double> twin = in_double(flow);
  const Matrix<double> conditions = context.template cast<double>();
  const auto to_data = [&](const Matrix<double>& z) {
    return twin.sample_from_noise(z, conditions).x;
  };
  const auto to_noise = [&](const Matrix<double>& x) { return twin.to_noise(x, conditions); };
  const Matrix<T> noise = flow.to_noise(rows, context);
  expect_back<T>(rows, noise, flow.sample_from_noise(noise, context).x, to_data, tolerance, share);
  const Matrix<T> data = flow.sample_from_noise(rows, context).x;
  expect_back<T>(rows, data, flow.to_noise(data, context), to_noise, tolerance, share);
}

// The log density that comes with samples is that of a fresh evaluation.
template <typename T>
void expect_samples_know_their_density(const SplineFlow<T>& flow, const Matrix<T>& context,
                                       double tolerance) {
  const Samples<T> samples = flow.sample(200, context, {.seed = 41});
  const Vector<T> fresh = flow.log_prob(samples.x, context);
  const double error = static_cast<double>(
      ((samples.log_prob - fresh).array().abs() / (1 + fresh.array().abs())).maxCoeff());
  EXPECT_LE(error, tolerance);
}

// log p(x) = log N(z; 0, I) + log |det dz/dx|, with the Jacobian by finite differences, in every
// row where these are to be trusted. A share of the rows has to.
inline void expect_density_is_jacobian(const SplineFlow<double>& flow, const Matrix<double>& x,
                                       const Matrix<double>& context, double tolerance,
                                       double share = 0.4) {
  const Eigen::Index features = flow.features();
  const auto rows = static_cast<std::size_t>(x.rows());
  const Matrix<double> z = flow.to_noise(x, context);
  std::vector<Eigen::MatrixXd> jacobians(rows, Eigen::MatrixXd(features, features));
  std::vector<Eigen::MatrixXd> doubts = jacobians;
  for (Eigen::Index j = 0; j < features; ++j) {
    const RowDerivatives column = differentiate([&](double step) -> Vector<double> {
      Matrix<double> moved = x;
      moved.col(j).array() += step;
      return flow.to_noise(moved, context).template reshaped<Eigen::RowMajor>();
    });
    for (std::size_t r = 0; r < rows; ++r) {
      const auto first = static_cast<Eigen::Index>(r) * features;
      jacobians[r].col(j) = column.value.segment(first, features);
      doubts[r].col(j) = column.doubt.segment(first, features);
    }
  }
  const Vector<double> actual = flow.log_prob(x, context);
  double compared = 0;
  for (Eigen::Index r = 0; r < x.rows(); ++r) {
    const Eigen::PartialPivLU<Eigen::MatrixXd> factors(jacobians[static_cast<std::size_t>(r)]);
    // To first order, the log determinant changes by the trace of J^-1 dJ. Differences of numbers
    // of magnitude 5 over steps of 1e-5 have a rounding error of 1e-10 at best.
    const Eigen::MatrixXd inverse = factors.inverse().cwiseAbs();
    const Eigen::ArrayXXd doubt = doubts[static_cast<std::size_t>(r)].array().max(
        1e-10 * (jacobians[static_cast<std::size_t>(r)].array() != 0).cast<double>());
    if (!((inverse.transpose().array() * doubt).sum() < tolerance / 4)) continue;
    ++compared;
    const double expected = -0.5 * z.row(r).squaredNorm() -
                            0.5 * std::log(2 * std::numbers::pi) * static_cast<double>(features) +
                            factors.matrixLU().diagonal().array().abs().log().sum();
    EXPECT_NEAR(actual[r], expected, tolerance) << "row " << r;
    const double sign = static_cast<double>(factors.permutationP().determinant()) *
                        factors.matrixLU().diagonal().array().sign().prod();
    EXPECT_EQ(sign, 1.0) << "row " << r;
  }
  EXPECT_GE(compared, share * static_cast<double>(x.rows()));
}

// In each transform alone, a feature's noise does not change by a single bit when features that
// come after it in the transform's order change, and does change with the feature itself.
template <typename T>
void expect_triangular(const SplineFlow<T>& flow, const Matrix<T>& x, const Matrix<T>& context) {
  for (Eigen::Index t = 0; t < flow.options().transforms; ++t) {
    const SplineFlow<T> transform = single_transform(flow, t);
    const std::vector<std::int64_t>& order = transform.options().orders[0];
    const Matrix<T> before = transform.to_noise(x, context);
    for (Eigen::Index j = 0; j < flow.features(); ++j) {
      Matrix<T> moved = x;
      moved.col(j).array() += T(0.5);
      const Matrix<T> after = transform.to_noise(moved, context);
      EXPECT_TRUE((after.col(j).array() > before.col(j).array()).all())
          << "transform " << t << ", feature " << j;
      for (Eigen::Index i = 0; i < flow.features(); ++i) {
        if (order[static_cast<std::size_t>(i)] >= order[static_cast<std::size_t>(j)]) continue;
        ASSERT_TRUE(same_bits(Vector<T>(after.col(i)), Vector<T>(before.col(i))))
            << "transform " << t << ": feature " << i << " moves with feature " << j;
      }
    }
  }
}

// Masked weights are exactly 0, and so is their gradient.
template <typename T>
void expect_masked_weights_are_zero(const SplineFlow<T>& flow, const Matrix<T>& x,
                                    const Matrix<T>& context) {
  const std::vector<std::uint8_t> used = used_parameters(flow);
  std::vector<T> gradient(used.size(), T(0));
  flow.add_scores(x, context, Vector<T>::Ones(x.rows()), gradient);
  Samples<T> samples;
  flow.sample(100, context.rows() == x.rows() ? Matrix<T>(context.topRows(1)) : context,
              {.seed = 42}, samples, KeepTape::yes);
  flow.add_sample_scores(samples, Vector<T>::Ones(100), gradient);
  std::size_t masked = 0;
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (used[i]) continue;
    ++masked;
    ASSERT_EQ(flow.parameters()[i], T(0)) << "parameter " << i;
    ASSERT_EQ(gradient[i], T(0)) << "parameter " << i;
  }
  EXPECT_EQ(masked > 0, flow.features() > 1);
}

// E[grad log p] = 0 under p. For each block of parameters, the scores' sum over batches of samples
// is projected on random signs: 64 batches of 128 rows give a mean and its standard error. Beyond 5
// of them lies a share of 5e-6 of Student's distribution with 63 degrees of freedom.
template <typename T>
void expect_mean_score_is_zero(const SplineFlow<T>& flow) {
  constexpr Eigen::Index kBatches = 64;
  constexpr Eigen::Index kRows = 128;
  const std::vector<ParameterBlock>& blocks = flow.layout().blocks();
  const auto size = static_cast<Eigen::Index>(flow.layout().size());
  const Matrix<double> signs = normals(1, size, 43).array().sign();
  Matrix<double> projections(kBatches, static_cast<Eigen::Index>(blocks.size()));
  Samples<T> samples;
  for (Eigen::Index b = 0; b < kBatches; ++b) {
    flow.sample(kRows, Matrix<T>(), {.seed = 44, .iteration = static_cast<std::uint64_t>(b)},
                samples, KeepTape::yes);
    Vector<T> gradient = Vector<T>::Zero(size);
    flow.add_sample_scores(samples, Vector<T>::Ones(kRows),
                           {gradient.data(), static_cast<std::size_t>(size)});
    const Matrix<double> products =
        signs.cwiseProduct(gradient.template cast<double>().transpose());
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      projections(b, static_cast<Eigen::Index>(i)) =
          products
              .middleCols(static_cast<Eigen::Index>(blocks[i].offset),
                          static_cast<Eigen::Index>(blocks[i].size))
              .sum();
    }
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const Mean mean(projections.col(static_cast<Eigen::Index>(i)));
    EXPECT_LE(std::abs(mean.value), 5 * mean.error) << blocks[i].name;
  }
}

// Two normalised densities: KL(p || p') >= 0 and E_p[p' / p] = 1. `other` is near `flow`, so that
// both means have small standard errors. 4,000 samples, 4 and 5 standard errors.
template <typename T>
void expect_normalised_beside(const SplineFlow<T>& flow, const SplineFlow<T>& other) {
  const Samples<T> samples = flow.sample(4000, {.seed = 45});
  const Vector<double> log_ratio =
      (flow.log_prob(samples.x) - other.log_prob(samples.x)).template cast<double>();
  const Mean divergence(log_ratio);
  EXPECT_GT(divergence.error, 0);
  EXPECT_GE(divergence.value, -4 * divergence.error);
  const Mean ratio((-log_ratio).array().exp());
  EXPECT_LE(ratio.error, 0.05) << "the flows are too far apart for this test";
  EXPECT_NEAR(ratio.value, 1.0, 5 * ratio.error);
}

// The integral of exp(log p) over [-8, 8]^features by the midpoint rule, for 1 or 2 features.
inline double integral(const SplineFlow<double>& flow, Eigen::Index points) {
  const double width = 16.0 / static_cast<double>(points);
  const Vector<double> axis = Vector<double>::LinSpaced(points, -8 + width / 2, 8 - width / 2);
  if (flow.features() == 1) return flow.log_prob(axis).array().exp().sum() * width;
  double sum = 0;
  Matrix<double> line(points, 2);
  line.col(1) = axis;
  for (const double x : axis) {
    line.col(0).setConstant(x);
    sum += flow.log_prob(line).array().exp().sum();
  }
  return sum * width * width;
}

}  // namespace jeffreys::testing

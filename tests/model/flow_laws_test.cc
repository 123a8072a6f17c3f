// What makes a flow a density holds for any parameters: fresh, perturbed, extreme, and after
// training. The last matters most: a kernel that writes beyond a mask passes every test of fresh
// weights.
#include "support/flow_laws.h"

#include <gtest/gtest.h>

#include <cmath>
#include <ostream>
#include <string>
#include <vector>

namespace jeffreys {
namespace {

using testing::add_parameter_noise;
using testing::normals;

// Rows in the middle, on the edge of the splines' box, and in the tails beyond it.
Matrix<double> wide_rows(Eigen::Index rows, Eigen::Index features) {
  Matrix<double> x = 1.5 * normals(rows, features, 21);
  x.row(0).setConstant(5);
  x.row(1).setConstant(-5);
  x.row(2).setZero();
  x.row(3) *= 3;
  x.row(4).array() = x.row(4).array().sign() * 7;
  x.row(5).setConstant(std::nextafter(5.0, 6.0));
  x.row(6).setConstant(std::nextafter(5.0, 4.0));
  x.row(7).setConstant(100);
  return x;
}

struct Shape {
  SplineFlowOptions options;
};

std::vector<Shape> shapes() {
  constexpr auto kRandom = FeatureOrder::random;
  return {{{.features = 1, .transforms = 2}},
          {{.features = 1, .context_features = 2, .hidden = {9}}},
          {{.features = 2, .hidden = {16, 16}}},
          {{.features = 2, .context_features = 2, .transforms = 2, .hidden = {16}}},
          {{.features = 3, .transforms = 2, .bins = 1, .hidden = {8}}},
          {{.features = 3, .transforms = 2, .bins = 16, .hidden = {11, 7, 9}, .order = kRandom}},
          {{.features = 5, .context_features = 1, .hidden = {3}, .order = kRandom}},
          {{.features = 5, .transforms = 2, .hidden = {}}},
          {{.features = 11, .transforms = 2, .hidden = {19, 23}, .order = kRandom}}};
}

std::string name_of(const Shape& shape) {
  const SplineFlowOptions& o = shape.options;
  return std::to_string(o.features) + "Features" + std::to_string(o.context_features) + "Context" +
         std::to_string(o.bins) + "Bins" + std::to_string(o.hidden.size()) + "Layers";
}

void PrintTo(const Shape& shape, std::ostream* stream) { *stream << name_of(shape); }

class FlowLaws : public ::testing::TestWithParam<Shape> {
 protected:
  FlowLaws() { add_parameter_noise(perturbed, 0.2, 22); }

  SplineFlow<double> fresh{GetParam().options};
  SplineFlow<double> perturbed{GetParam().options};
  Matrix<double> x = wide_rows(100, GetParam().options.features);
  Matrix<double> context = normals(100, GetParam().options.context_features, 23);
};

TEST_P(FlowLaws, InverseUndoesForward) {
  testing::expect_inverse<double>(fresh, x, context, 1e-10);
  testing::expect_inverse<double>(perturbed, x, context, 1e-10);
}

TEST_P(FlowLaws, InverseUndoesForwardInFloat) {
  SplineFlow<float> flow(GetParam().options);
  testing::expect_inverse<float>(flow, x.cast<float>(), context.cast<float>(), 1e-4);
  add_parameter_noise(flow, 0.1, 22);
  testing::expect_inverse<float>(flow, x.cast<float>(), context.cast<float>(), 1e-4);
}

TEST_P(FlowLaws, SamplesKnowTheirDensity) {
  const Matrix<double> one = context.topRows(1);
  testing::expect_samples_know_their_density<double>(fresh, one, 1e-10);
  testing::expect_samples_know_their_density<double>(perturbed, one, 1e-10);
  testing::expect_samples_know_their_density(SplineFlow<float>(GetParam().options),
                                             Matrix<float>(one.cast<float>()), 1e-4);
}

TEST_P(FlowLaws, DensityIsTheJacobian) {
  testing::expect_density_is_jacobian(fresh, x, context, 1e-7);
  testing::expect_density_is_jacobian(perturbed, x, context, 1e-7);
}

TEST_P(FlowLaws, JacobianIsTriangular) {
  testing::expect_triangular<double>(perturbed, x, context);
  SplineFlow<float> flow(GetParam().options);
  testing::expect_triangular<float>(flow, x.cast<float>(), context.cast<float>());
}

TEST_P(FlowLaws, MaskedWeightsAreZero) {
  testing::expect_masked_weights_are_zero<double>(fresh, x, context);
  testing::expect_masked_weights_are_zero<double>(perturbed, x, context);
}

// What stands in the place of a masked weight has no effect.
TEST_P(FlowLaws, MaskedWeightsAreIgnored) {
  const std::vector<std::uint8_t> used = testing::used_parameters(perturbed);
  const Vector<double> values = perturbed.log_prob(x, context);
  const InputGradient<double> gradient = perturbed.input_gradient(x, context);
  perturbed.edit_parameters([&](std::span<double> parameters) {
    for (std::size_t i = 0; i < used.size(); ++i) {
      if (!used[i]) parameters[i] = 3;
    }
  });
  EXPECT_TRUE(testing::same_bits(perturbed.log_prob(x, context), values));
  EXPECT_TRUE(testing::same_bits(perturbed.input_gradient(x, context).x, gradient.x));
}

// Weights 8 times as large: bins down to 1e-3 wide, slopes down to 1e-7 and up to 1e6. Several such
// transforms in a row press most rows together beyond what double can undo, so each stands alone
// here.
TEST_P(FlowLaws, HoldForExtremeTransforms) {
  testing::make_extreme(fresh);
  for (Eigen::Index t = 0; t < GetParam().options.transforms; ++t) {
    SCOPED_TRACE(t);
    const SplineFlow<double> transform = testing::single_transform(fresh, t);
    testing::expect_inverse<double>(transform, x, context, 1e-10, 0.02);
    testing::expect_density_is_jacobian(transform, x, context, 1e-6, 0.02);
    testing::expect_triangular<double>(transform, x, context);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, FlowLaws, ::testing::ValuesIn(shapes()),
                         [](const auto& test) { return name_of(test.param); });

// At the knots of a flow of one feature: -5 + 10 cumsum(softmax(soft clip(raw))), to the last bit
// and beside it.
TEST(FlowAtKnots, InverseUndoesForward) {
  SplineFlow<double> flow({.features = 1, .transforms = 1});
  add_parameter_noise(flow, 20.0, 24);
  const ParameterBlock& widths = flow.layout().blocks()[0];
  const Eigen::Map<const Eigen::ArrayXd> raw(flow.parameters().data() + widths.offset, 8);
  Eigen::ArrayXd terms = (raw / (1 + (2 * raw / std::log(1e-3)).abs())).exp();
  terms *= 10 / terms.sum();
  ASSERT_LT(terms.minCoeff(), 0.05);  // there are tiny bins
  Matrix<double> x(3 * 9, 1);
  double knot = -5;
  for (Eigen::Index k = 0; k < 9; ++k) {
    x.middleRows(3 * k, 3) << std::nextafter(knot, -10), knot, std::nextafter(knot, 10);
    if (k < 8) knot += terms[k];
  }
  testing::expect_inverse<double>(flow, x, Matrix<double>(), 1e-10);
  // Value and slope are continuous there, so the density is: it changes by rounding alone.
  const Vector<double> density = flow.log_prob(x);
  for (Eigen::Index k = 0; k < 9; ++k) {
    EXPECT_NEAR(density[3 * k], density[3 * k + 1], 1e-9) << "knot " << k;
    EXPECT_NEAR(density[3 * k + 2], density[3 * k + 1], 1e-9) << "knot " << k;
  }
}

TEST(FlowIntegral, IsOne) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    SplineFlow<double> two({.features = 2, .hidden = {16, 16}, .seed = seed});
    EXPECT_NEAR(testing::integral(two, 400), 1.0, 1e-3) << "fresh, seed " << seed;
    add_parameter_noise(two, 0.2, seed);
    EXPECT_NEAR(testing::integral(two, 400), 1.0, 1e-3) << "perturbed, seed " << seed;
    SplineFlow<double> one({.features = 1, .seed = seed});
    EXPECT_NEAR(testing::integral(one, 20000), 1.0, 1e-3) << "one feature, seed " << seed;
  }
}

TEST(FlowScores, HaveMeanZero) {
  for (const Eigen::Index features : {1, 2, 5}) {
    SplineFlow<double> flow({.features = features, .transforms = 2, .hidden = {16}});
    add_parameter_noise(flow, 0.2, 25);
    testing::expect_mean_score_is_zero(flow);
  }
}

struct Start {
  FlowStart start;
  bool looks_at_features;
  bool looks_at_conditions;
};

class FlowStarts : public ::testing::TestWithParam<Start> {};

// How much log p(a, b) - log p(a', b) changes with b: nothing if both features are independent.
double interaction(const SplineFlow<double>& flow, const Matrix<double>& context) {
  Matrix<double> corners(4, 2);
  corners << 0.3, -0.8, 0.3, 0.9, -1.1, -0.8, -1.1, 0.9;
  const Vector<double> p = flow.log_prob(corners, context);
  return std::abs((p[0] - p[2]) - (p[1] - p[3]));
}

TEST_P(FlowStarts, LookAtTheseInputsOnly) {
  for (const std::vector<Eigen::Index>& hidden :
       std::vector<std::vector<Eigen::Index>>{{}, {16}, {16, 16}}) {
    const SplineFlow<double> flow(
        {.features = 2, .context_features = 2, .hidden = hidden, .start = GetParam().start});
    const Matrix<double> here = Matrix<double>::Constant(4, 2, 0.5);
    const Matrix<double> there = Matrix<double>::Constant(4, 2, -0.7);
    const Matrix<double> x = normals(4, 2, 41);
    const double moved = (flow.log_prob(x, here) - flow.log_prob(x, there)).cwiseAbs().maxCoeff();
    if (GetParam().looks_at_features) {
      EXPECT_GT(interaction(flow, here), 1e-3);
    } else {
      EXPECT_LT(interaction(flow, here), 1e-12);
    }
    if (GetParam().looks_at_conditions) {
      EXPECT_GT(moved, 1e-3);
    } else {
      EXPECT_EQ(moved, 0);
    }
  }
}

// What starts at 0 has a gradient all the same.
TEST_P(FlowStarts, LearnToLookAtTheOthers) {
  Matrix<float> x = normals(400, 2, 42).cast<float>();
  const Matrix<float> context = normals(400, 1, 43).cast<float>();
  x.col(0) += 2 * context.col(0);
  x.col(1) -= x.col(0);
  SplineFlow<float> flow(
      {.features = 2, .context_features = 1, .hidden = {16}, .start = GetParam().start});
  const double before = flow.log_prob(x, context).mean();
  EXPECT_GT(testing::train(flow, x, 500, 1e-2, context), before + 1);
}

INSTANTIATE_TEST_SUITE_P(All, FlowStarts,
                         ::testing::Values(Start{FlowStart::random, true, true},
                                           Start{FlowStart::unconditional, true, false},
                                           Start{FlowStart::independent, false, false}),
                         [](const auto& param) { return std::to_string(param.index); });

struct Training {
  SplineFlowOptions options;
  Eigen::Index rows;
  double near;  // noise on the parameters that leaves a flow near
};

void PrintTo(const Training& one, std::ostream* stream) {
  *stream << one.options.features << " features";
}

class TrainedFlowLaws : public ::testing::TestWithParam<Training> {};

// In one test, since training is what takes the time. Trained in float; the laws hold for the float
// flow and for the double flow with the same weights. They are checked on rows that the flow finds
// likely: elsewhere an overfitted flow is as steep as an extreme one.
TEST_P(TrainedFlowLaws, HoldAfter1000Steps) {
  const Eigen::Index features = GetParam().options.features;
  const Matrix<float> data = testing::correlated_rows(GetParam().rows, features, 31).cast<float>();
  SplineFlow<float> flow(GetParam().options);
  const double before = flow.log_prob(data).mean();
  const double after = testing::train(flow, data, 1000, 1e-3);
  EXPECT_GT(after, before + 0.1 * static_cast<double>(features));  // it did learn
  const SplineFlow<double> twin = testing::in_double(flow);
  const Matrix<float> none;
  const Matrix<double> no_context;
  const Matrix<float> x = flow.sample(64, {.seed = 33}).x;
  const Matrix<double> wide_x = twin.sample(64, {.seed = 33}).x;

  testing::expect_masked_weights_are_zero<float>(flow, data, none);
  testing::expect_masked_weights_are_zero<double>(twin, wide_x, no_context);
  testing::expect_triangular<float>(flow, data.topRows(20), none);
  testing::expect_triangular<double>(twin, wide_x.topRows(20), no_context);
  testing::expect_inverse<float>(flow, x, none, 1e-4, 0.9);
  testing::expect_inverse<double>(twin, wide_x, no_context, 1e-10, 0.9);
  testing::expect_samples_know_their_density<float>(flow, none, 3e-4);
  testing::expect_samples_know_their_density<double>(twin, no_context, 1e-10);
  testing::expect_density_is_jacobian(twin, wide_x.topRows(24), no_context, 1e-6);
  testing::expect_mean_score_is_zero(flow);
  if (features <= 2) {
    EXPECT_NEAR(testing::integral(twin, features == 1 ? 20000 : 600), 1.0, 1e-3);
  }
  SplineFlow<float> other = flow;
  add_parameter_noise(other, GetParam().near, 32);
  testing::expect_normalised_beside(flow, other);
  testing::expect_normalised_beside(other, flow);
}

INSTANTIATE_TEST_SUITE_P(
    Features, TrainedFlowLaws,
    ::testing::Values(
        Training{{.features = 1, .transforms = 2}, 256, 0.05},
        Training{{.features = 2, .hidden = {32, 32}}, 256, 0.004},
        Training{{.features = 5, .transforms = 2, .hidden = {30, 30}}, 256, 0.004},
        Training{
            {.features = 11, .transforms = 2, .hidden = {32, 32}, .order = FeatureOrder::random},
            256,
            0.002},
        Training{{.features = 30, .transforms = 2, .bins = 4, .hidden = {40}}, 128, 0.001},
        Training{{.features = 100, .transforms = 1, .bins = 4, .hidden = {60}}, 128, 0.0003}),
    [](const auto& test) { return std::to_string(test.param.options.features); });

}  // namespace
}  // namespace jeffreys

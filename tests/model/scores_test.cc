// Weighted sums of scores: weights, the gradient buffer, and the tapes of samples.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "support/model_helpers.h"

namespace jeffreys {
namespace {

using testing::normals;
using testing::same_bits;

constexpr Eigen::Index kScoredRows = 150;
constexpr Eigen::Index kContext = 2;

SplineFlowOptions flow_options() {
  return {.features = 3, .context_features = kContext, .transforms = 2, .hidden = {12, 12}};
}

enum class Kind { flow, residual, film };

std::unique_ptr<UnnormalizedDensity<double>> make(Kind kind) {
  std::unique_ptr<UnnormalizedDensity<double>> model;
  if (kind == Kind::flow) {
    model = std::make_unique<SplineFlow<double>>(flow_options());
  } else if (kind == Kind::residual) {
    model = std::make_unique<ResidualEnergy<double>>(
        ResidualEnergyOptions{.features = 3, .hidden = 16, .temperature = 0.5});
  } else {
    model = std::make_unique<FilmEnergy<double>>(
        FilmEnergyOptions{.features = 3, .context_features = kContext, .hidden = 16, .blocks = 2});
  }
  testing::add_parameter_noise(*model, 0.2, 1);
  return model;
}

std::string name_of(Kind kind) {
  if (kind == Kind::flow) return "Flow";
  return kind == Kind::residual ? "Residual" : "Film";
}

double largest_of(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

class Scores : public ::testing::TestWithParam<Kind> {
 protected:
  [[nodiscard]] std::vector<double> gradient(const VectorView<double>& given) const {
    std::vector<double> result(model->layout().size(), 0.0);
    model->add_scores(x, context, given, result);
    return result;
  }

  std::unique_ptr<UnnormalizedDensity<double>> model = make(GetParam());
  Matrix<double> x = normals(kScoredRows, 3, 2);
  Matrix<double> context = normals(kScoredRows, model->context_features(), 3);
  Vector<double> weights = normals(kScoredRows, 1, 4);
};

TEST_P(Scores, ReturnsTheValues) {
  std::vector<double> buffer(model->layout().size(), 0.0);
  const Vector<double> values = model->add_scores(x, context, weights, buffer);
  EXPECT_TRUE(same_bits(values, model->log_unnormalized(x, context)));
}

TEST_P(Scores, WeightFunctionGivesWhatTheVectorGives) {
  const Vector<double> values = model->log_unnormalized(x, context);
  const Vector<double> expected_weights = (values.array() * 0.3).sin();
  std::vector<double> actual(model->layout().size(), 0.0);
  model->add_scores(
      x, context,
      [](Eigen::Index, std::span<const double> part, std::span<double> out) {
        for (std::size_t i = 0; i < part.size(); ++i) out[i] = std::sin(part[i] * 0.3);
      },
      actual);
  EXPECT_TRUE(same_bits(actual, gradient(expected_weights)));
}

TEST_P(Scores, WeightFunctionSeesEveryRowOnce) {
  const Vector<double> values = model->log_unnormalized(x, context);
  std::vector<int> visits(kScoredRows, 0);
  bool same_values = true;
  std::vector<double> buffer(model->layout().size(), 0.0);
  model->add_scores(
      x, context,
      [&](Eigen::Index first, std::span<const double> part, std::span<double> out) {
        ASSERT_EQ(part.size(), out.size());
        for (std::size_t i = 0; i < part.size(); ++i) {
          const auto row = first + static_cast<Eigen::Index>(i);
          ++visits[static_cast<std::size_t>(row)];
          same_values = same_values && part[i] == values[row];
          out[i] = 1;
        }
      },
      buffer);
  EXPECT_EQ(visits, std::vector<int>(kScoredRows, 1));
  EXPECT_TRUE(same_values);
}

TEST_P(Scores, AreAddedToWhatTheBufferHolds) {
  const std::vector<double> alone = gradient(weights);
  std::vector<double> twice = alone;
  model->add_scores(x, context, weights, twice);
  const double largest = largest_of(alone);
  ASSERT_GT(largest, 0);
  for (std::size_t i = 0; i < alone.size(); ++i) {
    ASSERT_NEAR(twice[i], 2 * alone[i], 1e-12 * largest) << i;
  }
}

TEST_P(Scores, AreLinearInTheWeights) {
  const Vector<double> others = normals(kScoredRows, 1, 5);
  const std::vector<double> a = gradient(weights);
  const std::vector<double> b = gradient(others);
  const std::vector<double> sum = gradient(2 * weights - others);
  const double largest = largest_of(sum);
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_NEAR(sum[i], 2 * a[i] - b[i], 1e-11 * largest) << i;
  }
}

TEST_P(Scores, OfZeroWeightsAreExactlyZero) {
  const std::vector<double> zero = gradient(Vector<double>::Zero(kScoredRows));
  for (std::size_t i = 0; i < zero.size(); ++i) ASSERT_EQ(zero[i], 0.0) << i;
}

TEST_P(Scores, OfNoRowsLeaveTheBuffer) {
  const Matrix<double> no_rows(0, 3);
  const Matrix<double> no_context(0, model->context_features());
  std::vector<double> buffer(model->layout().size(), 1.5);
  EXPECT_EQ(model->add_scores(no_rows, no_context, Vector<double>(), buffer).size(), 0);
  EXPECT_EQ(buffer, std::vector<double>(buffer.size(), 1.5));
}

INSTANTIATE_TEST_SUITE_P(Models, Scores, ::testing::Values(Kind::flow, Kind::residual, Kind::film),
                         [](const auto& test) { return name_of(test.param); });

class SampleScores : public ::testing::Test {
 protected:
  SampleScores() {
    testing::add_parameter_noise(flow, 0.2, 1);
    flow.sample(kScoredRows, context, stream, samples, KeepTape::yes);
  }

  SplineFlow<double> flow{flow_options()};
  Matrix<double> context = normals(kScoredRows, kContext, 3);
  Vector<double> weights = normals(kScoredRows, 1, 4);
  RandomStream stream{.seed = 6};
  Samples<double> samples;
  std::vector<double> gradient = std::vector<double>(flow.layout().size(), 0.0);
};

// The tape holds the activations of the inverse pass, which differ from those of a forward pass by
// rounding: 1e-9 of the largest element.
TEST_F(SampleScores, EqualTheScoresOfTheSampledRows) {
  flow.add_sample_scores(samples, weights, gradient);
  std::vector<double> expected(gradient.size(), 0.0);
  flow.add_scores(samples.x, context, weights, expected);
  const double largest = largest_of(expected);
  ASSERT_GT(largest, 0);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_NEAR(gradient[i], expected[i], 1e-9 * largest) << i;
  }
}

TEST_F(SampleScores, AreAddedToWhatTheBufferHolds) {
  flow.add_sample_scores(samples, weights, gradient);
  const std::vector<double> alone = gradient;
  flow.add_sample_scores(samples, weights, gradient);
  for (std::size_t i = 0; i < alone.size(); ++i) {
    ASSERT_NEAR(gradient[i], 2 * alone[i], 1e-12 * (1 + std::abs(alone[i]))) << i;
  }
}

TEST_F(SampleScores, OfZeroWeightsAreExactlyZero) {
  flow.add_sample_scores(samples, Vector<double>::Zero(kScoredRows), gradient);
  for (std::size_t i = 0; i < gradient.size(); ++i) ASSERT_EQ(gradient[i], 0.0) << i;
}

TEST_F(SampleScores, FollowANewDraw) {
  flow.sample(40, context.topRows(40), {.seed = 7}, samples, KeepTape::yes);
  flow.add_sample_scores(samples, weights.head(40), gradient);
  std::vector<double> expected(gradient.size(), 0.0);
  flow.add_scores(samples.x, context.topRows(40), weights.head(40), expected);
  const double largest = largest_of(expected);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_NEAR(gradient[i], expected[i], 1e-9 * largest) << i;
  }
}

// A copy of samples keeps its tape when the original draws again.
TEST_F(SampleScores, OfACopyOutliveANewDraw) {
  const Samples<double> copy = samples;
  std::vector<double> expected(gradient.size(), 0.0);
  flow.add_sample_scores(samples, weights, expected);
  flow.sample(kScoredRows, context, {.seed = 8}, samples, KeepTape::yes);
  flow.add_sample_scores(copy, weights, gradient);
  EXPECT_TRUE(same_bits(gradient, expected));
}

TEST_F(SampleScores, NeedATape) {
  flow.sample(kScoredRows, context, stream, samples);
  EXPECT_THROW(flow.add_sample_scores(samples, weights, gradient), std::invalid_argument);
  EXPECT_THROW(flow.add_sample_scores(Samples<double>(), weights, gradient), std::invalid_argument);
}

TEST_F(SampleScores, NeedTheParametersOfTheirDraw) {
  flow.edit_parameters([](std::span<double> parameters) { parameters[0] += 0.1; });
  EXPECT_THROW(flow.add_sample_scores(samples, weights, gradient), std::invalid_argument);
}

TEST_F(SampleScores, NeedTheirOwnFlow) {
  SplineFlowOptions wider = flow_options();
  wider.hidden = {16, 16};
  const SplineFlow<double> other(wider);
  std::vector<double> buffer(other.layout().size(), 0.0);
  EXPECT_THROW(other.add_sample_scores(samples, weights, buffer), std::invalid_argument);
}

TEST_F(SampleScores, NeedOneWeightForEachRow) {
  EXPECT_THROW(flow.add_sample_scores(samples, weights.head(kScoredRows - 1), gradient),
               std::invalid_argument);
  EXPECT_THROW(flow.add_sample_scores(samples, weights, std::span(gradient).first(5)),
               std::invalid_argument);
}

}  // namespace
}  // namespace jeffreys

// Every analytic gradient against central finite differences, in double: 1e-6 of the gradient's
// norm.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "support/finite_differences.h"
#include "support/model_helpers.h"

namespace jeffreys {
namespace {

using testing::differentiate;
using testing::normals;
using testing::RowDerivatives;

using Model = UnnormalizedDensity<double>;

constexpr double kTolerance = 1e-6;
// A row counts if the doubt in its finite difference is below this share of the gradient. A quarter
// of the rows have to (in all cases but Flow1Extreme, 60 % do).
constexpr double kMostDoubt = 1e-7;
constexpr double kLeastShare = 0.25;
constexpr Eigen::Index kDataRows = 70;  // a full tile and a part of one

struct Case {
  std::string name;
  std::function<std::unique_ptr<Model>()> make;
};

void PrintTo(const Case& one, std::ostream* stream) { *stream << one.name; }

Case flow_case(const std::string& name, const SplineFlowOptions& options) {
  return {"Flow" + name, [options] { return std::make_unique<SplineFlow<double>>(options); }};
}

Case residual_case(const std::string& name, const ResidualEnergyOptions& options) {
  return {"Residual" + name,
          [options] { return std::make_unique<ResidualEnergy<double>>(options); }};
}

Case film_case(const std::string& name, const FilmEnergyOptions& options) {
  return {"Film" + name, [options] { return std::make_unique<FilmEnergy<double>>(options); }};
}

std::vector<Case> cases() {
  constexpr auto kRandom = FeatureOrder::random;
  return {
      flow_case("1", {.features = 1}),
      flow_case("1Context", {.features = 1, .context_features = 2, .hidden = {9}}),
      flow_case("2", {.features = 2, .hidden = {16, 16}}),
      flow_case("2TwoBins", {.features = 2, .transforms = 2, .bins = 2, .hidden = {8}}),
      flow_case("2NoHidden", {.features = 2, .transforms = 2, .bins = 5, .hidden = {}}),
      flow_case("2Context", {.features = 2, .context_features = 2, .bins = 4, .hidden = {12}}),
      flow_case(
          "3ThreeLayers",
          {.features = 3, .transforms = 2, .bins = 6, .hidden = {9, 7, 11}, .order = kRandom}),
      flow_case("3Context",
                {.features = 3, .context_features = 2, .hidden = {10, 10}, .order = kRandom}),
      flow_case("5", {.features = 5, .transforms = 2, .hidden = {20}, .order = kRandom, .seed = 4}),
      flow_case("5Context",
                {.features = 5, .context_features = 2, .transforms = 2, .hidden = {15, 17, 16}}),
      residual_case("1", {.features = 1, .hidden = 8, .blocks = 1, .temperature = 0.3}),
      residual_case("2NoBlocks", {.features = 2, .hidden = 10, .blocks = 0}),
      residual_case("3", {.features = 3, .hidden = 17, .blocks = 2}),
      residual_case("5", {.features = 5, .hidden = 24, .blocks = 3, .temperature = 7.0}),
      // Wide enough that both tiles go through a layer together.
      residual_case("2Wide", {.features = 2, .hidden = 262, .blocks = 1}),
      film_case("Wide", {.features = 2, .context_features = 2, .hidden = 257, .blocks = 1}),
      film_case("Bounded",
                {.features = 2, .context_features = 2, .hidden = 12, .blocks = 2, .bounded = true}),
      film_case("1Layer", {.features = 2, .context_features = 2, .hidden = 12, .film_layers = 1}),
      film_case("2Layers", {.features = 3,
                            .context_features = 1,
                            .hidden = 9,
                            .blocks = 2,
                            .film_layers = 2,
                            .temperature = 0.5}),
      film_case("3Layers", {.features = 1,
                            .context_features = 3,
                            .hidden = 16,
                            .blocks = 1,
                            .film_layers = 3,
                            .temperature = 4.0}),
  };
}

// Of magnitudes.
double median(const Vector<double>& values) {
  std::vector<double> sorted(values.begin(), values.end());
  for (double& value : sorted) value = std::abs(value);
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

class Gradient : public ::testing::TestWithParam<std::tuple<Case, bool>> {
 protected:
  Gradient() : model(std::get<0>(GetParam()).make()) {
    testing::add_parameter_noise(*model, 0.2, 11);
    if (std::get<1>(GetParam())) testing::make_extreme(*model);
    x = 1.5 * normals(kDataRows, model->features(), 12);
    x.row(3) *= 4;  // into the tails, beyond the splines
    x.row(66) *= 6;
    context = normals(kDataRows, model->context_features(), 13);
  }

  [[nodiscard]] RowDerivatives along(const Vector<double>& direction) {
    const Vector<double> start = Eigen::Map<const Vector<double>>(
        model->parameters().data(), static_cast<Eigen::Index>(model->parameters().size()));
    const auto move_to = [&](const Vector<double>& point) {
      model->edit_parameters(
          [&](std::span<double> p) { std::copy(point.begin(), point.end(), p.begin()); });
    };
    const RowDerivatives result = differentiate([&](double step) {
      move_to(start + step * direction);
      return model->log_unnormalized(x, context);
    });
    move_to(start);
    return result;
  }

  // Of a row's value, when all parameters move.
  [[nodiscard]] double typical_slope() {
    if (typical_slope_ == 0) typical_slope_ = median(along(signs(19)).value);
    return typical_slope_;
  }

  // Compares the derivative along a direction in the parameters, of a weighted sum of rows, with
  // the scores: within `tolerance(gradient)`.
  template <typename Tolerance>
  void check_direction(const Vector<double>& direction, const Tolerance& tolerance) {
    const RowDerivatives expected = along(direction);
    Vector<double> weights = normals(kDataRows, 1, 14);
    const double most_doubt = kMostDoubt * (median(expected.value) + 1e-3 * typical_slope());
    weights = (expected.doubt.array() <= most_doubt).select(weights, 0.0).eval();
    EXPECT_GE(static_cast<double>((weights.array() != 0).count()), kLeastShare * kDataRows);
    Vector<double> gradient = Vector<double>::Zero(direction.size());
    model->add_scores(x, context, weights,
                      {gradient.data(), static_cast<std::size_t>(gradient.size())});
    EXPECT_NEAR(gradient.dot(direction), weights.dot(expected.value), tolerance(gradient));
  }

  [[nodiscard]] Vector<double> signs(std::uint64_t seed) const {
    return normals(static_cast<Eigen::Index>(model->layout().size()), 1, seed).array().sign();
  }

  std::unique_ptr<Model> model;
  Matrix<double> x;
  Matrix<double> context;

 private:
  double typical_slope_ = 0;
};

// A direction of signs moves every parameter by one step, so that one wrong element of the gradient
// shows undiluted.
TEST_P(Gradient, AlongRandomDirections) {
  for (std::uint64_t seed = 20; seed < 25; ++seed) {
    SCOPED_TRACE(seed);
    check_direction(signs(seed), [](const auto& g) { return kTolerance * g.norm(); });
  }
}

TEST_P(Gradient, AlongEveryBlock) {
  const Vector<double> all = signs(30);
  for (const ParameterBlock& block : model->layout().blocks()) {
    if (block.size == 0) continue;
    SCOPED_TRACE(block.name);
    const auto offset = static_cast<Eigen::Index>(block.offset);
    const auto size = static_cast<Eigen::Index>(block.size);
    Vector<double> direction = Vector<double>::Zero(all.size());
    direction.segment(offset, size) = all.segment(offset, size);
    check_direction(direction, [&](const auto& g) {
      return kTolerance * (g.segment(offset, size).norm() + 1e-3 * g.norm());
    });
  }
}

TEST_P(Gradient, OfSingleParameters) {
  const auto size = static_cast<Eigen::Index>(model->layout().size());
  for (Eigen::Index k = 0; k < 24; ++k) {
    const Eigen::Index index = (k * 7919 + 3) % size;
    SCOPED_TRACE(index);
    check_direction(Vector<double>::Unit(size, index),
                    [](const auto& g) { return kTolerance * g.cwiseAbs().maxCoeff(); });
  }
}

TEST_P(Gradient, OfInputs) {
  const Eigen::Index features = model->features();
  Matrix<double> inputs(kDataRows, features + model->context_features());
  inputs << x, context;
  Matrix<double> expected(kDataRows, inputs.cols());
  Matrix<double> doubt(kDataRows, inputs.cols());
  for (Eigen::Index f = 0; f < inputs.cols(); ++f) {
    const RowDerivatives column = differentiate([&](double step) {
      Matrix<double> moved = inputs;
      moved.col(f).array() += step;
      return model->log_unnormalized(moved.leftCols(features),
                                     moved.rightCols(moved.cols() - features));
    });
    expected.col(f) = column.value;
    doubt.col(f) = column.doubt;
  }
  const InputGradient<double> actual = model->input_gradient(x, context);
  EXPECT_TRUE(testing::same_bits(actual.values, model->log_unnormalized(x, context)));
  Eigen::Index compared = 0;
  for (Eigen::Index r = 0; r < kDataRows; ++r) {
    const double norm = expected.row(r).norm();
    if (doubt.row(r).maxCoeff() > kMostDoubt * norm) continue;
    ++compared;
    for (Eigen::Index f = 0; f < inputs.cols(); ++f) {
      const double value = f < features ? actual.x(r, f) : actual.context(r, f - features);
      EXPECT_NEAR(value, expected(r, f), kTolerance * norm) << "row " << r << ", input " << f;
    }
  }
  EXPECT_GE(static_cast<double>(compared), kLeastShare * kDataRows);
}

INSTANTIATE_TEST_SUITE_P(Models, Gradient,
                         ::testing::Combine(::testing::ValuesIn(cases()), ::testing::Bool()),
                         [](const auto& test) {
                           return std::get<0>(test.param).name +
                                  (std::get<1>(test.param) ? "Extreme" : "");
                         });

}  // namespace
}  // namespace jeffreys

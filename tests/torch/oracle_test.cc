// The fused models against their twins in libtorch: values, samples and all gradients, in double,
// for random weights and many shapes.
#include <gtest/gtest.h>
#include <torch/autograd.h>

#include <cmath>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "support/model_helpers.h"
#include "torch/tensors.h"
#include "torch/twin_energy.h"
#include "torch/twin_flow.h"

namespace jeffreys {
namespace {

using testing::normals;
using torch::Tensor;
using twin::to_tensor;

constexpr Eigen::Index kRows = 70;  // more than one tile
constexpr double kTolerance = 1e-9;

// Largest difference, relative to the largest expected number or to 1.
double relative_error(const Tensor& expected, const double* actual) {
  const Tensor values = expected.detach().contiguous();
  if (values.numel() == 0) return 0;
  using Values = Eigen::Map<const Eigen::ArrayXd>;
  const Values twins(values.data_ptr<double>(), values.numel());
  const double scale = std::max(1.0, twins.abs().maxCoeff());
  return (twins - Values(actual, values.numel())).abs().maxCoeff() / scale;
}

// Without a context, an undefined tensor.
Tensor context_tensor(const Matrix<double>& context) {
  return context.cols() > 0 ? to_tensor<double>(context) : Tensor();
}

// Rows that reach beyond the splines' bound of 5.
Matrix<double> wide_rows(Eigen::Index rows, Eigen::Index features) {
  return 2.5 * normals(rows, features, 2);
}

// `value` is the twin's value of x and context; its leaf is `parameters`.
template <typename Model, typename Value>
void expect_same_model(const Model& model, const Tensor& parameters, const Value& value,
                       Eigen::Index context_rows) {
  const Matrix<double> x = wide_rows(kRows, model.features());
  const Matrix<double> context = normals(context_rows, model.context_features(), 3);
  const Vector<double> weights = normals(kRows, 1, 4);
  const Tensor x_tensor = to_tensor<double>(x).set_requires_grad(true);
  Tensor c_tensor = context_tensor(context);
  if (c_tensor.defined())
    c_tensor = c_tensor.expand({kRows, -1}).detach().clone().set_requires_grad(true);
  const Tensor values = value(x_tensor, c_tensor);

  std::vector<double> gradient(model.layout().size(), 0.0);
  const Vector<double> ours = model.add_scores(x, context, weights, gradient);
  EXPECT_LT(relative_error(values, ours.data()), kTolerance) << "values";
  const Tensor weighted = (values * to_tensor<double>(weights).squeeze(1)).sum();
  const Tensor scores = torch::autograd::grad({weighted}, {parameters}, {}, true)[0];
  EXPECT_GT(scores.abs().max().item<double>(), 1e-3);
  EXPECT_LT(relative_error(scores, gradient.data()), kTolerance) << "parameter gradient";

  const InputGradient<double> inputs = model.input_gradient(x, context);
  const Tensor by_x = torch::autograd::grad({values.sum()}, {x_tensor}, {}, true)[0];
  EXPECT_LT(relative_error(by_x, inputs.x.data()), kTolerance) << "gradient by x";
  if (!c_tensor.defined()) return;
  const Tensor by_c = torch::autograd::grad({values.sum()}, {c_tensor})[0];
  EXPECT_GT(by_c.abs().max().item<double>(), 1e-3);
  EXPECT_LT(relative_error(by_c, inputs.context.data()), kTolerance) << "gradient by context";
}

struct FlowCase {
  std::string name;
  SplineFlowOptions options;
  double noise = 0.3;  // added to the weights
};

void PrintTo(const FlowCase& flow, std::ostream* stream) { *stream << flow.name; }

class FlowOracle : public ::testing::TestWithParam<FlowCase> {
 protected:
  FlowOracle() { testing::add_parameter_noise(flow, GetParam().noise, 7); }

  SplineFlow<double> flow{GetParam().options};
};

TEST_P(FlowOracle, LogDensityAndItsGradients) {
  const twin::FlowTwin twin(flow);
  const auto value = [&](const Tensor& x, const Tensor& c) { return twin.log_prob(x, c); };
  expect_same_model(flow, twin.parameters(), value, kRows);
  expect_same_model(flow, twin.parameters(), value, 1);
}

TEST_P(FlowOracle, SamplesFromGivenNoise) {
  const Matrix<double> noise = wide_rows(kRows, flow.features());
  const Matrix<double> context = normals(kRows, flow.context_features(), 3);
  const twin::FlowTwin twin(flow);
  const Tensor samples = twin.sample(to_tensor<double>(noise), context_tensor(context));
  const Samples<double> ours = flow.sample_from_noise(noise, context);
  EXPECT_LT(relative_error(samples, ours.x.data()), kTolerance);
  EXPECT_LT((twin.to_noise(samples, context_tensor(context)) - to_tensor<double>(noise))
                .abs()
                .max()
                .item<double>(),
            kTolerance);
  EXPECT_LT(relative_error(twin.log_prob(samples, context_tensor(context)), ours.log_prob.data()),
            kTolerance);
}

// to_noise(sample(z)) is z whatever the parameters are: their way through the samples cancels their
// way through the transforms, whose gradient is known to be right.
TEST_P(FlowOracle, SamplesCarryGradients) {
  const Tensor noise = to_tensor<double>(normals(kRows, flow.features(), 5));
  const Tensor context = context_tensor(normals(kRows, flow.context_features(), 3));
  const Tensor weights = to_tensor<double>(normals(kRows, flow.features(), 6));
  const twin::FlowTwin twin(flow);
  const Tensor samples = twin.sample(noise, context);
  const auto gradient = [&](const Tensor& x) {
    return torch::autograd::grad({twin.to_noise(x, context)}, {twin.parameters()}, {weights},
                                 true)[0];
  };
  const double direct = gradient(samples.detach()).abs().max().item<double>();
  EXPECT_GT(direct, 1e-3);
  EXPECT_LT(gradient(samples).abs().max().item<double>(), kTolerance * direct);
}

TEST_P(FlowOracle, MasksFromSetsAndFromDegreesAgree) {
  const twin::FlowTwin twin(flow);
  std::size_t compared = 0;
  for (std::size_t t = 0; t < static_cast<std::size_t>(flow.options().transforms); ++t) {
    for (std::size_t l = 0; l < twin.masks(t).size(); ++l) {
      const std::string name = "transform.transforms." + std::to_string(t) + ".hyper." +
                               std::to_string(2 * l) + ".weight";
      const std::vector<std::uint8_t> mask = flow.mask(flow.layout().find(name));
      const std::vector<double> ours(mask.begin(), mask.end());
      ASSERT_EQ(static_cast<std::int64_t>(ours.size()), twin.masks(t)[l].numel());
      EXPECT_EQ(relative_error(twin.masks(t)[l].flatten(), ours.data()), 0) << name;
      ++compared;
    }
  }
  const std::size_t layers = flow.options().hidden.size() + 1;
  EXPECT_EQ(compared, flow.features() == 1
                          ? 0
                          : layers * static_cast<std::size_t>(flow.options().transforms));
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, FlowOracle,
    ::testing::Values(
        FlowCase{"OneFeature", {.features = 1}},
        FlowCase{"OneFeatureContext", {.features = 1, .context_features = 3, .hidden = {16, 8}}},
        FlowCase{"OneFeatureOneNumber", {.features = 1, .context_features = 1, .hidden = {9, 7}}},
        FlowCase{"TwoFeatures", {.features = 2, .transforms = 4, .bins = 6, .hidden = {32, 32}}},
        FlowCase{"TwoFeaturesSteep", {.features = 2, .hidden = {20, 12}}, 0.8},
        FlowCase{"TwoFeaturesContext", {.features = 2, .context_features = 2, .hidden = {10}}},
        FlowCase{"FiveFeatures",
                 {.features = 5, .bins = 4, .hidden = {24, 16, 20}, .order = FeatureOrder::random}},
        FlowCase{"FiveFeaturesContext",
                 {.features = 5,
                  .context_features = 3,
                  .transforms = 2,
                  .hidden = {7},
                  .order = FeatureOrder::random}},
        FlowCase{"FiveFeaturesNarrow", {.features = 5, .bins = 3, .hidden = {2, 3}}},
        FlowCase{"ThirtyFeatures", {.features = 30, .transforms = 2, .hidden = {64, 64}}, 0.1},
        FlowCase{"ThirtyFeaturesContext",
                 {.features = 30, .context_features = 2, .transforms = 2, .hidden = {40, 33, 35}},
                 0.1}),
    [](const auto& test) { return test.param.name; });

// The weights move, so that u and v have a way to go.
template <typename Model>
void expect_same_energy(Model model) {
  testing::add_parameter_noise(model, 0.2, 8);
  twin::EnergyTwin twin(model);
  const auto value = [&](const Tensor& x, const Tensor& c) { return twin.value(x, c); };
  for (int steps = 0; steps < 3; ++steps) {
    SCOPED_TRACE("power iterations: " + std::to_string(steps));
    EXPECT_LT(relative_error(twin.spectral_vectors(), model.state().data()), 1e-12);
    expect_same_model(model, twin.parameters(), value, kRows);
    model.power_iterate();
    twin.power_iterate();
  }
  expect_same_model(model, twin.parameters(), value, 1);
}

class ResidualOracle : public ::testing::TestWithParam<ResidualEnergyOptions> {};

TEST_P(ResidualOracle, ValuesAndGradients) {
  expect_same_energy(ResidualEnergy<double>(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, ResidualOracle,
    ::testing::Values(
        ResidualEnergyOptions{.features = 1, .hidden = 16, .blocks = 1},
        ResidualEnergyOptions{.features = 2, .hidden = 128},
        ResidualEnergyOptions{.features = 5, .hidden = 33, .blocks = 3, .temperature = 0.25},
        ResidualEnergyOptions{.features = 30, .hidden = 40, .temperature = 2},
        ResidualEnergyOptions{.features = 3, .hidden = 24, .confined = true, .temperature = 2}));

class FilmOracle : public ::testing::TestWithParam<FilmEnergyOptions> {};

TEST_P(FilmOracle, ValuesAndGradients) { expect_same_energy(FilmEnergy<double>(GetParam())); }

INSTANTIATE_TEST_SUITE_P(
    Shapes, FilmOracle,
    ::testing::Values(
        FilmEnergyOptions{
            .features = 1, .context_features = 1, .hidden = 16, .blocks = 1, .film_layers = 1},
        FilmEnergyOptions{.features = 2, .context_features = 2, .hidden = 32},
        FilmEnergyOptions{.features = 5,
                          .context_features = 3,
                          .hidden = 21,
                          .blocks = 2,
                          .film_layers = 3,
                          .temperature = 0.5},
        FilmEnergyOptions{.features = 30, .context_features = 4, .hidden = 24, .blocks = 2},
        FilmEnergyOptions{.features = 2, .context_features = 2, .hidden = 32, .bounded = true},
        FilmEnergyOptions{.features = 3,
                          .context_features = 1,
                          .hidden = 21,
                          .blocks = 2,
                          .film_layers = 1,
                          .bounded = true,
                          .confined = true,
                          .temperature = 0.5}));

}  // namespace
}  // namespace jeffreys

// Energy models against numbers made with PyTorch.
#include <gtest/gtest.h>

#include <memory>

#include "jeffreys/model/energy_model.h"
#include "support/energy_golden.h"

namespace jeffreys {
namespace {

using testing::Golden;

template <typename T>
std::unique_ptr<EnergyModel<T>> model_of(const std::string& name, const Golden& golden) {
  std::unique_ptr<EnergyModel<T>> model;
  if (name == "ebm_2d") {
    model = std::make_unique<ResidualEnergy<T>>(
        ResidualEnergyOptions{.features = 2, .hidden = 64, .blocks = 2});
  } else {
    model = std::make_unique<FilmEnergy<T>>(FilmEnergyOptions{
        .features = 2, .context_features = 2, .hidden = 32, .blocks = 3, .film_layers = 2});
  }
  testing::load_energy(golden, *model);
  return model;
}

class EnergyParity : public ::testing::TestWithParam<const char*> {
 protected:
  EnergyParity()
      : golden(std::string(GetParam()) + ".npz"),
        model(model_of<double>(GetParam(), golden)),
        x(golden.matrix<double>("x")),
        c(golden.matrix<double>("c")) {}

  Golden golden;
  std::unique_ptr<EnergyModel<double>> model;
  Matrix<double> x;
  Matrix<double> c;
};

TEST_P(EnergyParity, Values) {
  const Vector<double> expected = golden.vector<double>("f_eval");
  EXPECT_LE((model->log_unnormalized(x, c) - expected).cwiseAbs().maxCoeff(), 1e-10);
}

TEST_P(EnergyParity, ValuesInFloat) {
  const auto small = model_of<float>(GetParam(), golden);
  const Vector<float> values = small->log_unnormalized(x.cast<float>(), c.cast<float>());
  const Vector<double> expected = golden.vector<double>("f_eval");
  EXPECT_LE((values.cast<double>() - expected).cwiseAbs().maxCoeff(), 3e-4);
}

TEST_P(EnergyParity, EffectiveWeights) {
  int compared = 0;
  for (const ParameterBlock& block : model->layout().blocks()) {
    if (!block.name.ends_with(".original")) continue;
    const std::string layer = block.name.substr(0, block.name.find(".parametrizations"));
    const Matrix<double> expected = golden.matrix<double>("effective." + layer + ".weight");
    EXPECT_LE((model->effective_weight(block) - expected).cwiseAbs().maxCoeff(), 1e-10) << layer;
    ++compared;
  }
  EXPECT_GT(compared, 0);
}

TEST_P(EnergyParity, InputGradient) {
  const InputGradient<double> gradient = model->input_gradient(x, c);
  const Matrix<double> expected = golden.matrix<double>("grad_x_of_mean_f");
  const auto rows = static_cast<double>(x.rows());
  EXPECT_LE((gradient.x / rows - expected).cwiseAbs().maxCoeff(),
            1e-9 * expected.cwiseAbs().maxCoeff());
}

TEST_P(EnergyParity, ParameterGradients) {
  std::vector<double> gradient(model->parameters().size(), 0.0);
  const Vector<double> weights =
      Vector<double>::Constant(x.rows(), 1.0 / static_cast<double>(x.rows()));
  model->add_scores(x, c, weights, gradient);
  for (const ParameterBlock& block : model->layout().blocks()) {
    const std::vector<double> expected = golden.values<double>("grad." + block.name);
    double largest = 0;
    for (const double value : expected) largest = std::max(largest, std::abs(value));
    for (std::size_t i = 0; i < block.size; ++i) {
      ASSERT_NEAR(gradient[block.offset + i], expected[i], 1e-9 * largest)
          << block.name << " [" << i << "]";
    }
  }
}

TEST_P(EnergyParity, OnePowerIteration) {
  model->power_iterate();
  const std::vector<double> expected =
      testing::read_layout<double>(golden, model->state_layout(), "after1.");
  const std::span<const double> actual = model->state();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(actual[i], expected[i], 1e-10) << "element " << i;
  }
  const Vector<double> values = golden.vector<double>("f_after_1_power_iteration");
  EXPECT_LE((model->log_unnormalized(x, c) - values).cwiseAbs().maxCoeff(), 1e-10);
}

INSTANTIATE_TEST_SUITE_P(Energies, EnergyParity, ::testing::Values("ebm_2d", "ebm_cond"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace jeffreys

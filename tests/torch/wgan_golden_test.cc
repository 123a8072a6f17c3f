// Five WGAN iterations against the same iterations in PyTorch, from the same weights, data and
// random numbers (tests/golden, in double).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "support/energy_golden.h"
#include "support/golden.h"
#include "torch/wgan_run.h"

namespace jeffreys {
namespace {

using testing::Golden;
using testing::read_layout;

constexpr double kMetricTolerance = 1e-8;
constexpr double kStateTolerance = 1e-7;

// PyTorch's, of each iteration: mean critic(data) - mean critic(samples) in the last critic step,
// and the generator's loss.
struct Metrics {
  double wasserstein;
  double generator_loss;
};
constexpr std::array<Metrics, 5> kExpected = {{{0.28380424480001676, 0.13351265236425747},
                                               {0.2840869045079225, 0.15107004909758956},
                                               {0.3302817441395888, 0.13563323500626884},
                                               {0.33932822886804637, 0.1388351321888564},
                                               {0.34790223931956066, 0.18750212737019167}}};

constexpr WganOptions kOptions{.learning_rate_generator = 1e-3,
                               .learning_rate_critic = 1e-4,
                               .weight_decay = 1e-2,
                               .clip_norm = 5};

void load(const Golden& golden, UnnormalizedDensity<double>& model, const std::string& prefix) {
  const std::vector<double> weights = read_layout<double>(golden, model.layout(), prefix);
  model.edit_parameters(
      [&](std::span<double> p) { std::copy(weights.begin(), weights.end(), p.begin()); });
}

WganNoise<double> noise_of(const Golden& golden, const std::string& step) {
  WganNoise<double> noise;
  for (int k = 0; k < kOptions.critic_steps; ++k) {
    const std::string number = std::to_string(k);
    noise.critic.push_back({.rows = {},
                            .normals = golden.matrix<double>(step + ".z" + number),
                            .mixing = golden.vector<double>(step + ".u" + number)});
  }
  noise.generator = golden.matrix<double>(step + ".z5");
  return noise;
}

void expect_near(const Golden& golden, const ParameterLayout& layout,
                 std::span<const double> actual, const std::string& prefix, double tolerance) {
  for (const ParameterBlock& block : layout.blocks()) {
    const std::vector<double> expected = golden.values<double>(prefix + block.name);
    ASSERT_EQ(expected.size(), block.size);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_NEAR(actual[block.offset + i], expected[i], tolerance)
          << prefix << block.name << " item " << i;
    }
  }
}

class GoldenWgan : public ::testing::Test {
 protected:
  GoldenWgan() {
    load(golden, generator, "start.main.");
    load(golden, critic, "start.critic.");
    critic.set_state(read_layout<double>(golden, critic.state_layout(), "start.critic."));
  }

  WganRecord step(int i) { return run.step(noise_of(golden, "step" + std::to_string(i))); }

  const Golden golden{"golden_wgan.npz"};
  SplineFlow<double> generator{{.features = 2, .transforms = 2, .bins = 4, .hidden = {16, 16}}};
  ResidualEnergy<double> critic{{.features = 2, .hidden = 16, .blocks = 2}};
  WganRun<double> run{generator, critic, golden.matrix<double>("batch0"), kOptions};
};

TEST_F(GoldenWgan, FiveIterations) {
  for (std::size_t i = 0; i < kExpected.size(); ++i) {
    SCOPED_TRACE("iteration " + std::to_string(i));
    const WganRecord record = step(static_cast<int>(i));
    EXPECT_FALSE(record.skipped);
    EXPECT_EQ(record.iteration, static_cast<std::int64_t>(i) + 1);
    EXPECT_NEAR(record.wasserstein, kExpected[i].wasserstein, kMetricTolerance);
    EXPECT_NEAR(record.generator_loss, kExpected[i].generator_loss, kMetricTolerance);
    EXPECT_NEAR(record.critic_loss, kOptions.penalty * record.penalty - record.wasserstein, 1e-15);
  }
  expect_near(golden, generator.layout(), generator.parameters(), "end.main.", kStateTolerance);
  expect_near(golden, critic.layout(), critic.parameters(), "end.critic.", kStateTolerance);
  expect_near(golden, critic.state_layout(), critic.state(), "end.critic.", kStateTolerance);
}

// The golden critic gradient is what PyTorch's buffer held at the end of the iteration: that of the
// last critic step, on which the generator's loss had added its own. The limit of 5 is not reached.
TEST_F(GoldenWgan, GradientsOfTheFirstIteration) {
  const Matrix<double> samples = generator.sample_from_noise(golden.matrix<double>("step0.z5")).x;
  const WganRecord record = step(0);
  EXPECT_LT(record.generator_gradient_norm, kOptions.clip_norm);
  EXPECT_LT(record.critic_gradient_norm, kOptions.clip_norm);
  expect_near(golden, generator.layout(), run.generator_gradient(), "step0.grad.main.",
              kMetricTolerance);

  std::vector<double> gradient(run.critic_gradient().begin(), run.critic_gradient().end());
  const auto rows = samples.rows();
  critic.add_scores(samples, Matrix<double>(),
                    Vector<double>::Constant(rows, -1.0 / static_cast<double>(rows)), gradient);
  expect_near(golden, critic.layout(), gradient, "step0.grad.critic.", kMetricTolerance);
}

}  // namespace
}  // namespace jeffreys

// Five training steps of each method against the same steps in PyTorch, from the same weights, data
// and random numbers (tests/golden, in double).
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "jeffreys/model/energy_model.h"
#include "jeffreys/model/spline_flow.h"
#include "support/energy_golden.h"
#include "support/golden.h"
#include "train/training_run.h"

namespace jeffreys {
namespace {

using testing::Golden;
using testing::golden_path;
using testing::read_layout;

constexpr double kMetricTolerance = 1e-8;
constexpr double kStateTolerance = 1e-7;

nlohmann::json metrics_of(const std::string& name) {
  std::ifstream stream(golden_path("training_steps.json"));
  return nlohmann::json::parse(stream).at(name).at("steps");
}

SplineFlow<double> flow_of(const Golden& golden, const std::string& prefix) {
  SplineFlow<double> flow({.features = 2,
                           .context_features = golden.has("batch1") ? 2 : 0,
                           .transforms = 2,
                           .bins = 4,
                           .hidden = {16, 16}});
  const std::vector<double> weights = read_layout<double>(golden, flow.layout(), prefix);
  flow.edit_parameters(
      [&](std::span<double> p) { std::copy(weights.begin(), weights.end(), p.begin()); });
  return flow;
}

template <typename Energy>
void load_energy(const Golden& golden, Energy& model) {
  const std::vector<double> weights = read_layout<double>(golden, model.layout(), "start.ebm.");
  model.edit_parameters(
      [&](std::span<double> p) { std::copy(weights.begin(), weights.end(), p.begin()); });
  model.set_state(read_layout<double>(golden, model.state_layout(), "start.ebm."));
}

// [M, rows, features] as [M * rows, features]
Matrix<double> stacked(const Golden& golden, const std::string& name) {
  if (!golden.has(name)) return {};
  const std::vector<double> values = golden.values<double>(name);
  const std::int64_t columns = golden.array(name).shape.back();
  return Eigen::Map<const Matrix<double>>(
      values.data(), static_cast<std::int64_t>(values.size()) / columns, columns);
}

// Relative to the largest number of the block, or to 1.
void expect_state(const Golden& golden, const UnnormalizedDensity<double>& model,
                  const std::string& prefix) {
  for (const ParameterBlock& block : model.layout().blocks()) {
    const std::vector<double> expected = golden.values<double>(prefix + block.name);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_NEAR(model.parameters()[block.offset + i], expected[i], kStateTolerance)
          << prefix << block.name << " item " << i;
    }
  }
}

void expect_gradient(const Golden& golden, const ParameterLayout& layout,
                     std::span<const double> gradient, double clip, const std::string& prefix) {
  double norm = 0;
  for (const double g : gradient) norm += g * g;
  const double factor = std::min(1.0, clip / (std::sqrt(norm) + 1e-6));
  for (const ParameterBlock& block : layout.blocks()) {
    if (!golden.has(prefix + block.name)) continue;
    const std::vector<double> expected = golden.values<double>(prefix + block.name);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_NEAR(gradient[block.offset + i] * factor, expected[i], kMetricTolerance)
          << prefix << block.name << " item " << i;
    }
  }
}

void expect_metrics(const nlohmann::json& expected, const StepRecord& record,
                    const std::map<std::string, double>& after) {
  const auto near = [&](const char* name, double value) {
    if (!expected.contains(name)) return;
    const double e = expected.at(name).get<double>();
    EXPECT_NEAR(value, e, kMetricTolerance * std::max(1.0, std::abs(e))) << name;
  };
  near("nll", record.divergences.forward);
  near("kl_rev", record.divergences.reverse);
  near("nll_proxy", record.divergences.proxy);
  near("zeta", std::exp(record.log_zeta));
  const std::vector<std::pair<const char*, const char*>> multipliers{{"lam_for", "forward"},
                                                                     {"lam_rev", "reverse"},
                                                                     {"lam_prx", "proxy"},
                                                                     {"lam_lo", "zeta_lower"},
                                                                     {"lam_up", "zeta_upper"}};
  // Without a proxy there are none, and a normalised one has no zeta.
  for (const auto& [theirs, ours] : multipliers) {
    if (after.contains(ours)) near(theirs, after.at(ours));
  }
}

void run_golden(const std::string& name, TrainOptions options, UnnormalizedDensity<double>* proxy,
                const std::string& proxy_name) {
  const Golden golden(name + ".npz");
  SplineFlow<double> main = flow_of(golden, "start.main.");
  const nlohmann::json metrics = metrics_of(name);
  ASSERT_EQ(metrics.size(), 5U);
  TrainingRun<double> run(
      main, proxy, {golden.matrix<double>("batch0"), golden.matrix<double>("batch1"), {}, {}},
      options);
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    SCOPED_TRACE("step " + std::to_string(i));
    const std::string step = "step" + std::to_string(i);
    const GivenNoise<double> noise{stacked(golden, step + ".z0"), stacked(golden, step + ".z1")};
    const StepRecord record = run.step(&noise);
    expect_metrics(metrics[i], record, run.multipliers());
    if (i == 0) {
      const double clip = options.optimizer.clip_norm > 0 ? options.optimizer.clip_norm : 1e300;
      expect_gradient(golden, main.layout(), run.main_gradient(), clip, "step0.grad.main.");
      if (proxy != nullptr) {
        expect_gradient(golden, proxy->layout(), run.proxy_gradient(), clip,
                        "step0.grad." + proxy_name + ".");
      }
    }
  }
  expect_state(golden, main, "end.main.");
  if (proxy != nullptr) expect_state(golden, *proxy, "end." + proxy_name + ".");
}

TEST(GoldenSteps, MaximumLikelihood) {
  run_golden("golden_mle",
             {.method = Method::mle,
              .learning_rate = {.main = 1e-3},
              .optimizer = {.weight_decay = 1e-2, .clip_norm = 5}},
             nullptr, "");
}

TEST(GoldenSteps, DualWithFlowProxy) {
  const Golden golden("golden_dual_nf.npz");
  SplineFlow<double> proxy = flow_of(golden, "start.proxy.");
  run_golden("golden_dual_nf",
             {.learning_rate = {.main = 1e-3, .proxy = 1e-3, .multipliers = 1e-2},
              .optimizer = {.weight_decay = 1e-2}},
             &proxy, "proxy");
}

TrainOptions energy_options() {
  return {.learning_rate = {.main = 1e-3, .proxy = 1e-4, .multipliers = 1e-3, .zeta = 1e-3},
          .optimizer = {.weight_decay = 1e-2, .clip_norm = 5},
          .dual = {.zeta_slack = 0.01, .zeta_constraint = ZetaConstraint::raw},
          .zeta = {.estimator = ZetaEstimator::separate, .samples = 48}};
}

TEST(GoldenSteps, DualWithEnergyProxy) {
  const Golden golden("golden_dual_ebm.npz");
  ResidualEnergy<double> proxy({.features = 2, .hidden = 16, .blocks = 2});
  load_energy(golden, proxy);
  run_golden("golden_dual_ebm", energy_options(), &proxy, "ebm");
}

TEST(GoldenSteps, FixedWeights) {
  const Golden golden("golden_penalty.npz");
  ResidualEnergy<double> proxy({.features = 2, .hidden = 16, .blocks = 2});
  load_energy(golden, proxy);
  TrainOptions options = energy_options();
  options.method = Method::weighted;
  options.multipliers = {0.75, 0.25, 0.5, 0, 0};
  run_golden("golden_penalty", options, &proxy, "ebm");
}

TEST(GoldenSteps, ConditionalDual) {
  const Golden golden("golden_conditional.npz");
  FilmEnergy<double> proxy(
      {.features = 2, .context_features = 2, .hidden = 16, .blocks = 2, .film_layers = 2});
  load_energy(golden, proxy);
  TrainOptions options = energy_options();
  options.optimizer = {.weight_decay = 1e-2};
  options.dual.zeta_slack = 30;
  options.zeta.samples_per_condition = 4;
  run_golden("golden_conditional", options, &proxy, "ebm");
}

}  // namespace
}  // namespace jeffreys

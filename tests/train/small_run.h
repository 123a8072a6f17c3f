// Short runs of every method with small models, and their whole outcome bit by bit.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "jeffreys/train/trainer.h"
#include "support/model_helpers.h"

namespace jeffreys::testing {

enum class ProxyKind { none, flow, energy, conditional_energy };

struct Scenario {
  std::string name;
  ProxyKind proxy;
  TrainOptions options;
  Eigen::Index rows = 70;
};
inline void PrintTo(const Scenario& scenario, std::ostream* stream) { *stream << scenario.name; }

inline TrainOptions small_options(Method method) {
  return {.method = method,
          .iterations = 60,
          .seed = 9,
          .learning_rate = {.main = 5e-3, .proxy = 5e-3, .multipliers = 1e-2, .zeta = 1e-2},
          .zeta = {.samples = 50, .samples_per_condition = 3},
          .validation = {.every = 10, .zeta_samples = 60},
          .record_every = 4};
}

inline Scenario likelihood_scenario(Method method) {
  Scenario result{"Mle", ProxyKind::none, small_options(method)};
  result.options.optimizer.beta1 = 0.5;  // a first moment too
  result.options.batch_size = 16;
  return result;
}

inline Scenario flow_scenario() { return {"Flow", ProxyKind::flow, small_options(Method::dual)}; }

// With everything that has a state: averages, minibatches, a kept zeta, a warm start.
inline Scenario energy_scenario() {
  Scenario result{"Energy", ProxyKind::energy, small_options(Method::dual)};
  result.options.averaging = 0.9;
  result.options.batch_size = 32;
  result.options.zeta.estimator = ZetaEstimator::separate;
  result.options.zeta.refresh = 5;
  result.options.warm_start = 5;
  result.options.schedule = {.kind = Schedule::cosine, .warm_up = 5};
  return result;
}

inline Scenario conditional_scenario() {
  Scenario result{"Conditional", ProxyKind::conditional_energy, small_options(Method::dual)};
  result.options.batch_size = 32;
  result.options.averaging = 0.9;
  return result;
}

// Models, data and trainer. `weights`: seed of the models' weights.
class SmallRun {
 public:
  explicit SmallRun(const Scenario& scenario, std::uint64_t weights = 1,
                    const std::shared_ptr<ThreadPool>& pool = nullptr)
      : context_features(scenario.proxy == ProxyKind::conditional_energy ? 2 : 0),
        main({.features = 2,
              .context_features = context_features,
              .transforms = 2,
              .bins = 4,
              .hidden = {8},
              .seed = weights}),
        proxy(make_proxy(scenario.proxy, weights + 1)) {
    main.use_threads(pool);
    if (proxy) proxy->use_threads(pool);
    trainer =
        std::make_unique<Trainer<float>>(main, proxy.get(), data(scenario.rows), scenario.options);
  }

  // Runs until `iteration` is done.
  TrainResult run_until(std::int64_t iteration) {
    class Stop final : public TrainObserver {
     public:
      explicit Stop(std::int64_t last) : last_(last) {}
      void on_step(const StepRecord& record) override { now_ = record.iteration; }
      bool should_stop() override { return now_ >= last_; }

     private:
      std::int64_t last_;
      std::int64_t now_ = 0;
    } stop(iteration);
    return trainer->run(&stop);
  }

  Eigen::Index context_features;
  SplineFlow<float> main;
  std::unique_ptr<UnnormalizedDensity<float>> proxy;
  std::unique_ptr<Trainer<float>> trainer;

 private:
  static std::unique_ptr<UnnormalizedDensity<float>> make_proxy(ProxyKind kind,
                                                                std::uint64_t seed) {
    if (kind == ProxyKind::flow) {
      return std::make_unique<SplineFlow<float>>(SplineFlowOptions{
          .features = 2, .transforms = 1, .bins = 4, .hidden = {8}, .seed = seed});
    }
    if (kind == ProxyKind::energy) {
      return std::make_unique<ResidualEnergy<float>>(
          ResidualEnergyOptions{.features = 2, .hidden = 8, .blocks = 1, .seed = seed});
    }
    if (kind == ProxyKind::conditional_energy) {
      return std::make_unique<FilmEnergy<float>>(FilmEnergyOptions{
          .features = 2, .context_features = 2, .hidden = 8, .blocks = 1, .seed = seed});
    }
    return nullptr;
  }

  [[nodiscard]] TrainingData<float> data(Eigen::Index rows) const {
    return {
        correlated_rows(rows, 2, 3).cast<float>(), normals(rows, context_features, 4).cast<float>(),
        correlated_rows(20, 2, 5).cast<float>(), normals(20, context_features, 6).cast<float>()};
  }
};

// All numbers of a run but the times.
inline std::vector<double> outcome(const SmallRun& run, const TrainResult& result) {
  std::vector<double> all;
  const auto put = [&](auto value) { all.push_back(static_cast<double>(value)); };
  const auto put_model = [&](const UnnormalizedDensity<float>& model) {
    for (const float value : model.parameters()) put(value);
    for (const float value : model.state()) put(value);
  };
  put_model(run.main);
  if (run.proxy) put_model(*run.proxy);
  for (const auto& [name, value] : result.multipliers) put(value);
  for (const Selected& selected : {result.main, result.proxy}) {
    put(selected.iteration);
    put(selected.nll);
    put(selected.averaged);
  }
  put(result.iterations);
  put(result.skipped);
  for (const Evaluation& evaluation : result.evaluations) {
    visit_evaluation(evaluation, [&](const char*, const auto& value) { put(value); });
  }
  for (const StepRecord& record : result.history) {
    visit_step(record, [&](const std::string& name, const auto& value) {
      if (!name.starts_with("seconds")) put(value);
    });
  }
  return all;
}

inline void expect_same(const std::vector<double>& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const bool same = found[i] == expected[i] || (std::isnan(found[i]) && std::isnan(expected[i]));
    ASSERT_TRUE(same) << "number " << i << ": " << found[i] << " and " << expected[i];
  }
}

}  // namespace jeffreys::testing

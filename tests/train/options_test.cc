// What a trainer refuses: options, rows and models that do not fit together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "jeffreys/model/energy_model.h"
#include "jeffreys/train/trainer.h"
#include "support/gaussian_models.h"
#include "support/model_helpers.h"
#include "support/not_finite.h"

namespace jeffreys {
namespace {

using testing::GaussianDensity;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(TrainOptions, AreValidByDefault) {
  EXPECT_EQ(refusal([] { TrainOptions{}.validate(); }), "accepted");
}

TEST(TrainOptions, RefuseEachBadFieldByName) {
  using Edit = std::function<void(TrainOptions&)>;
  const std::vector<std::pair<std::string, Edit>> edits{
      {"iterations", [](auto& o) { o.iterations = 0; }},
      {"batch_size", [](auto& o) { o.batch_size = -1; }},
      {"learning_rate.main", [](auto& o) { o.learning_rate.main = -1; }},
      {"learning_rate.main", [](auto& o) { o.learning_rate.main = kInfinity; }},
      {"learning_rate.proxy", [](auto& o) { o.learning_rate.proxy = kNan; }},
      {"learning_rate.multipliers", [](auto& o) { o.learning_rate.multipliers = -1e-9; }},
      {"learning_rate.zeta", [](auto& o) { o.learning_rate.zeta = kNan; }},
      {"schedule.warm_up", [](auto& o) { o.schedule.warm_up = -1; }},
      {"schedule.final_share", [](auto& o) { o.schedule.final_share = 1.1; }},
      {"schedule.final_share", [](auto& o) { o.schedule.final_share = kNan; }},
      {"optimizer.beta1", [](auto& o) { o.optimizer.beta1 = 1; }},
      {"optimizer.beta2", [](auto& o) { o.optimizer.beta2 = -0.1; }},
      {"optimizer.weight_decay", [](auto& o) { o.optimizer.weight_decay = -1; }},
      {"optimizer.clip_norm", [](auto& o) { o.optimizer.clip_norm = kNan; }},
      {"averaging", [](auto& o) { o.averaging = 1; }},
      {"multipliers.forward", [](auto& o) { o.multipliers.forward = -1; }},
      {"multipliers.reverse", [](auto& o) { o.multipliers.reverse = kNan; }},
      {"multipliers.proxy", [](auto& o) { o.multipliers.proxy = kInfinity; }},
      {"multipliers.zeta_lower", [](auto& o) { o.multipliers.zeta_lower = -1; }},
      {"multipliers.zeta_upper", [](auto& o) { o.multipliers.zeta_upper = -1; }},
      {"level.scale", [](auto& o) { o.dual.level_scale = 0; }},
      {"zeta.samples", [](auto& o) { o.zeta.samples = 0; }},
      {"zeta.samples_per_condition", [](auto& o) { o.zeta.samples_per_condition = 0; }},
      {"zeta.refresh", [](auto& o) { o.zeta.refresh = 0; }},
      {"warm_start", [](auto& o) { o.warm_start = -1; }},
      {"noise", [](auto& o) { o.noise = -0.1; }},
      {"entropy_weight", [](auto& o) { o.entropy_weight = -0.1; }},
      {"validation.every", [](auto& o) { o.validation.every = 0; }},
      {"validation.patience", [](auto& o) { o.validation.patience = -1; }},
      {"validation.relative_patience", [](auto& o) { o.validation.relative_patience = kNan; }},
      {"validation.zeta_samples", [](auto& o) { o.validation.zeta_samples = 0; }},
      {"checkpoint.seconds", [](auto& o) { o.checkpoint.seconds = -1; }},
      {"time_limit", [](auto& o) { o.time_limit = kNan; }},
      {"max_skipped", [](auto& o) { o.max_skipped = 0; }},
      {"record_every", [](auto& o) { o.record_every = -1; }},
  };
  for (const auto& [name, edit] : edits) {
    TrainOptions options{.method = Method::mle};
    edit(options);
    EXPECT_THAT(refusal([&] { options.validate(); }), StartsWith(name + ": expected"));
    GaussianDensity main(0, 1);
    EXPECT_THAT(refusal([&] {
                  const Trainer<double> trainer(main, nullptr,
                                                {testing::normals(5, 1, 1), {}, {}, {}}, options);
                }),
                StartsWith(name + ": expected"));
  }
}

std::string refusal_of(TrainingData<double> data) {
  GaussianDensity main(0, 1);
  return refusal([&] {
    const Trainer<double> trainer(main, nullptr, std::move(data), {.method = Method::mle});
  });
}

TEST(TrainingData, RefusesRowsThatAreNotFinite) {
  for (const double bad : {kNan, kInfinity, -kInfinity}) {
    Matrix<double> x = testing::normals(6, 1, 1);
    x(4, 0) = bad;
    EXPECT_EQ(refusal_of({x, {}, {}, {}}), "data.x: row 4 is not finite");
    EXPECT_EQ(refusal_of({testing::normals(6, 1, 1), {}, x, {}}),
              "data.validation_x: row 4 is not finite");
  }
  EXPECT_EQ(refusal_of({testing::normals(6, 1, 1), {}, {}, {}}), "accepted");
}

TEST(TrainingData, RefusesShapesThatDoNotFit) {
  EXPECT_THAT(refusal_of({}), StartsWith("data.x: expected at least 1 row"));
  EXPECT_THAT(refusal_of({testing::normals(6, 2, 1), {}, {}, {}}),
              StartsWith("data.x: expected 1 columns, got 2"));
  EXPECT_THAT(refusal_of({testing::normals(6, 1, 1), {}, testing::normals(6, 3, 1), {}}),
              StartsWith("data.validation_x: expected 1 columns, got 3"));
}

TEST(TrainingData, RefusesContextsThatDoNotFit) {
  const auto refusal_with = [](Eigen::Index rows, Eigen::Index columns, double first) {
    SplineFlow<double> main({.features = 1, .context_features = 2, .hidden = {4}});
    Matrix<double> context = testing::normals(rows, columns, 2);
    context(0, 0) = first;
    return refusal([&] {
      const Trainer<double> trainer(main, nullptr, {testing::normals(6, 1, 1), context, {}, {}},
                                    {.method = Method::mle});
    });
  };
  EXPECT_EQ(refusal_with(6, 2, 0), "accepted");
  EXPECT_THAT(refusal_with(5, 2, 0), StartsWith("data.context: expected 6 rows, got 5"));
  EXPECT_THAT(refusal_with(6, 1, 0), StartsWith("data.context: expected 2 columns, got 1"));
  EXPECT_THAT(refusal_with(6, 2, kNan), StartsWith("data.context: row 0 is not finite"));
}

TEST(TrainerModels, MustFitTheMethodAndEachOther) {
  GaussianDensity main(0, 1);
  const auto refusal_with = [&](UnnormalizedDensity<double>* proxy, Method method) {
    return refusal([&] {
      const Trainer<double> trainer(main, proxy, {testing::normals(6, 1, 1), {}, {}, {}},
                                    {.method = method});
    });
  };
  GaussianDensity proxy(0, 1);
  ResidualEnergy<double> wider({.features = 2, .hidden = 4});
  EXPECT_EQ(refusal_with(&proxy, Method::dual), "accepted");
  EXPECT_EQ(refusal_with(&proxy, Method::weighted), "accepted");
  EXPECT_THAT(refusal_with(nullptr, Method::dual), StartsWith("proxy: "));
  EXPECT_THAT(refusal_with(nullptr, Method::weighted), StartsWith("proxy: "));
  for (const Method method : {Method::mle, Method::mle_noise, Method::mle_entropy}) {
    EXPECT_THAT(refusal_with(&proxy, method), StartsWith("proxy: expected none"));
  }
  EXPECT_THAT(refusal_with(&wider, Method::dual), HasSubstr("expected 1 features"));
}

TEST(TrainerModels, KeepNoZetaOfConditionsThatChange) {
  SplineFlow<double> main({.features = 1, .context_features = 1, .hidden = {4}});
  FilmEnergy<double> proxy({.features = 1, .context_features = 1, .hidden = 4, .blocks = 1});
  EXPECT_THAT(refusal([&] {
                const Trainer<double> trainer(
                    main, &proxy, {testing::normals(6, 1, 1), testing::normals(6, 1, 2), {}, {}},
                    {.zeta = {.refresh = 2}});
              }),
              StartsWith("zeta.refresh: expected 1"));
}

}  // namespace
}  // namespace jeffreys

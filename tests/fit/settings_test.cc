// The names of the settings, presets and defaults.
#include <gmock/gmock.h>

#include <set>
#include <stdexcept>

#include "jeffreys/fit/fit_options.h"

namespace jeffreys {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string refusal(const std::string& key, const std::string& value) {
  FitOptions options;
  try {
    change_setting(options, key, value);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  ADD_FAILURE() << key << " = " << value << " was taken";
  return {};
}

std::vector<std::string> values_of(const FitOptions& options) {
  std::vector<std::string> values;
  for (const Setting& setting : list_settings(options)) values.push_back(setting.value);
  return values;
}

// Options that differ from the defaults wherever they can.
FitOptions other_options() {
  FitOptions options = default_fit_options(5000, 7, 1);
  apply_preset("paper-gmm40", options);
  options.seed = 18446744073709551615U;
  options.train.method = Method::mle_entropy;
  options.train.learning_rate.main = 1.0 / 3;
  options.train.zeta.estimator = ZetaEstimator::pooled;
  options.train.dual.zeta_pull = 0.5;
  options.flow.hidden = {3};
  options.flow.order = FeatureOrder::random;
  options.flow.start = FlowStart::unconditional;
  options.train.multiplier_optimizer = MultiplierOptimizer::exact;
  return options;
}

TEST(Settings, EveryKeyTakesItsOwnValue) {
  for (const FitOptions& original :
       {FitOptions(), default_fit_options(100, 2, 0), other_options()}) {
    // All values at once carry over to other options.
    FitOptions copy;
    for (const Setting& setting : list_settings(original)) {
      FitOptions same = original;
      change_setting(same, setting.key, setting.value);
      EXPECT_EQ(values_of(same), values_of(original)) << setting.key;
      change_setting(copy, setting.key, setting.value);
    }
    EXPECT_EQ(values_of(copy), values_of(original));
  }
}

TEST(Settings, EveryKeyIsUniqueAndExplained) {
  std::set<std::string> keys;
  for (const Setting& setting : list_settings(FitOptions())) {
    EXPECT_TRUE(keys.insert(setting.key).second) << setting.key;
    EXPECT_FALSE(setting.help.empty()) << setting.key;
    EXPECT_FALSE(setting.value.empty()) << setting.key;
  }
  EXPECT_GT(keys.size(), 40u);
}

TEST(Settings, EveryKeyChangesOneValue) {
  const std::vector<std::string> before = values_of(FitOptions());
  std::size_t place = 0;
  for (const Setting& setting : list_settings(other_options())) {
    FitOptions options;
    change_setting(options, setting.key, setting.value);
    const std::vector<std::string> after = values_of(options);
    for (std::size_t i = 0; i < after.size(); ++i) {
      EXPECT_EQ(after[i], i == place ? setting.value : before[i]) << setting.key;
    }
    ++place;
  }
}

TEST(Settings, EveryKeyRefusesNonsense) {
  for (const Setting& setting : list_settings(FitOptions())) {
    for (const char* value : {"", "nonsense", "1 2", " 1", "1,", "0x10", "nan"}) {
      EXPECT_THAT(refusal(setting.key, value), AllOf(HasSubstr(setting.key), HasSubstr("expected")))
          << setting.key << " = " << value;
    }
  }
}

TEST(Settings, UnknownKeysHaveAHint) {
  EXPECT_THAT(refusal("rate.main", "1"),
              AllOf(HasSubstr("did you mean"), HasSubstr("learning_rate.main")));
  EXPECT_THAT(refusal("training.iterations", "1"), HasSubstr("did you mean iterations"));
  EXPECT_THAT(refusal("qqqq", "1"), HasSubstr("--settings"));
  EXPECT_THAT(refusal("", "1"), HasSubstr("unknown setting"));
  EXPECT_THAT(refusal("learning_rate.", "1"), HasSubstr("unknown setting"));
}

TEST(Defaults, ColumnsStartIndependentWhereTheyAreMoreThanTwo) {
  EXPECT_EQ(default_fit_options(100, 2, 1).flow.start, FlowStart::unconditional);
  EXPECT_EQ(default_fit_options(100, 3, 0).flow.start, FlowStart::independent);
  for (const Preset& preset : presets()) {
    FitOptions options = default_fit_options(100, 3, 0);
    apply_preset(preset.name, options);
    const bool paper = preset.name.starts_with("paper-");
    EXPECT_EQ(options.flow.start, paper ? FlowStart::random : FlowStart::independent)
        << preset.name;
  }
}

TEST(Presets, AreValidAndDifferent) {
  std::set<std::vector<std::string>> all{values_of(default_fit_options(500, 2, 0))};
  for (const Preset& preset : presets()) {
    EXPECT_FALSE(preset.description.empty());
    FitOptions options = default_fit_options(500, 2, 0);
    options.seed = 12;
    options.schema.ignore = {"id"};
    apply_preset(preset.name, options);
    EXPECT_NO_THROW(options.train.validate()) << preset.name;
    EXPECT_EQ(options.seed, 12u) << preset.name;
    EXPECT_EQ(options.schema.ignore, std::vector<std::string>{"id"}) << preset.name;
    EXPECT_TRUE(all.insert(values_of(options)).second) << preset.name;
  }
}

TEST(Presets, UnknownNamesListTheKnown) {
  FitOptions options;
  try {
    apply_preset("magic", options);
    ADD_FAILURE();
  } catch (const std::invalid_argument& error) {
    for (const Preset& preset : presets()) EXPECT_THAT(error.what(), HasSubstr(preset.name));
    EXPECT_THAT(error.what(), HasSubstr("magic"));
  }
}

TEST(Defaults, AreValidForEverySize) {
  for (const std::size_t rows : {8U, 100U, 1000U, 10000U, 1000000U}) {
    for (const std::size_t features : {1U, 2U, 5U, 60U}) {
      for (const std::size_t context : {0U, 1U, 20U}) {
        const FitOptions options = default_fit_options(rows, features, context);
        EXPECT_NO_THROW(options.train.validate());
        EXPECT_NO_THROW(options.schema.validate());
        EXPECT_LT(options.train.batch_size, static_cast<Eigen::Index>(rows));
      }
    }
  }
}

TEST(Defaults, TakeSmallBatchesForManyColumns) {
  const auto batch = [](std::size_t rows, std::size_t features,
                        ModelChoice proxy = ModelChoice{"flow"}) {
    return default_fit_options(rows, features, 0, proxy).train.batch_size;
  };
  EXPECT_EQ(batch(1000, 4), 0);
  EXPECT_EQ(batch(100, 5), 0);
  EXPECT_EQ(batch(101, 5), 100);
  EXPECT_EQ(batch(5000, 5), 250);
  EXPECT_EQ(batch(20000, 5), 1000);
  EXPECT_EQ(batch(1000, 4, ModelChoice{"energy"}), 0);
  EXPECT_EQ(batch(2001, 4, ModelChoice{"energy"}), 1000);
  EXPECT_EQ(batch(1000, 5, ModelChoice{"energy"}), 100);
  EXPECT_EQ(default_fit_options(1000, 2, 2, ModelChoice{"energy"}).train.batch_size, 128);
  EXPECT_EQ(default_fit_options(110, 2, 2, ModelChoice{"energy"}).train.batch_size, 100);
}

// What holds is the default; the paper's presets keep its formulas as written.
TEST(Defaults, BoundLogZetaButInThePapersPresets) {
  for (const auto& [features, context] :
       {std::pair<std::size_t, std::size_t>{2, 0}, {12, 0}, {2, 3}}) {
    FitOptions options = default_fit_options(500, features, context, ModelChoice{"energy"});
    EXPECT_EQ(options.train.dual.zeta_constraint, ZetaConstraint::log);
    EXPECT_EQ(options.train.zeta.estimator, ZetaEstimator::shared);
    EXPECT_TRUE(options.energy.bounded);
    EXPECT_TRUE(options.energy.confined);
    for (const Preset& preset : presets()) {
      if (!preset.name.starts_with("paper-")) continue;
      FitOptions paper = options;
      apply_preset(preset.name, paper);
      EXPECT_EQ(paper.train.dual.zeta_constraint, ZetaConstraint::raw) << preset.name;
      EXPECT_EQ(paper.train.zeta.estimator, ZetaEstimator::separate) << preset.name;
      EXPECT_EQ(paper.train.zeta.samples_per_condition, 10) << preset.name;
      EXPECT_FALSE(paper.energy.bounded) << preset.name;
      EXPECT_FALSE(paper.energy.confined) << preset.name;
    }
  }
}

}  // namespace
}  // namespace jeffreys

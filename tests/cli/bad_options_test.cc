// Options and settings that make no sense.
#include "cli/program.h"
#include "cli/tables.h"

namespace jeffreys::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class BadOptions : public ProgramTest {
 protected:
  BadOptions() { file("t.csv", two_columns()); }

  std::string refused(int code, const Arguments& more) const {
    return refusal(code, Arguments{"fit", "t.csv", "-o", "m"} + tiny() + more);
  }
  std::string refused_config(const std::string& toml) const {
    file("c.toml", toml);
    return refused(kBadInput, {"--config", "c.toml"});
  }
};

TEST_F(BadOptions, UnknownSettingsComeWithAHint) {
  EXPECT_THAT(refused(kUsage, {"--set", "rate.main=1"}),
              AllOf(HasSubstr("--set"), HasSubstr("'rate.main'"), HasSubstr("learning_rate.main")));
  EXPECT_THAT(refused(kUsage, {"--set", "qqq=1"}), HasSubstr("jeffreys fit --settings"));
  EXPECT_THAT(refused(kUsage, {"--set", "iterations"}), HasSubstr("KEY=VALUE"));
  EXPECT_THAT(refused(kUsage, {"--set", "=3"}), HasSubstr("KEY=VALUE"));
}

TEST_F(BadOptions, ValuesOfTheWrongFormAreRefused) {
  const std::vector<std::pair<std::string, std::string>> values{
      {"iterations=abc", "whole number"},
      {"iterations=1.5", "whole number"},
      {"iterations=", "whole number"},
      {"iterations=99999999999999999999", "whole number"},
      {"seed=-1", "not negative"},
      {"learning_rate.main=fast", "a number"},
      {"learning_rate.main=nan", "finite"},
      {"learning_rate.main=inf", "finite"},
      {"flow.hidden=16,,16", "whole numbers"},
      {"flow.hidden=", "whole numbers"},
      {"energy.bounded=yes", "true or false"},
      {"zeta.estimator=own", "shared or pooled or separate"},
      {"zeta.constraint=none", "log or raw"},
      {"flow.order=best", "alternating"}};
  for (const auto& [setting, expected] : values) {
    const std::string key = setting.substr(0, setting.find('='));
    EXPECT_THAT(refused(kUsage, {"--set", setting}), AllOf(HasSubstr(key), HasSubstr(expected)));
  }
}

TEST_F(BadOptions, ValuesOutOfRangeAreRefusedBeforeTraining) {
  const std::vector<std::pair<std::string, std::string>> values{
      {"iterations=0", "iterations"},
      {"iterations=-1", "iterations"},
      {"batch_size=-1", "batch_size"},
      {"learning_rate.main=-1", "learning_rate"},
      {"learning_rate.proxy=-1", "learning_rate"},
      {"optimizer.beta1=1", "beta1"},
      {"optimizer.beta2=2", "beta2"},
      {"optimizer.clip_norm=-1", "clip_norm"},
      {"averaging=1", "averaging"},
      {"averaging=-0.5", "averaging"},
      {"validation.every=0", "every"},
      {"validation.fraction=1", "fraction"},
      {"validation.fraction=7", "fraction"},
      {"zeta.samples=0", "samples"},
      {"zeta.refresh=0", "refresh"},
      {"flow.transforms=0", "transforms"},
      {"flow.transforms=-3", "transforms"},
      {"flow.bins=0", "bins"},
      {"flow.bins=100000000", "bins"},
      {"flow.hidden=0", "hidden"},
      {"flow.hidden=-5", "hidden"},
      {"flow.hidden=1000000000", "hidden"},
      {"energy.hidden=0", "hidden"},
      {"energy.blocks=-1", "blocks"},
      {"energy.temperature=0", "temperature"},
      {"energy.temperature=-1", "temperature"},
      {"time_limit=-1", "time_limit"},
      {"checkpoint.seconds=-1", "seconds"},
      {"max_skipped=0", "max_skipped"},
      {"noise=-1", "noise"}};
  for (const auto& [setting, named] : values) {
    EXPECT_THAT(refused(kUsage, {"--proxy", "energy", "--set", setting}), HasSubstr(named))
        << setting;
  }
}

TEST_F(BadOptions, UnknownNamesAreRefusedWithTheKnownOnes) {
  EXPECT_THAT(refused(kUsage, {"--method", "magic"}),
              AllOf(HasSubstr("--method"), HasSubstr("magic"), HasSubstr("mle-entropy")));
  EXPECT_THAT(refused(kUsage, {"--proxy", "magic"}),
              AllOf(HasSubstr("--proxy"), HasSubstr("magic"), HasSubstr("energy")));
  EXPECT_THAT(refused(kUsage, {"--preset", "magic"}),
              AllOf(HasSubstr("magic"), HasSubstr("thorough")));
  EXPECT_THAT(refused(kUsage, {"--ties", "magic"}), HasSubstr("dequantize"));
  EXPECT_THAT(refused(kUsage, {"--missing", "magic"}), HasSubstr("drop"));
  EXPECT_THAT(refused(kUsage, {"--standardize", "magic"}), HasSubstr("training"));
}

TEST_F(BadOptions, BoundsThatAreNone) {
  for (const char* bound : {"y", "y=1", "=0:1", "y=a:b", "y=0:1x", "y=0:1:2"}) {
    EXPECT_THAT(refused(kUsage, {"--bound", bound}), HasSubstr("COLUMN=LOWER:UPPER")) << bound;
  }
  EXPECT_THAT(refused(kUsage, {"--bound", "y=1:0"}), HasSubstr("must be below"));
  EXPECT_THAT(refused(kUsage, {"--bound", "y=nan:1"}), HasSubstr("\"y\""));
}

TEST_F(BadOptions, ColumnsWithTwoRoles) {
  EXPECT_THAT(refused(kUsage, {"--ignore", "x", "--condition", "x"}), HasSubstr("\"x\""));
  EXPECT_THAT(refused(kUsage, {"--integer", "x", "--categorical", "x"}), HasSubstr("\"x\""));
}

TEST_F(BadOptions, NumbersThatAreNone) {
  EXPECT_THAT(refused(kUsage, {"--seed", "-1"}), HasSubstr("--seed"));
  EXPECT_THAT(refused(kUsage, {"--seed", "abc"}), HasSubstr("--seed"));
  EXPECT_THAT(refused(kUsage, {"--threads", "-1"}), HasSubstr("--threads"));
  EXPECT_THAT(refused(kUsage, {"--threads", "100000"}), HasSubstr("threads"));
  EXPECT_THAT(refused(kUsage, {"--time-limit", "-3"}), HasSubstr("--time-limit"));
}

TEST_F(BadOptions, ConfigsAreRefusedAtTheirPlace) {
  EXPECT_THAT(refused_config("seed = 1\n[learning_rate]\nmain = 1e-3\nfast = 3\n"),
              AllOf(HasSubstr("c.toml:4:"), HasSubstr("learning_rate.fast")));
  EXPECT_THAT(refused_config("iteration = 5\n"),
              AllOf(HasSubstr("c.toml:1:"), HasSubstr("did you mean iterations")));
  EXPECT_THAT(refused_config("seed = 1\niterations = = 3\n"), HasSubstr("c.toml:2:14: "));
  EXPECT_THAT(refused_config("iterations = \"many\"\n"),
              AllOf(HasSubstr("c.toml:1:14: "), HasSubstr("many")));
  EXPECT_THAT(refused_config("iterations = 1979-05-27\n"), HasSubstr("c.toml:1:14: "));
  EXPECT_THAT(refused_config("[flow]\nhidden = [16, \"x\"]\n"), HasSubstr("c.toml:2:"));
  EXPECT_THAT(refused_config("iterations = 1.5\n"), HasSubstr("c.toml:1:14: "));
  EXPECT_THAT(refused_config("iterations = 3\niterations = 4\n"), HasSubstr("c.toml:2:"));
  EXPECT_THAT(refused_config("learning_rate.main = nan\n"), HasSubstr("c.toml:1:"));
  EXPECT_THAT(refused_config("\xff\xfe"), HasSubstr("c.toml:1:"));
  EXPECT_THAT(refused_config("seed = 1\npreset = \"magic\"\n"),
              AllOf(HasSubstr("c.toml:2:"), HasSubstr("magic")));
}

TEST_F(BadOptions, ConfigsMustBeFiles) {
  EXPECT_THAT(refused(kBadInput, {"--config", "none.toml"}), HasSubstr("none.toml"));
  EXPECT_THAT(refused(kBadInput, {"--config", "."}), HasSubstr("directory"));
}

}  // namespace
}  // namespace jeffreys::testing

// Methods, settings, where they come from, and the record of a fit.
#include "cli/program.h"
#include "cli/tables.h"
#include "jeffreys/fit/fit_options.h"

namespace jeffreys::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

class FitCommand : public ProgramTest {
 protected:
  FitCommand() { file("t.csv", two_columns()); }

  Json record(const std::string& model) const { return Json::parse(bytes(model + ".run.json")); }
  Json setting(const std::string& model, const std::string& key) const {
    return record(model).at("settings").at(key);
  }
};

TEST_F(FitCommand, OtherModelsAreChosenByName) {
  file("t.csv", two_columns());
  const std::vector<std::pair<Arguments, std::string>> choices{
      {{"--proxy", "mixture"}, "gaussian mixture"},
      {{"--set", "main=mixture", "--method", "mle"}, "gaussian mixture"},
      {{"--set", "flow.affine=true", "--set", "flow.student_t=4"}, "student t 4.0"}};
  for (const auto& [arguments, shown] : choices) {
    fit("t.csv", "m", arguments);
    EXPECT_THAT(good({"inspect", "m"}).out, HasSubstr(shown));
    EXPECT_EQ(Cells(good({"sample", "m", "-n", "7"}).out).rows(), 7u);
    EXPECT_EQ(Cells(good({"log_prob", "m", "t.csv"}).out).rows(), 100u);
  }
  EXPECT_THAT(refusal(kUsage, Arguments{"fit", "t.csv", "-o", "m"} + tiny() +
                                  Arguments{"--set", "main=energy"}),
              HasSubstr("draws samples"));
}

TEST_F(FitCommand, EveryMethodMakesAModel) {
  const std::vector<std::pair<Arguments, bool>> methods{
      {{"--method", "dual", "--proxy", "flow"}, true},
      {{"--method", "dual", "--proxy", "energy"}, true},
      {{"--method", "weighted"}, true},
      {{"--method", "weighted", "--proxy", "energy"}, true},
      {{"--method", "mle"}, false},
      {{"--method", "mle-noise"}, false},
      {{"--method", "mle-entropy"}, false}};
  for (const auto& [arguments, proxy] : methods) {
    fit("t.csv", "m", arguments);
    const Json made = record("m");
    EXPECT_EQ(made.at("settings").at("method").at("value"), arguments[1]);
    EXPECT_EQ(made.at("result").contains("proxy"), proxy);
    EXPECT_EQ(made.at("result").at("iterations"), 30);
    const Json inside = good({"inspect", "m", "--json"}).json();
    EXPECT_EQ(inside.at("proxy").is_null(), !proxy);
    if (arguments.back() == "energy") {
      EXPECT_THAT(inside.at("proxy").get<std::string>(), HasSubstr("residual energy"));
    }
    EXPECT_EQ(Cells(good({"sample", "m", "-n", "7"}).out).rows(), 7u);
    EXPECT_EQ(Cells(good({"log_prob", "m", "t.csv"}).out).rows(), 100u);
  }
  EXPECT_EQ(names(), (std::set<std::string>{"t.csv", "m", "m.run.json"}));
}

TEST_F(FitCommand, ModelIsCalledAsTheTable) {
  std::filesystem::create_directory(path("sub"));
  file("sub/u.csv", two_columns());
  good(Arguments{"fit", "sub/u.csv"} + tiny());
  EXPECT_TRUE(names().contains("u.model"));
  EXPECT_TRUE(names().contains("u.model.run.json"));
}

TEST_F(FitCommand, RecordMarksDefaults) {
  fit("t.csv", "m", {"--seed", "4"});
  const Json made = record("m");
  EXPECT_EQ(made.at("table"), "t.csv");
  EXPECT_EQ(made.at("model"), "m");
  EXPECT_GE(made.at("threads").get<int>(), 1);
  EXPECT_EQ(setting("m", "iterations"), Json({{"value", "30"}, {"default", false}}));
  EXPECT_EQ(setting("m", "seed"), Json({{"value", "4"}, {"default", false}}));
  EXPECT_EQ(setting("m", "method"), Json({{"value", "dual"}, {"default", true}}));
  EXPECT_EQ(setting("m", "batch_size").at("default"), true);
  // The model holds the same, and says so.
  const std::string inside = good({"inspect", "m"}).out;
  EXPECT_THAT(inside, AllOf(HasSubstr("iterations = 30"), HasSubstr("seed = 4"),
                            HasSubstr("fitted to t.csv"), Not(HasSubstr("batch_size"))));
  EXPECT_EQ(good({"inspect", "m", "--json"}).json().at("record").at("settings"),
            made.at("settings"));
}

TEST_F(FitCommand, JsonIsTheRecord) {
  const Outcome outcome = fit("t.csv", "m", {"--json"});
  EXPECT_EQ(outcome.json(), record("m"));
}

TEST_F(FitCommand, ConfigIsOverriddenBySetAndByNamedOptions) {
  file("c.toml",
       "preset = \"quick\"\n"
       "method = \"mle\"\n"
       "seed = 3\n"
       "iterations = 11\n"
       "averaging = 0.5\n"
       "[learning_rate]\n"
       "main = 2e-3\n"
       "proxy = 3e-3\n"
       "[flow]\n"
       "hidden = [16, 8]\n"
       "[zeta]\n"
       "estimator = \"pooled\"\n");
  good({"fit", "t.csv", "-o", "m", "--config", "c.toml", "--set", "iterations=12", "--set",
        "seed=7", "--set", "learning_rate.main=5e-3", "--set", "iterations=13", "--method", "dual",
        "--seed", "9"});
  EXPECT_EQ(setting("m", "iterations").at("value"), "13");
  EXPECT_EQ(setting("m", "seed").at("value"), "9");
  EXPECT_EQ(setting("m", "method"), Json({{"value", "dual"}, {"default", true}}));
  EXPECT_EQ(setting("m", "averaging").at("value"), "0.5");
  EXPECT_EQ(setting("m", "learning_rate.main").at("value"), "0.005");
  EXPECT_EQ(setting("m", "learning_rate.proxy").at("value"), "0.003");
  EXPECT_EQ(setting("m", "flow.hidden").at("value"), "16,8");
  EXPECT_EQ(setting("m", "zeta.estimator").at("value"), "pooled");
  EXPECT_EQ(setting("m", "validation.patience").at("value"), "0") << "from the preset";
}

TEST_F(FitCommand, ConfigAndSetAreTheSame) {
  file("c.toml", "iterations = 12\n[flow]\nhidden = [16]\ntransforms = 2\n");
  good({"fit", "t.csv", "-o", "a", "--config", "c.toml"});
  good({"fit", "t.csv", "-o", "b", "--set", "iterations=12", "--set", "flow.hidden=16", "--set",
        "flow.transforms=2"});
  EXPECT_EQ(bytes("a"), bytes("b"));
}

TEST_F(FitCommand, PresetsAreUnderTheOtherSettings) {
  for (const Preset& preset : presets()) {
    fit("t.csv", "m", {"--preset", preset.name, "--set", "iterations=5"});
    EXPECT_EQ(record("m").at("result").at("iterations"), 5) << preset.name;
  }
  fit("t.csv", "m", {"--preset", "paper-gmm40", "--set", "iterations=5"});
  EXPECT_EQ(setting("m", "optimizer.clip_norm").at("value"), "5");
  EXPECT_EQ(setting("m", "proxy"), Json({{"value", "energy"}, {"default", false}}));
  EXPECT_EQ(record("m").at("result").at("held_out_rows"), 0) << "the paper holds nothing out";
  fit("t.csv", "m", {"--preset", "paper-sbi", "--condition", "x", "--set", "iterations=5"});
  EXPECT_EQ(record("m").at("result").at("conditions"), Json({"x"}));
}

TEST_F(FitCommand, NothingIsHeldOutIfToldSo) {
  const Outcome outcome = fit("t.csv", "m", {"--no-validation"});
  EXPECT_EQ(record("m").at("result").at("held_out_rows"), 0);
  EXPECT_EQ(record("m").at("result").at("training_rows"), 100);
  EXPECT_THAT(outcome.out, HasSubstr("nothing was held out"));
}

TEST_F(FitCommand, TimeLimitEndsTrainingWithAModel) {
  const Outcome outcome = good(Arguments{"fit", "t.csv", "-o", "m"} + tiny("100000000") +
                               Arguments{"--set", "validation.patience=0", "--time-limit", "0.3"});
  EXPECT_EQ(record("m").at("result").at("stop_reason"), "time_limit");
  EXPECT_THAT(outcome.out, HasSubstr("time limit"));
  EXPECT_FALSE(names().contains("m.checkpoint"));
}

TEST_F(FitCommand, RowsWithMissingCellsAreCounted) {
  std::string text = two_columns();
  for (const auto& [line, cells] : std::vector<std::pair<int, std::string>>{
           {4, ",0.5"}, {9, "NaN,0.5"}, {10, "5,NA"}, {20, "5,?"}}) {
    text = with_line(text, line, cells);
  }
  file("gaps.csv", text);
  EXPECT_THAT(fit("gaps.csv", "k").out, HasSubstr("4 of 100 rows have missing cells, 4 in all"));
  EXPECT_EQ(record("k").at("result").at("dropped_rows"), 0);
  const Outcome outcome = fit("gaps.csv", "m", {"--missing", "drop"});
  EXPECT_THAT(outcome.out, HasSubstr("4 dropped (missing values)"));
  EXPECT_EQ(record("m").at("result").at("dropped_rows"), 4);
  EXPECT_EQ(record("m").at("result").at("training_rows").get<int>() +
                record("m").at("result").at("held_out_rows").get<int>(),
            96);
  const std::string message =
      refusal(kBadInput, {"fit", "gaps.csv", "-o", "n", "--missing", "error"});
  EXPECT_THAT(message, AllOf(HasSubstr("gaps.csv:4:1: "), HasSubstr("--missing drop")));
}

TEST_F(FitCommand, IgnoredColumnsAreNotInTheModel) {
  file("id.csv", lines("id,x,y", 60, [](Draws& draws, int row) {
         return "name" + std::to_string(row) + "," + text_of(draws.normal()) + "," +
                text_of(draws.normal());
       }));
  fit("id.csv", "m", {"--ignore", "id"});
  EXPECT_EQ(record("m").at("result").at("features"), Json({"x", "y"}));
  EXPECT_EQ(Cells(good({"sample", "m", "-n", "3"}).out).names(),
            (std::vector<std::string>{"x", "y"}));
  file("xy.csv", two_columns(20));
  EXPECT_EQ(Cells(good({"log_prob", "m", "xy.csv"}).out).rows(), 20u) << "nor is it asked for";
}

}  // namespace
}  // namespace jeffreys::testing

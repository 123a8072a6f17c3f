// Which method fits a table best, as somebody asks who has one.
#include "cli/program.h"
#include "cli/tables.h"

namespace jeffreys::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Compare : public ProgramTest {
 protected:
  Compare() { file("t.csv", two_columns(80)); }

  static Arguments compare(const std::string& methods, const Arguments& more = {}) {
    return Arguments{"compare", "t.csv", "--methods", methods, "--splits", "2"} + tiny() + more;
  }

  // Every result below a folder without what depends on the machine.
  [[nodiscard]] std::map<std::string, nlohmann::json> results(const std::string& name) const {
    std::map<std::string, nlohmann::json> all;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path(name))) {
      if (!entry.path().filename().string().starts_with("split-")) continue;
      nlohmann::json json = nlohmann::json::parse(bytes_of(entry.path()));
      for (const char* key : {"processor_seconds", "wall_seconds", "interrupted"}) json.erase(key);
      all[std::filesystem::relative(entry.path(), path(name)).string()] = json;
    }
    return all;
  }
};

TEST_F(Compare, EveryMethodMakesATableAFigureAndASentence) {
  const Outcome outcome = good(Arguments{"compare", "t.csv", "--splits", "2"} + tiny());
  for (const char* method :
       {"default", "dual", "dual-energy", "mle", "mle-noise", "gaussian", "mixture", "kde"}) {
    EXPECT_THAT(outcome.out, HasSubstr(std::string("\n  ") + method + " "));
  }
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("jobs: 16 done"), HasSubstr("2 splits of 80 rows"),
                                 HasSubstr("64 to learn from and 16 to judge by"),
                                 HasSubstr("verdict: "), HasSubstr("t.compare/index.html")));
  EXPECT_THAT(bytes("t.compare/comparison.svg"), HasSubstr("kde"));
  EXPECT_THAT(bytes("t.compare/index.html"), AllOf(HasSubstr("<svg"), HasSubstr("mixture")));
  EXPECT_THAT(bytes("t.compare/comparison.md"), HasSubstr("comparison.svg"));
  // Again: nothing to do, the same page; and from the folder alone.
  const std::string page = bytes("t.compare/index.html");
  EXPECT_THAT(good(Arguments{"compare", "t.csv", "--splits", "2"} + tiny()).out,
              HasSubstr("16 was done"));
  EXPECT_EQ(bytes("t.compare/index.html"), page);
  good({"compare", "--no-training", "-o", "t.compare"});
  EXPECT_EQ(bytes("t.compare/index.html"), page);
}

TEST_F(Compare, ScoresAreThoseOfFitAndEvaluate) {
  // The test rows are the same for all methods, and the NLL is in the user's units.
  const auto first = good({"compare", "t.csv", "--methods", "gaussian", "--json"}).json();
  file("t.csv", two_columns(80, 1000));
  const auto larger =
      good({"compare", "t.csv", "--methods", "gaussian", "-o", "other", "--json"}).json();
  EXPECT_NEAR(larger["methods"][0]["nll"].get<double>() - first["methods"][0]["nll"].get<double>(),
              std::log(1000), 1e-6);
}

TEST_F(Compare, AMethodHasSettingsAndAName) {
  const auto json =
      good(compare("mle,short=mle+iterations=5+flow.hidden=8,8,gaussian", {"--json"})).json();
  ASSERT_EQ(json["methods"].size(), 3u);
  EXPECT_EQ(json["methods"][1]["name"], "short");
  EXPECT_EQ(json["methods"][1]["definition"], "mle+iterations=5+flow.hidden=8,8");
  EXPECT_EQ(json["methods"][1]["difference"]["splits"], 2);
  EXPECT_FALSE(json["methods"][0].contains("difference"));
  EXPECT_TRUE(std::filesystem::exists(path("t.compare/short/split-1-seed-0.json")));
  // The same name for something else would mix two methods.
  EXPECT_THAT(refusal(kBadInput, compare("short=mle+iterations=6")),
              AllOf(HasSubstr("short means mle+iterations=5"), HasSubstr("another name")));
}

TEST_F(Compare, GrowsByMethodsAndSplits) {
  good(compare("gaussian"));
  const auto json =
      good(Arguments{"compare", "t.csv", "--methods", "kde", "--splits", "3", "--json"} + tiny())
          .json();
  ASSERT_EQ(json["methods"].size(), 2u);
  EXPECT_EQ(json["methods"][0]["name"], "kde");
  EXPECT_EQ(json["methods"][0]["splits"], 3);
  EXPECT_EQ(json["methods"][1]["difference"]["splits"], 2);
  EXPECT_THAT(json["notes"].dump(), HasSubstr("gaussian: 2 of 3 runs are done"));
}

TEST_F(Compare, KilledAnywhereItEndsInTheSameNumbers) {
  const Arguments run =
      Arguments{"compare", "t.csv",  "--methods", "mle,dual", "--splits",
                "2",       "--jobs", "1",         "--set",    "validation.patience=0"} +
      tiny("1500");
  good(run + Arguments{"-o", "whole"});
  Draws draws(3);
  for (int kills = 0; kills < 4; ++kills) {
    Process process(run + Arguments{"-o", "killed"}, {.folder = folder()});
    std::this_thread::sleep_for(std::chrono::duration<double>(0.1 + 0.5 * draws.uniform()));
    process.send(kills % 2 == 0 ? SIGKILL : SIGTERM);
    process.wait();
  }
  good(run + Arguments{"-o", "killed"});
  EXPECT_EQ(results("killed"), results("whole"));
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path("killed/dual"))) {
    EXPECT_EQ(entry.path().extension(), ".json") << "nothing but results is left";
    EXPECT_THAT(entry.path().string(), Not(HasSubstr("spent")));
  }
}

TEST_F(Compare, ShardsMergeByFolder) {
  const std::string methods = "mle,gaussian,mixture,kde";
  good(compare(methods, {"-o", "whole"}));
  for (const char* shard : {"1/3", "2/3", "3/3"}) {
    good(compare(methods, {"-o", "parts", "--shard", shard}));
  }
  EXPECT_EQ(results("parts"), results("whole"));
}

TEST_F(Compare, RowsDoNotDependOnTheirOrderInTheFile) {
  good(compare("mle,mixture", {"-o", "first"}));
  std::istringstream stream(two_columns(80));
  std::vector<std::string> all;
  for (std::string line; std::getline(stream, line);) all.push_back(line);
  std::reverse(all.begin() + 1, all.end());
  std::string text;
  for (const std::string& line : all) text += line + "\n";
  file("t.csv", text);
  good(compare("mle,mixture", {"-o", "first"}));  // the same comparison
  good(compare("mle,mixture", {"-o", "second"}));
  EXPECT_EQ(results("second"), results("first"));
}

TEST_F(Compare, ReadsColumnsAsFitDoes) {
  file("t.csv", mixed_columns(120));
  const auto json =
      good(compare("mle,gaussian,mixture,kde", {"--condition", "group", "--bound", "price=0:1.1",
                                                "--ignore", "level", "--json"}))
          .json();
  for (const auto& method : json["methods"]) EXPECT_TRUE(method["nll"].is_number()) << method;
}

TEST_F(Compare, GroupsStayTogetherAndRowsAreAsMany) {
  file("t.csv", lines("day,x,y", 200, [](Draws& draws, int row) {
         return std::to_string(row / 10) + "," + text_of(draws.normal()) + "," +
                text_of(draws.normal());
       }));
  const auto json =
      good(compare("gaussian", {"--group", "day", "--rows", "50", "--test-rows", "30", "--json"}))
          .json();
  EXPECT_EQ(json["training_rows"], 50);
  EXPECT_EQ(json["test_rows"], 30);
  EXPECT_EQ(results("t.compare").begin()->second["columns"], 2);
}

TEST_F(Compare, RefusesAnotherTableInTheSameFolder) {
  good(compare("gaussian"));
  EXPECT_THAT(
      refusal(kBadInput, compare("gaussian", {"--test", "0.3"})),
      AllOf(HasSubstr("comparison.json"), HasSubstr("another test"), HasSubstr("--output")));
  file("t.csv", two_columns(80, 1, 9));
  EXPECT_THAT(refusal(kBadInput, compare("gaussian")), HasSubstr("another table"));
}

TEST_F(Compare, RefusesWhatMakesNoSense) {
  EXPECT_THAT(refusal(kUsage, {"compare"}), HasSubstr("which table?"));
  EXPECT_THAT(refusal(kUsage, compare("forest")),
              AllOf(HasSubstr("'forest'"), HasSubstr("mixture, kde")));
  EXPECT_THAT(refusal(kUsage, compare("kde+seed=3")), HasSubstr("kde has no settings"));
  EXPECT_THAT(refusal(kUsage, compare("mle,mle")), HasSubstr("twice"));
  EXPECT_THAT(refusal(kUsage, compare("mle", {"--set", "missing=keep"})),
              HasSubstr("complete rows"));
  EXPECT_THAT(refusal(kUsage, compare("mle+iteration=3")),
              AllOf(HasSubstr("iteration"), HasSubstr("iterations")));
  EXPECT_THAT(refusal(kUsage, compare("mle", {"--test", "1"})), HasSubstr("share"));
  EXPECT_THAT(refusal(kUsage, compare("mle", {"--threads", "2", "--jobs", "2"})),
              HasSubstr("jobs to 1"));
  EXPECT_THAT(refusal(kUsage, compare("mle", {"--shard", "3/2"})), HasSubstr("shard"));
  EXPECT_THAT(refusal(kBadInput, compare("mle", {"--rows", "70"})),
              AllOf(HasSubstr("leaves 64 of 80 rows"), HasSubstr("--test")));
  EXPECT_THAT(refusal(kBadInput, compare("mle", {"--group", "day"})), HasSubstr("\"day\""));
  EXPECT_THAT(refusal(kBadInput, {"compare", "t.csv", "--splits", "100"}),
              AllOf(HasSubstr("80 complete rows for 100 splits"), HasSubstr("--splits")));
  EXPECT_THAT(refusal(kBadInput, {"compare", "--no-training", "-o", "nowhere"}),
              HasSubstr("holds no comparison"));
  file("t.csv", two_columns(15));
  EXPECT_THAT(refusal(kBadInput, compare("mle")),
              AllOf(HasSubstr("only 15 complete rows"), HasSubstr("at least 20")));
}

TEST_F(Compare, ASplitWithoutAClassIsRefusedOrNoted) {
  file("t.csv", lines("x,y,site", 60, [](Draws& draws, int row) {
         return text_of(draws.normal()) + "," + text_of(draws.normal()) + "," +
                (row == 7       ? "rare"
                 : row % 2 == 0 ? "north"
                                : "south");
       }));
  const Arguments many = {"compare", "t.csv", "--methods", "gaussian,kde", "--splits", "12"};
  EXPECT_THAT(refusal(kBadInput, many + Arguments{"--condition", "site"}),
              AllOf(HasSubstr("\"rare\""), HasSubstr("condition \"site\""), HasSubstr("--seed")));
  const auto json = good(many + Arguments{"--json"}).json();
  EXPECT_THAT(json["notes"].dump(), HasSubstr("labels that no training row has"));
}

}  // namespace
}  // namespace jeffreys::testing

// The paper's experiments, as a researcher runs them.
#include "cli/program.h"
#include "cli/tables.h"

namespace jeffreys::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Reproduce : public ProgramTest {
 protected:
  Reproduce() { ::unsetenv("JEFFREYS_DATA"); }

  static Arguments moons(const Arguments& more = {}) {
    return Arguments{"reproduce", "density", "--scale", "0.001", "--only", "/moons/"} + more;
  }

  // Name and content of every result below a folder.
  [[nodiscard]] std::map<std::string, std::string> results(const std::string& name) const {
    std::map<std::string, std::string> all;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path(name))) {
      const std::string file = entry.path().filename().string();
      if (!entry.is_regular_file() || file.ends_with(".seconds.json")) continue;
      all[std::filesystem::relative(entry.path(), path(name)).string()] = bytes_of(entry.path());
    }
    return all;
  }
};

TEST_F(Reproduce, ListsAndShowsExperiments) {
  EXPECT_THAT(good({"reproduce", "--list"}).out,
              AllOf(HasSubstr("teaser"), HasSubstr("gmm40-weights"), HasSubstr("compute-time")));
  EXPECT_THAT(good({"reproduce", "density", "--show"}).out,
              AllOf(HasSubstr("iterations = 25000"), HasSubstr("learning_rate.main = 1e-3")));
}

TEST_F(Reproduce, MakesResultsFiguresAndAPage) {
  const Outcome outcome = good(moons({"-o", "out"}));
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("9 done"), HasSubstr("out/index.html")));
  const std::string page = bytes("out/index.html");
  EXPECT_THAT(page, AllOf(HasSubstr("At a glance"), HasSubstr("<svg"), HasSubstr("A short run"),
                          Not(HasSubstr("not enough runs")), Not(HasSubstr("src=\"http"))));
  EXPECT_THAT(bytes("out/results.md"), HasSubstr("![")) << "figures are linked";
  // Again: nothing to train, the same page.
  EXPECT_THAT(good(moons({"-o", "out"})).out, HasSubstr("9 was done"));
  EXPECT_TRUE(bytes("out/index.html") == page);
  good({"reproduce", "density", "--no-training", "-o", "out"});
  EXPECT_TRUE(bytes("out/index.html") == page);
}

TEST_F(Reproduce, KilledAnywhereItEndsInTheSameBytes) {
  const Arguments run{"reproduce", "density",     "--scale",      "0.004",
                      "--only",    "moons/ours/", "--no-figures", "--checkpoint-seconds",
                      "0.05"};
  good(run + Arguments{"-o", "whole"});
  Draws draws(3);
  for (int kills = 0; kills < 4; ++kills) {
    Process process(run + Arguments{"-o", "killed"}, {.folder = folder()});
    std::this_thread::sleep_for(std::chrono::duration<double>(0.2 + 0.6 * draws.uniform()));
    process.send(kills % 2 == 0 ? SIGKILL : SIGTERM);
    process.wait();
  }
  good(run + Arguments{"-o", "killed"});
  EXPECT_EQ(results("killed"), results("whole"));
}

TEST_F(Reproduce, ShardsMergeByFolder) {
  good(moons({"-o", "whole", "--no-figures"}));
  for (const char* shard : {"1/3", "2/3", "3/3"}) {
    good(moons({"-o", "parts", "--no-figures", "--shard", shard, "--jobs", "1"}));
  }
  EXPECT_EQ(results("parts"), results("whole"));
}

TEST_F(Reproduce, RefusesAFolderOfAnotherScale) {
  good(moons({"-o", "out", "--no-figures"}));
  EXPECT_THAT(refusal(kBadInput, {"reproduce", "density", "--scale", "0.002", "-o", "out"}),
              AllOf(HasSubstr("experiment.toml"), HasSubstr("scale 0.001"), HasSubstr("--output")));
}

TEST_F(Reproduce, RefusesWhatItDoesNotKnow) {
  EXPECT_THAT(refusal(kUsage, {"reproduce", "densty"}),
              AllOf(HasSubstr("densty"), HasSubstr("gmm40-wgan")));
  EXPECT_THAT(refusal(kUsage, {"reproduce"}), HasSubstr("--list"));
  EXPECT_THAT(refusal(kUsage, {"reproduce", "density", "--shard", "4/3"}), HasSubstr("shard"));
  EXPECT_THAT(refusal(kUsage, {"reproduce", "density", "--shard", "x"}), HasSubstr("i/n"));
  EXPECT_THAT(refusal(kUsage, {"reproduce", "density", "--scale", "0"}), HasSubstr("scale"));
  EXPECT_THAT(refusal(kBadInput, {"reproduce", "density", "--no-training", "-o", "empty"}),
              AllOf(HasSubstr("empty: holds no results of density"), HasSubstr("--output")));
}

TEST_F(Reproduce, GoesOnWithoutADataSet) {
  const Outcome outcome =
      run({"reproduce", "uci", "density", "--scale", "0.001", "--only", "heart/gaussian", "--only",
           "moons/gaussian", "-o", "out", "--data", "nowhere"});
  EXPECT_EQ(outcome.exit_code, kBadInput);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("nowhere/uci/processed.cleveland.data"),
                                 HasSubstr("archive.ics.uci.edu")));
  EXPECT_TRUE(std::filesystem::exists(path("out/density/moons/gaussian/seed-0.json")));
  EXPECT_THAT(bytes("out/index.html"), HasSubstr("processed.cleveland.data"));
}

TEST_F(Reproduce, AFullDiskFailsTheJobs) {
  Process process(moons({"-o", "out", "--no-figures", "--only", "moons/gaussian"}),
                  {.folder = folder(), .largest_file = 3000});
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.exit_code, kFailed);
  EXPECT_THAT(outcome.err, HasSubstr("FAILED"));
  for (const auto& [name, content] : results("out")) {
    if (!name.ends_with(".json")) continue;
    EXPECT_THAT(content, ::testing::EndsWith("}\n")) << name;
  }
}

}  // namespace
}  // namespace jeffreys::testing

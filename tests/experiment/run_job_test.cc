// Runs that are stopped and taken up again, and the files they leave.
#include "experiment/run_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "experiment/results.h"
#include "experiment/run_file.h"
#include "jeffreys/base/input_error.h"
#include "jeffreys/storage/file_lock.h"
#include "support/scratch_folder.h"

namespace jeffreys::experiment {
namespace {

const char* const kRunJobPlan = R"(
iterations = 60
evaluations = 9
maps = 8
[settings]
preset = "paper-density"
flow.hidden = [8]
energy.hidden = 16
zeta.samples = 50
[[data]]
source = "moons"
rows = 60
test_rows = 40
[[method]]
name = "ours"
settings.method = "dual"
settings.validation.fraction = 0.2
settings.averaging = 0.9
[[method]]
name = "mixture"
baseline = "mixture"
settings.validation.fraction = 0.2
)";

Job job(std::size_t place = 0) {
  return make_jobs(read_plan("small", kRunJobPlan, "small.toml"), 1, 1).at(place);
}

std::string bytes(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

Outcome run(const Job& job, const std::filesystem::path& folder,
            const std::function<bool()>& should_stop = {}) {
  JobProgress progress;
  return run_job(job, {.folder = folder, .data = {}, .should_stop = should_stop}, progress);
}

class RunJob : public jeffreys::testing::ScratchTest {};

TEST_F(RunJob, StoppedAnywhereItEndsInTheSameBytes) {
  ASSERT_EQ(run(job(), path("") / "straight"), Outcome::done);
  const std::string expected = bytes(path("") / "straight/moons/ours/seed-0.json");
  ASSERT_FALSE(expected.empty());
  for (const int stop_after : {2, 7, 20, 59}) {
    const std::filesystem::path part = path("") / std::to_string(stop_after);
    int calls = 0;
    Outcome outcome = Outcome::interrupted;
    int starts = 0;
    while (outcome == Outcome::interrupted) {
      ASSERT_LT(++starts, 100);
      calls = 0;
      outcome = run(job(), part, [&] { return ++calls >= stop_after; });
    }
    EXPECT_EQ(outcome, Outcome::done);
    EXPECT_GT(starts, 1);
    EXPECT_EQ(bytes(part / "moons/ours/seed-0.json"), expected) << "stopped every " << stop_after;
    // Nothing but results is left.
    for (const auto& entry : std::filesystem::directory_iterator(part / "moons/ours")) {
      EXPECT_EQ(entry.path().extension(), ".json") << entry.path();
    }
  }
  EXPECT_EQ(run(job(), path("") / "straight"), Outcome::was_done);
}

TEST_F(RunJob, MeasuresEveryModelAtEveryPoint) {
  ASSERT_EQ(run(job(), path("")), Outcome::done);
  const RunResult result = read_run(path("") / "moons/ours/seed-0.json");
  EXPECT_EQ(result.stop, "finished");
  EXPECT_EQ(result.curve.iteration.back(), 60);
  for (const char* column : {"main.test_nll", "main_averaged.test_nll", "proxy.test_nll",
                             "main.validation_nll", "main.jeffreys", "main.jeffreys_error",
                             "proxy.zeta", "proxy.zeta_lower", "multiplier.forward"}) {
    const std::vector<double> values = result.curve.column(column);
    ASSERT_EQ(values.size(), result.curve.iteration.size()) << column;
    EXPECT_TRUE(std::isfinite(values.back())) << column;
  }
  EXPECT_EQ(result.seconds.size(), result.curve.iteration.size());
  EXPECT_EQ(result.grid.density.at("main").size(), 64);
  EXPECT_EQ(result.grid.density.at("proxy").size(), 64);
  const auto chosen = chosen_by_validation(result);
  ASSERT_TRUE(chosen);
  EXPECT_TRUE(std::isfinite(chosen->test_nll));
}

TEST_F(RunJob, ABaselineIsARunOfOnePoint) {
  ASSERT_EQ(run(job(1), path("")), Outcome::done);
  const RunResult result = read_run(path("") / "moons/mixture/seed-0.json");
  EXPECT_EQ(result.curve.iteration, std::vector<std::int64_t>{0});
  EXPECT_TRUE(std::isfinite(value_at(result, "main.test_nll", Moment::last)));
  EXPECT_GE(result.last.at("components"), 1);
}

TEST_F(RunJob, OneProcessWorksOnAJob) {
  std::filesystem::create_directories(path("") / "moons/ours");
  {
    const storage::FileLock lock(path("") / "moons/ours/seed-0.lock");
    ASSERT_TRUE(lock.held());
    EXPECT_EQ(run(job(), path("")), Outcome::elsewhere);
  }
  EXPECT_EQ(run(job(), path("")), Outcome::done);
}

TEST_F(RunJob, ADamagedCheckpointIsNamed) {
  int calls = 0;
  ASSERT_EQ(run(job(), path(""), [&] { return ++calls >= 10; }), Outcome::interrupted);
  std::ofstream(path("") / "moons/ours/seed-0.partial.json") << "{";
  try {
    run(job(), path(""));
    FAIL() << "expected an error";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("seed-0.partial.json"));
  }
}

TEST_F(RunJob, AMissingTableSaysWhereToGetIt) {
  Job table = job();
  table.kind = DataKind::table;
  table.source = "heart";
  try {
    run(table, path(""));
    FAIL() << "expected an error";
  } catch (const MissingData& error) {
    EXPECT_THAT(error.what(), ::testing::AllOf(::testing::HasSubstr("processed.cleveland.data"),
                                               ::testing::HasSubstr("archive.ics.uci.edu"),
                                               ::testing::HasSubstr("JEFFREYS_DATA")));
  }
}

}  // namespace
}  // namespace jeffreys::experiment

#include "experiment/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "experiment/folder.h"
#include "jeffreys/base/input_error.h"
#include "jeffreys/experiment/reproduce.h"

namespace jeffreys::experiment {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const char* const kSmall = R"(
title = "small"
iterations = 1000
seeds = 2
[settings]
preset = "paper-gmm40"
[[data]]
source = "ring"
rows = [100, 200]
test_rows = 50
[[method]]
name = "weights"
settings.method = "weighted"
grid.balance = [0.1, 0.5, 0.9]
grid.multipliers.proxy = [0.25, 0.75]
[[method]]
name = "kernel"
baseline = "kernel"
)";

std::string problem_of(const std::string& text) {
  try {
    static_cast<void>(read_plan("small", text, "small.toml"));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Plan, EveryExperimentOfThePaperReads) {
  std::vector<std::string> names;
  for (const ExperimentInfo& info : experiments()) {
    names.push_back(info.name);
    const Plan plan = plan_of(info.name);
    std::set<std::string> jobs;
    for (const Job& job : make_jobs(plan, 1, std::nullopt)) {
      EXPECT_TRUE(jobs.insert(job.name()).second) << job.name() << " is there twice";
      if (job.baseline.empty()) {
        const auto method =
            std::find_if(plan.methods.begin(), plan.methods.end(), [&](const MethodSpec& spec) {
              return spec.grid.empty() ? spec.name == job.method
                                       : job.method.starts_with(spec.name + "-");
            });
        ASSERT_NE(method, plan.methods.end()) << job.name();
        EXPECT_EQ(job.options.train.iterations,
                  method->iterations > 0 ? method->iterations : plan.iterations);
        EXPECT_NO_THROW(job.options.train.validate());
      }
    }
  }
  EXPECT_THAT(names, ElementsAre("teaser", "uci", "gmm40-weights", "gmm40-wgan", "density", "sbi",
                                 "celeba", "compute-time", "few-images"));
}

// The paper's numbers, so that a slip in a TOML file does not go unnoticed.
TEST(Plan, FixedWeightsAreThePapers) {
  const Plan plan = plan_of("gmm40-weights");
  std::set<std::pair<double, double>> weights;
  for (const Job& job : make_jobs(plan, 1, 1)) {
    if (job.options.train.method != Method::weighted) continue;
    const Multipliers& m = job.options.train.multipliers;
    EXPECT_DOUBLE_EQ(m.forward + m.reverse, 1);
    weights.emplace(m.forward, m.proxy);
  }
  EXPECT_EQ(weights.size(), 25U);
  EXPECT_EQ(plan.iterations, 200000);
}

TEST(Plan, GridsSizesAndSeedsMakeJobs) {
  const Plan plan = read_plan("small", kSmall, "small.toml");
  const std::vector<Job> jobs = make_jobs(plan, 1, std::nullopt);
  EXPECT_EQ(jobs.size(), 2U * 2U * (6U + 1U));
  EXPECT_EQ(jobs.front().name(), "ring-100/weights-0.1-0.25/seed-0");
  EXPECT_DOUBLE_EQ(jobs.front().options.train.multipliers.reverse, 0.9);
  EXPECT_EQ(jobs.front().options.flow.bins, 6);
  EXPECT_EQ(make_jobs(plan, 1, 1).size(), jobs.size() / 2);
  // A smoke run: the smallest size, one seed, two corners.
  const std::vector<Job> smoke = make_jobs(plan, 0.02, std::nullopt);
  ASSERT_EQ(smoke.size(), 3U);
  EXPECT_EQ(smoke[0].method, "weights-0.1-0.25");
  EXPECT_EQ(smoke[1].method, "weights-0.9-0.75");
  EXPECT_EQ(smoke[0].options.train.iterations, 20);
}

TEST(Plan, MethodsMayHaveDataAndALengthOfTheirOwn) {
  std::string text = kSmall;
  text += R"([[data]]
source = "grid"
rows = 100
test_rows = 50
[[method]]
name = "long"
data = ["grid"]
iterations = 3000
)";
  int count = 0;
  for (const Job& job : make_jobs(read_plan("small", text, "small.toml"), 0.5, 1)) {
    if (job.method != "long") continue;
    ++count;
    EXPECT_EQ(job.data, "grid");
    EXPECT_EQ(job.options.train.iterations, 1500);
  }
  EXPECT_EQ(count, 1);
  text.replace(text.find("[\"grid\"]"), 8, "[\"gird\"]");
  EXPECT_THAT(problem_of(text), HasSubstr("gird"));
}

TEST(Plan, MistakesNameFileAndLine) {
  EXPECT_THAT(problem_of("title = \n"), HasSubstr("small.toml:1"));
  std::string text = kSmall;
  text.replace(text.find("test_rows"), 9, "tset_rows");
  EXPECT_THAT(problem_of(text), HasSubstr("tset_rows"));
  text = kSmall;
  text.replace(text.find("\"weighted\""), 10, "\"wieghted\"");
  EXPECT_THAT(problem_of(text),
              ::testing::AllOf(HasSubstr("small.toml:13"), HasSubstr("wieghted")));
  text = kSmall;
  text.replace(text.find("source = \"ring\""), 15, "sauce = \"ring\" ");
  EXPECT_THAT(problem_of(text), HasSubstr("sauce"));
  EXPECT_THAT(problem_of("iterations = 0\n"), HasSubstr("iterations"));
}

TEST(EvaluationPoints, BeginAndEndAndIncrease) {
  for (const std::int64_t iterations : {1, 2, 20, 1000, 200000}) {
    const auto points = evaluation_points(iterations, 100);
    EXPECT_EQ(points.front(), 1);
    EXPECT_EQ(points.back(), iterations);
    EXPECT_TRUE(std::is_sorted(points.begin(), points.end()));
    EXPECT_LE(points.size(), 102U);
  }
  // Early iterations are measured too.
  const auto points = evaluation_points(200000, 200);
  EXPECT_GE(std::count_if(points.begin(), points.end(), [](auto p) { return p < 1000; }), 25);
}

}  // namespace
}  // namespace jeffreys::experiment

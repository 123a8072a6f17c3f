#include "base/time_left.h"

#include <gtest/gtest.h>

#include <cmath>

namespace jeffreys {
namespace {

JobPace pace(std::vector<std::string> kinds, double seconds, std::int64_t iterations,
             std::int64_t left) {
  return {std::move(kinds), seconds, iterations, left};
}

TEST(TimeLeft, UnknownBeforeTheFirstIteration) {
  EXPECT_TRUE(std::isnan(seconds_left({}, 2)));
  EXPECT_TRUE(std::isnan(seconds_left({pace({"ours"}, 3, 0, 100)}, 1)));
}

TEST(TimeLeft, EveryMethodHasItsOwnPace) {
  const std::vector<JobPace> jobs = {pace({"ours"}, 100, 50, 50), pace({"flow"}, 5, 100, 0),
                                     pace({"ours"}, 0, 0, 100), pace({"flow"}, 0, 0, 100)};
  EXPECT_DOUBLE_EQ(seconds_left(jobs, 1), 50 * 2 + 100 * 2 + 100 * 0.05);
}

TEST(TimeLeft, TheMostTellingKindThatWasSeenCounts) {
  const std::vector<JobPace> jobs = {
      pace({"ring/ours", "ours"}, 10, 10, 0), pace({"grid/ours", "ours"}, 30, 10, 0),
      pace({"grid/ours", "ours"}, 0, 0, 5), pace({"moons/ours", "ours"}, 0, 0, 5),
      pace({"moons/new", "new"}, 0, 0, 5)};
  EXPECT_DOUBLE_EQ(seconds_left(jobs, 1), 5 * 3 + 5 * 2 + 5 * 2);
}

TEST(TimeLeft, WorkersShareTheRunsButNotOneRun) {
  std::vector<JobPace> jobs = {pace({"a"}, 10, 10, 40), pace({"a"}, 0, 0, 40),
                               pace({"a"}, 0, 0, 40)};
  EXPECT_DOUBLE_EQ(seconds_left(jobs, 2), 60);
  EXPECT_DOUBLE_EQ(seconds_left(jobs, 8), 40);
}

}  // namespace
}  // namespace jeffreys

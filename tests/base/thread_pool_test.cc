#include "jeffreys/base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace jeffreys {
namespace {

// How often each of `count` jobs ran.
std::vector<int> visits(ThreadPool& pool, std::size_t count) {
  std::vector<std::atomic<int>> seen(count);
  pool.run(count, [&](std::size_t i) { ++seen[i]; });
  return {seen.begin(), seen.end()};
}

class ThreadPoolOf : public ::testing::TestWithParam<std::size_t> {
 protected:
  ThreadPool pool{GetParam()};
};

TEST_P(ThreadPoolOf, RunsEveryJobOnce) {
  for (const std::size_t count : {0U, 1U, 2U, 3U, 7U, 64U, 1000U}) {
    EXPECT_EQ(visits(pool, count), std::vector<int>(count, 1)) << count << " jobs";
  }
}

TEST_P(ThreadPoolOf, CountsItsThreads) { EXPECT_EQ(pool.threads(), GetParam()); }

// What a job wrote is visible to the caller.
TEST_P(ThreadPoolOf, ReturnsWhenAllIsDone) {
  std::vector<std::size_t> results(200, 0);
  for (std::size_t round = 1; round <= 50; ++round) {
    pool.run(results.size(), [&](std::size_t i) { results[i] = round * i; });
    for (std::size_t i = 0; i < results.size(); ++i) ASSERT_EQ(results[i], round * i);
  }
}

TEST_P(ThreadPoolOf, RethrowsAndLivesOn) {
  for (int round = 0; round < 20; ++round) {
    try {
      pool.run(50, [](std::size_t i) {
        if (i == 20) throw std::runtime_error("job 20");
      });
      ADD_FAILURE() << "no exception";
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(std::string(error.what()), "job 20");
    }
    ASSERT_EQ(visits(pool, 50), std::vector<int>(50, 1));
  }
}

TEST_P(ThreadPoolOf, SurvivesWhenEveryJobThrows) {
  EXPECT_THROW(pool.run(100, [](std::size_t) { throw std::out_of_range("each"); }),
               std::out_of_range);
  EXPECT_EQ(visits(pool, 100), std::vector<int>(100, 1));
}

TEST_P(ThreadPoolOf, RunsInsideOfItself) {
  std::vector<std::atomic<int>> seen(6 * 5);
  pool.run(6, [&](std::size_t i) { pool.run(5, [&](std::size_t j) { ++seen[i * 5 + j]; }); });
  for (const std::atomic<int>& count : seen) EXPECT_EQ(count.load(), 1);
}

TEST_P(ThreadPoolOf, PassesExceptionsOutOfNestedRuns) {
  EXPECT_THROW(pool.run(4,
                        [&](std::size_t) {
                          pool.run(4, [](std::size_t) { throw std::runtime_error("inner"); });
                        }),
               std::runtime_error);
  EXPECT_EQ(visits(pool, 9), std::vector<int>(9, 1));
}

TEST_P(ThreadPoolOf, ServesTwoCallersAtATime) {
  std::vector<std::atomic<int>> seen(2 * 40);
  const auto caller = [&](std::size_t offset) {
    for (int round = 0; round < 30; ++round) {
      pool.run(40, [&](std::size_t i) { ++seen[offset + i]; });
    }
  };
  std::thread first(caller, 0);
  std::thread second(caller, 40);
  first.join();
  second.join();
  for (const std::atomic<int>& count : seen) EXPECT_EQ(count.load(), 30);
}

INSTANTIATE_TEST_SUITE_P(Threads, ThreadPoolOf, ::testing::Values(1, 2, 3, 8));

TEST(ThreadPool, UsesItsThreads) {
  // Three jobs that wait for each other can end only if three threads have one each.
  ThreadPool pool(3);
  std::atomic<int> arrived = 0;
  pool.run(3, [&](std::size_t) {
    ++arrived;
    while (arrived < 3) std::this_thread::yield();
  });
  EXPECT_EQ(arrived, 3);
}

TEST(ThreadPool, EndsWithoutEverWorking) {
  for (int i = 0; i < 20; ++i) {
    const ThreadPool pool(4);
    EXPECT_EQ(pool.threads(), 4);
  }
}

TEST(ThreadPool, NeedsAThread) {
  try {
    const ThreadPool pool(0);
    ADD_FAILURE() << "no exception";
  } catch (const std::invalid_argument& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("threads"), std::string::npos) << message;
    EXPECT_NE(message.find(" 1 "), std::string::npos) << message;
    EXPECT_TRUE(message.ends_with(" 0")) << message;
  }
}

}  // namespace
}  // namespace jeffreys

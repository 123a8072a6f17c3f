#include "jeffreys/base/random_purpose.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace jeffreys {
namespace {

// Two uses with the same number would draw the same random numbers from the same seed.
TEST(RandomPurposes, AreAllDifferent) {
  const std::set<std::uint16_t> different(kRandomPurposes.begin(), kRandomPurposes.end());
  EXPECT_EQ(different.size(), kRandomPurposes.size());
  EXPECT_GT(different.size(), 40U);
}

TEST(RandomPurposes, LeaveRoomForThoseOfCallers) {
  for (const std::uint16_t purpose : kRandomPurposes) {
    EXPECT_TRUE(purpose < kFirstFree || purpose >= 0xfc00) << purpose;
  }
}

}  // namespace
}  // namespace jeffreys

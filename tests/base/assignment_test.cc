#include "jeffreys/base/assignment.h"

#include <gtest/gtest.h>

#include "support/mistake_of.h"

namespace jeffreys::testing {
namespace {

using NameAndValue = std::pair<std::string, std::string>;

TEST(Assignment, IsSplitAtTheEqualsThatCounts) {
  EXPECT_EQ(split_assignment("x=1", "--set", "KEY=VALUE"), NameAndValue("x", "1"));
  EXPECT_EQ(split_assignment("g=a=b", "--given", "COLUMN=VALUE"), NameAndValue("g", "a=b"));
  EXPECT_EQ(split_assignment("a=b=1", "--observed", "NAME=NUMBER", Equals::last),
            NameAndValue("a=b", "1"));
  EXPECT_EQ(split_assignment("x=", "--set", "KEY=VALUE"), NameAndValue("x", ""));
}

TEST(Assignment, NeedsANameAndAnEquals) {
  for (const char* text : {"", "x", "=1"}) {
    EXPECT_EQ(mistake_of([&] { (void)split_assignment(text, "--set", "KEY=VALUE"); }),
              std::string("--set: expected KEY=VALUE, got '") + text + "'");
  }
}

}  // namespace
}  // namespace jeffreys::testing

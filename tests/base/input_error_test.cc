#include "jeffreys/base/input_error.h"

#include <gtest/gtest.h>

namespace jeffreys {
namespace {

TEST(InputError, NamesThePlaceAsFarAsKnown) {
  EXPECT_STREQ(InputError("a.csv", "bad cell", 3, 7).what(), "a.csv:3:7: bad cell");
  EXPECT_STREQ(InputError("a.csv", "bad row", 3).what(), "a.csv:3: bad row");
  EXPECT_STREQ(InputError("a.csv", "missing").what(), "a.csv: missing");
  EXPECT_STREQ(InputError("", "missing").what(), "missing");
}

TEST(InputError, KeepsItsParts) {
  const InputError error("a.csv", "bad cell", 3, 7);
  EXPECT_EQ(error.file(), "a.csv");
  EXPECT_EQ(error.problem(), "bad cell");
  EXPECT_EQ(error.line(), 3u);
  EXPECT_EQ(error.column(), 7u);
}

}  // namespace
}  // namespace jeffreys

// TOML files: what the parser is kept from, and what it is not.
#include "base/flat_toml.h"

#include <gtest/gtest.h>

#include "support/refusal_of.h"

namespace jeffreys::testing {
namespace {

std::string refusal(const std::string& text) {
  return refusal_of([&] { static_cast<void>(parse_toml(text, "f.toml")); });
}

TEST(FlatToml, LettersBeyondAsciiStandInQuotesAndComments) {
  const toml::table table = parse_toml(
      "\xEF\xBB\xBF# \u00e9\n\"\u00e9\" = '\u4e2d' # \u4e2d\n"
      "a = \"\"\"one \" quote, \u00e9\nand \\\"\u00e9\"\"\"\"\nb = '\\'\n",
      "f.toml");
  EXPECT_EQ(table["\u00e9"].value<std::string>(), "\u4e2d");
  EXPECT_EQ(table["a"].value<std::string>(), "one \" quote, \u00e9\nand \"\u00e9\"");
  EXPECT_EQ(table["b"].value<std::string>(), "\\");
}

// Of these the parser asks whether they are white space, and then does what it calls unreachable.
TEST(FlatToml, LettersBeyondAsciiOutsideQuotesAreRefused) {
  for (const std::string letter :
       {"\u00e9", "\u4e2d", "\u3001", "\ufffe", "\ufb30", "\U0001F600"}) {
    EXPECT_EQ(refusal("a = 1\n" + letter + " = 2\n").find("f.toml:2: letters beyond ASCII"), 0U);
    EXPECT_NE(refusal("a = \"x\"" + letter), "none");
    EXPECT_NE(refusal("a = \"x\n" + letter + "\" = 1"), "none") << "a string that is not closed";
    EXPECT_NE(refusal("a = \"x\\\n" + letter + "\" = 1"), "none");
    EXPECT_NE(refusal("a = \"\"\"\n\n\"\"\"" + letter).find("f.toml:3: "), std::string::npos);
  }
}

TEST(FlatToml, LettersBeyondAsciiAfterABackslashAreRefused) {
  for (const std::string between : {"", " ", "\n", " \n\t"}) {
    EXPECT_NE(refusal("a = \"\"\"x\\" + between + "\ufcff\"\"\"").find("after a backslash"),
              std::string::npos);
  }
  const toml::table table =
      parse_toml("a = \"\"\"\\\\\u00e9 \\t\u00e9 \\\n b\u00e9\"\"\"", "f.toml");
  EXPECT_EQ(table["a"].value<std::string>(), "\\\u00e9 \t\u00e9 b\u00e9");
}

TEST(FlatToml, KeysOfThousandsOfPartsAreRefused) {
  std::string deep = "a";
  for (int i = 0; i < 30'000; ++i) deep += ".a";
  EXPECT_NE(refusal(deep + " = 1").find("100 parts"), std::string::npos);
  EXPECT_NE(refusal("b = \"\"\"\"\"\"\n" + deep + " = 1").find("f.toml:2: "), std::string::npos);
}

}  // namespace
}  // namespace jeffreys::testing

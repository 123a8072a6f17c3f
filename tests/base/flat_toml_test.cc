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

// The parser asks of these letters whether they are white space. With its own test for that, these
// were undefined behaviour: found by the fuzz target of settings.
TEST(FlatToml, LettersBeyondAsciiInTheWrongPlaceAreRefused) {
  for (const std::string letter :
       {"\u00e9", "\u4e2d", "\u3001", "\ufffe", "\ufb30", "\U0001F600"}) {
    for (const std::string& text :
         {"a" + letter, letter + " = 2", "a = \"x\"" + letter, "a = 3" + letter,
          "a = \"\"\"\\" + letter, "a = 3'" + letter + "'"}) {
      EXPECT_EQ(refusal("b = 1\n" + text + "\n").find("f.toml:2"), 0U) << text;
    }
  }
  EXPECT_EQ(parse_toml("a = \"\"\"\\\n \u00e9\"\"\"", "f.toml")["a"].value<std::string>(),
            "\u00e9");
  // White space as it may be only within strings.
  EXPECT_NE(refusal("a\u00a0= 1").find("expected space or tab"), std::string::npos);
}

TEST(FlatToml, KeysOfThousandsOfPartsAreRefused) {
  std::string deep = "a";
  for (int i = 0; i < 30'000; ++i) deep += ".a";
  EXPECT_NE(refusal(deep + " = 1").find("100 parts"), std::string::npos);
  EXPECT_NE(refusal("b = \"\"\"\"\"\"\n" + deep + " = 1").find("f.toml:2: "), std::string::npos);
}

}  // namespace
}  // namespace jeffreys::testing

// Checksums: xxHash's own numbers, whatever the pieces, and another number for other texts.
#include "jeffreys/storage/checksum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>

namespace jeffreys::storage {
namespace {

// By the program xxhsum -H3 of xxHash 0.8.1.
TEST(Checksum, IsXxh3With64Bits) {
  EXPECT_EQ(checksum_of(""), "2d06800538d394c2");
  EXPECT_EQ(checksum_of("jeffreys"), "103454ca600aedc2");
  EXPECT_EQ(checksum_of(std::string(1000, 'x')), "c0a4877b962cba82");
}

TEST(Checksum, DoesNotDependOnThePieces) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += static_cast<char>(i * i % 251);
  for (const std::size_t size : {1U, 7U, 64U, 999U, 1000U}) {
    Checksum checksum;
    for (std::size_t at = 0; at < text.size(); at += size) {
      checksum.add(std::as_bytes(std::span(text).subspan(at, std::min(size, text.size() - at))));
    }
    EXPECT_EQ(checksum.digits(), checksum_of(text)) << size;
  }
}

TEST(Checksum, TellsTextsApartThatAreDividedElsewhere) {
  Checksum one;
  one.add_text("ab");
  one.add_text("c");
  Checksum other;
  other.add_text("a");
  other.add_text("bc");
  EXPECT_NE(one.digits(), other.digits());
}

}  // namespace
}  // namespace jeffreys::storage

// Crops, sizes, channels and contact sheets.
#include <gtest/gtest.h>

#include <stdexcept>

#include "image/made_images.h"

namespace jeffreys::testing {
namespace {

// Numbers of Pillow 9.4, Image.resize(size, BILINEAR), on the same pattern.
TEST(Resize, GivesPillowsBytes) {
  const std::vector<std::uint8_t> smaller = {
      49,  94,  142, 163, 145, 118, 111, 112, 104, 160, 143, 101, 122, 142, 132, 123,
      162, 141, 99,  147, 126, 124, 132, 127, 163, 101, 152, 114, 134, 123, 126, 130,
      109, 142, 126, 138, 122, 131, 124, 129, 100, 139, 128, 120, 134, 122, 123, 128,
      135, 120, 131, 122, 121, 127, 127, 131, 143, 128, 125, 118, 141, 128, 124, 126};
  EXPECT_EQ(resize(pattern(45, 31), 8, 8).pixels, smaller);
  const std::vector<std::uint8_t> larger = {0,  3,  7,  12, 16, 21, 25, 28, 8,  12, 16,
                                            21, 26, 31, 36, 39, 18, 22, 27, 32, 38, 43,
                                            48, 51, 26, 30, 36, 41, 47, 52, 58, 62};
  EXPECT_EQ(resize(pattern(5, 3), 8, 4).pixels, larger);
}

TEST(Resize, KeepsAPictureOfThatSizeAndEveryFlatOne) {
  EXPECT_EQ(resize(pattern(9, 7, 3), 9, 7), pattern(9, 7, 3));
  Images flat = make_images(1, 50, 70, 3);
  std::fill(flat.pixels.begin(), flat.pixels.end(), std::uint8_t{201});
  const Images small = resize(flat, 13, 11);
  EXPECT_EQ(small.pixels, std::vector<std::uint8_t>(13 * 11 * 3, 201));
}

TEST(Resize, WorksOnEachChannelByItself) {
  const Images colour = resize(pattern(45, 31, 3), 8, 8);
  const Images grey = resize(pattern(45, 31), 8, 8);
  for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(colour.pixels[3 * i], grey.pixels[i]);
}

TEST(Crop, TakesTheRectangle) {
  const Images whole = pattern(10, 8, 3);
  const Images part = crop(whole, 2, 3, 4, 5);
  for (std::size_t y = 0; y < 5; ++y) {
    for (std::size_t i = 0; i < 4 * 3; ++i) {
      EXPECT_EQ(part.pixels[y * 12 + i], whole.pixels[((y + 3) * 10 + 2) * 3 + i]);
    }
  }
  EXPECT_THROW(static_cast<void>(crop(whole, 7, 0, 4, 4)), std::invalid_argument);
}

TEST(Pad, RepeatsTheEdgesAroundThePicture) {
  const Images padded = pad(pattern(3, 2), 6, 4);
  EXPECT_EQ(crop(padded, 1, 1, 3, 2), pattern(3, 2));
  EXPECT_EQ(padded.pixels[0], pattern(3, 2).pixels[0]);
  EXPECT_EQ(padded.pixels.back(), pattern(3, 2).pixels.back());
  EXPECT_THROW(static_cast<void>(pad(pattern(3, 2), 2, 4)), std::invalid_argument);
}

// Numbers of Pillow's convert("L").
TEST(Channels, LumaIsPillowsAndGreyIsRepeated) {
  const std::vector<std::uint8_t> luma = {41, 48, 55, 62, 69, 76, 54, 62, 70, 78, 86, 94};
  EXPECT_EQ(with_channels(pattern(6, 2, 3), 1).pixels, luma);
  EXPECT_EQ(with_channels(with_channels(pattern(6, 2), 3), 1), pattern(6, 2));
}

TEST(ContactSheet, HasEveryPictureInItsPlace) {
  Images several = make_images(5, 3, 4, 3);
  for (std::size_t i = 0; i < several.pixels.size(); ++i) {
    several.pixels[i] = static_cast<std::uint8_t>(i);
  }
  const Images sheet = contact_sheet(several, 2, 1, 2);
  EXPECT_EQ(sheet.width, 2 + 2 * (4 + 2));
  EXPECT_EQ(sheet.height, 2 + 3 * (3 + 2));
  for (std::size_t i = 0; i < 5; ++i) {
    const std::size_t which[] = {i};
    EXPECT_EQ(crop(sheet, 2 + i % 2 * 6, 2 + i / 2 * 5, 4, 3), take_images(several, which));
  }
  EXPECT_EQ(sheet.pixels.back(), 255);
  const Images large = contact_sheet(several, 5, 3, 0);
  EXPECT_EQ(large.width, 5 * 4 * 3);
  EXPECT_EQ(large.pixels[3 * 3], several.pixels[3]) << "the second pixel is three further";
  EXPECT_THROW(static_cast<void>(contact_sheet(make_images(0, 3, 4, 3), 2)), std::invalid_argument);
}

}  // namespace
}  // namespace jeffreys::testing

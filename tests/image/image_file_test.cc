// JPEG and PNG files that the tests make, and what is none.
#include <gmock/gmock.h>
#include <png.h>

#include <cstdlib>

#include "image/made_images.h"
#include "jeffreys/image/image_file.h"
#include "support/scratch_folder.h"

namespace jeffreys::testing {
namespace {

using ::testing::HasSubstr;

Images decode(const std::string& bytes) { return decode_image(as_bytes(bytes)); }

std::string why_not(const std::string& bytes) {
  try {
    static_cast<void>(decode(bytes));
  } catch (const NoImage& error) {
    return error.what();
  }
  return "";
}

void expect_near(const Images& actual, const Images& expected, int tolerance) {
  ASSERT_EQ(actual.height, expected.height);
  ASSERT_EQ(actual.width, expected.width);
  ASSERT_EQ(actual.channels, expected.channels);
  for (std::size_t i = 0; i < actual.pixels.size(); ++i) {
    ASSERT_LE(std::abs(int{actual.pixels[i]} - int{expected.pixels[i]}), tolerance) << i;
  }
}

TEST(Png, ComesBackAsItWas) {
  for (const std::size_t channels : {1, 3}) {
    EXPECT_EQ(decode(encode_png(pattern(33, 17, channels))), pattern(33, 17, channels));
  }
  EXPECT_EQ(encode_png(pattern(33, 17)), encode_png(pattern(33, 17)));
}

TEST(Png, OfSixteenBitsLosesTheLowerEight) {
  std::vector<std::uint8_t> lines;
  for (const std::uint8_t value : pattern(20, 10, 3).pixels) {
    lines.push_back(value);
    lines.push_back(value);  // 257 times a byte means the same
  }
  expect_near(decode(make_png(20, 10, 16, PNG_COLOR_TYPE_RGB, lines)), pattern(20, 10, 3), 1);
  lines.resize(20 * 10 * 2);
  for (std::size_t i = 0; i < 200; ++i) {
    lines[2 * i] = lines[2 * i + 1] = pattern(20, 10).pixels[i];
  }
  expect_near(decode(make_png(20, 10, 16, PNG_COLOR_TYPE_GRAY, lines)), pattern(20, 10), 1);
}

TEST(Png, OfAPaletteHasItsColours) {
  const std::vector<std::uint8_t> lines = {0, 1, 2, 3};
  const Images image = decode(make_png(2, 2, 8, PNG_COLOR_TYPE_PALETTE, lines));
  EXPECT_EQ(image.pixels, (std::vector<std::uint8_t>{255, 0, 0, 0, 255, 0, 0, 0, 255, 9, 8, 7}));
}

TEST(Png, ThatIsTransparentIsSeenOnWhite) {
  const std::vector<std::uint8_t> lines = {10, 20, 30, 255, 10, 20, 30, 0};
  const Images image = decode(make_png(2, 1, 8, PNG_COLOR_TYPE_RGBA, lines));
  EXPECT_EQ(image.pixels, (std::vector<std::uint8_t>{10, 20, 30, 255, 255, 255}));
}

TEST(Png, WithOneBitIsBlackAndWhite) {
  const std::vector<std::uint8_t> lines = {0b10100000};
  EXPECT_EQ(decode(make_png(4, 1, 1, PNG_COLOR_TYPE_GRAY, lines)).pixels,
            (std::vector<std::uint8_t>{255, 0, 255, 0}));
}

TEST(Jpeg, IsNearlyAsItWas) {
  expect_near(decode(make_jpeg(waves(64, 48))), waves(64, 48), 6);
  expect_near(decode(make_jpeg(waves(64, 48, 1))), waves(64, 48, 1), 3);
}

// Inks c, m, y, k let (1 - c)(1 - k) of the red through.
TEST(Jpeg, OfInksBecomesColours) {
  const Images inks = waves(32, 32, 4);
  // libjpeg writes the mark of Adobe with inks, which then are stored the other way round.
  Images expected = make_images(1, 32, 32, 3);
  for (std::size_t i = 0; i < 32 * 32; ++i) {
    for (std::size_t c = 0; c < 3; ++c) {
      expected.pixels[3 * i + c] =
          static_cast<std::uint8_t>(inks.pixels[4 * i + c] * inks.pixels[4 * i + 3] / 255);
    }
  }
  expect_near(decode(make_jpeg(inks)), expected, 5);
}

// The eight ways to hold a camera, each undone: bright corner of the file -> corner of the picture.
TEST(Jpeg, IsTurnedUpright) {
  Images image = make_images(1, 16, 32, 1);
  for (std::size_t y = 0; y < 8; ++y) {
    for (std::size_t x = 0; x < 8; ++x) image.pixels[y * 32 + x] = 250;
  }
  // orientation -> where the file's upper left corner belongs: right?, below?
  const bool right[] = {false, false, true, true, false, false, true, true, false};
  const bool below[] = {false, false, false, true, true, false, false, true, true};
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const Images up = decode(make_jpeg(image, orientation));
    const bool turned = orientation >= 5;
    ASSERT_EQ(up.width, turned ? 16 : 32) << orientation;
    ASSERT_EQ(up.height, turned ? 32 : 16);
    const std::size_t x = right[orientation] ? up.width - 4 : 3;
    const std::size_t y = below[orientation] ? up.height - 4 : 3;
    EXPECT_GT(up.pixels[y * up.width + x], 200) << orientation;
    EXPECT_LT(up.pixels[(up.height - 1 - y) * up.width + up.width - 1 - x], 50) << orientation;
  }
}

TEST(NoImages, AreNamed) {
  EXPECT_EQ(why_not("hello"), "neither JPEG nor PNG");
  EXPECT_EQ(why_not(""), "neither JPEG nor PNG");
  EXPECT_EQ(why_not("GIF89a..............."), "neither JPEG nor PNG");
}

TEST(NoImages, EveryFileThatEndsEarly) {
  const std::string jpeg = make_jpeg(pattern(64, 64, 3));
  const std::string png = encode_png(pattern(64, 64, 3));
  for (const std::size_t percent : {1, 10, 30, 50, 70, 90, 98}) {
    EXPECT_THAT(why_not(jpeg.substr(0, jpeg.size() * percent / 100)), HasSubstr("JPEG"));
    EXPECT_THAT(why_not(png.substr(0, png.size() * percent / 100)), HasSubstr("PNG"));
  }
}

// Damage is refused or, where it changes colours alone, harmless; never anything else.
TEST(NoImages, FlippedBytesNeverCrash) {
  for (const std::string& good : {make_jpeg(pattern(40, 40, 3), 6), encode_png(pattern(40, 40))}) {
    std::size_t refused = 0;
    for (std::size_t at = 0; at < good.size(); at += 7) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ 0x55);
      refused += why_not(bad).empty() ? 0 : 1;
    }
    EXPECT_GT(refused, 0U);
  }
}

TEST(NoImages, ThatWouldFillMemory) {
  std::string png = encode_png(pattern(8, 8));
  // The width is in bytes 16 to 19, and its chunk's checksum does not matter as much as the size.
  png[16] = 0x7f;
  EXPECT_NE(why_not(png), "");
}

class PngFile : public ScratchTest {};

TEST_F(PngFile, IsWritten) {
  write_png(path("a.png"), pattern(20, 30, 3));
  EXPECT_EQ(decode(bytes_of(path("a.png"))), pattern(20, 30, 3));
  EXPECT_THROW(write_png(path("no/a.png"), pattern(2, 3)), InputError);
}

}  // namespace
}  // namespace jeffreys::testing

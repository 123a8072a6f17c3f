// Pictures and files of them for the tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "jeffreys/image/images.h"

namespace jeffreys::testing {

// A pattern that is different at every pixel, the same every time.
inline Images pattern(std::size_t width, std::size_t height, std::size_t channels = 1) {
  Images image = make_images(1, height, width, channels);
  for (std::size_t y = 0, i = 0; y < height; ++y) {
    for (std::size_t x = 0; x < width; ++x) {
      for (std::size_t c = 0; c < channels; ++c, ++i) {
        image.pixels[i] = static_cast<std::uint8_t>((x * 7 + y * 13 + x * y + c * 50) % 256);
      }
    }
  }
  return image;
}

// Slow waves, which JPEG keeps nearly as they are.
inline Images waves(std::size_t width, std::size_t height, std::size_t channels = 3) {
  Images image = make_images(1, height, width, channels);
  for (std::size_t y = 0, i = 0; y < height; ++y) {
    for (std::size_t x = 0; x < width; ++x) {
      for (std::size_t c = 0; c < channels; ++c, ++i) {
        image.pixels[i] = static_cast<std::uint8_t>(20 + 50 * c + 50 * x / width + 30 * y / height);
      }
    }
  }
  return image;
}

inline std::span<const std::byte> as_bytes(const std::string& text) {
  return std::as_bytes(std::span(text));
}

// A JPEG file. channels of `image`: 1, 3, or 4 for inks. orientation: of its EXIF; 0: none.
std::string make_jpeg(const Images& image, int orientation = 0);
// A PNG file as libpng writes it: depth and colour type as in the file; lines: its bytes, row by
// row.
std::string make_png(std::size_t width, std::size_t height, int depth, int colour_type,
                     std::span<const std::uint8_t> lines);

}  // namespace jeffreys::testing

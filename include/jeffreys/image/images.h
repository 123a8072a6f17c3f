// Pictures in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace jeffreys {

// Several pictures of one size: pixels [count, height, width, channels], row-major; 1 channel for
// grey, 3 for red, green and blue. One picture is a set of count 1.
struct Images {
  std::size_t count = 0;
  std::size_t height = 0;
  std::size_t width = 0;
  std::size_t channels = 3;
  std::vector<std::uint8_t> pixels = {};

  [[nodiscard]] std::size_t bytes_of_one() const { return height * width * channels; }
  [[nodiscard]] std::span<const std::uint8_t> one(std::size_t i) const {
    return std::span(pixels).subspan(i * bytes_of_one(), bytes_of_one());
  }
  [[nodiscard]] std::span<std::uint8_t> one(std::size_t i) {
    return std::span(pixels).subspan(i * bytes_of_one(), bytes_of_one());
  }

  bool operator==(const Images&) const = default;
};

// Black ones.
[[nodiscard]] Images make_images(std::size_t count, std::size_t height, std::size_t width,
                                 std::size_t channels);
// These of them, in this order.
[[nodiscard]] Images take_images(const Images& images, std::span<const std::size_t> which);

// One picture without what is outside of a rectangle, which must be inside of it.
[[nodiscard]] Images crop(const Images& image, std::size_t left, std::size_t top, std::size_t width,
                          std::size_t height);
// One picture at another size, by a triangle filter that widens as it shrinks: the bytes are those
// of Pillow's Image.resize(..., BILINEAR).
[[nodiscard]] Images resize(const Images& image, std::size_t width, std::size_t height);
// One picture with its edge pixels repeated outwards, itself in the middle.
[[nodiscard]] Images pad(const Images& image, std::size_t width, std::size_t height);
// With 1 or 3 channels: grey is repeated; of colours the luma (ITU-R 601) is taken, as Pillow does.
[[nodiscard]] Images with_channels(const Images& images, std::size_t channels);

// All of them on one picture, `columns` in a row, with a margin of white pixels; large pixels
// for small pictures, if `enlarge` is above 1.
[[nodiscard]] Images contact_sheet(const Images& images, std::size_t columns,
                                   std::size_t enlarge = 1, std::size_t margin = 2);

}  // namespace jeffreys

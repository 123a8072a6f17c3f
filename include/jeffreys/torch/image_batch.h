// Pictures for a network: somebody else's bytes and their shape.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace jeffreys {

// pixels: [count, height, width, channels], row-major; 1 channel for grey, 3 for red, green, blue.
struct ImageBatch {
  std::size_t count = 0;
  std::size_t height = 0;
  std::size_t width = 0;
  std::size_t channels = 3;
  std::span<const std::uint8_t> pixels = {};

  [[nodiscard]] ImageBatch part(std::size_t first, std::size_t images) const {
    const std::size_t one = height * width * channels;
    return {images, height, width, channels, pixels.subspan(first * one, images * one)};
  }

  // Throws std::invalid_argument unless there are as many pixels as the shape says, none of its
  // sizes is 0 and the channels are 1 or 3.
  void validate() const;
};

}  // namespace jeffreys

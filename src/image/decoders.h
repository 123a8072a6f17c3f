// What decode_image() chooses from.
#pragma once

#include "jeffreys/image/image_file.h"

namespace jeffreys {

[[nodiscard]] Images decode_jpeg(std::span<const std::byte> bytes);
[[nodiscard]] Images decode_png(std::span<const std::byte> bytes);

// Throws NoImage for sizes beyond kMostPixels, before memory is claimed.
void require_pixels(std::size_t width, std::size_t height);

}  // namespace jeffreys

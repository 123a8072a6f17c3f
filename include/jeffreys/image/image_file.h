// JPEG and PNG files.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>

#include "jeffreys/image/images.h"

namespace jeffreys {

// Why bytes are no picture that can be used: a short sentence without the name of a file.
class NoImage : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Beyond this a file is a mistake, or made to fill memory.
inline constexpr std::size_t kMostPixels = std::size_t{1} << 27;

// One picture from the bytes of a JPEG or PNG file, which begins with its signature whatever it is
// called. Grey ones have one channel, all others three; 16 bits become 8, a palette its colours,
// CMYK its RGB, and what shines through is seen on white. A JPEG that says how the camera was
// held (EXIF) is turned upright. Throws NoImage for anything else, and for a file that ends early
// or is damaged.
[[nodiscard]] Images decode_image(std::span<const std::byte> bytes);

// The bytes of a PNG file with one picture. The same picture gives the same bytes.
[[nodiscard]] std::string encode_png(const Images& image);
// Replaces the file atomically. Throws InputError as AtomicFile does.
void write_png(const std::filesystem::path& path, const Images& image);

}  // namespace jeffreys

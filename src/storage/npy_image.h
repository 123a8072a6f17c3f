#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "jeffreys/storage/array.h"

namespace jeffreys::storage {

// The bytes of one .npy array inside a file.
struct NpyImage {
  std::string file;
  // Put before every problem: "" for an .npy file, "array "x": " in an archive.
  std::string label;
  // Length as the file claims it.
  std::size_t size = 0;
  // Bytes that the file really spends on it, perhaps compressed: so much memory may be claimed at
  // once.
  std::size_t stored_size = 0;
  // Fills the buffer with the next bytes; fewer only at the end. Returns how many.
  std::function<std::size_t(std::span<std::byte>)> read;
};

// Throws InputError unless the image is exactly one array and ends where it claims to end.
Array read_npy_image(const NpyImage& image);

}  // namespace jeffreys::storage

#include "jeffreys/storage/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "jeffreys/base/input_error.h"
#include "jeffreys/storage/atomic_file.h"
#include "jeffreys/storage/input_file.h"
#include "storage/npy_header.h"
#include "storage/npy_image.h"

namespace jeffreys::storage {
namespace {

// A dictionary for a plain dtype and 32 dimensions needs less than 1 kB.
constexpr std::size_t kMaxHeaderText = 65536;

[[noreturn]] void fail(const NpyImage& image, std::string_view problem) {
  throw InputError(image.file, image.label + std::string(problem));
}

void read_exactly(const NpyImage& image, std::span<std::byte> buffer) {
  if (image.read(buffer) != buffer.size()) {
    fail(image, "the array is cut short; write or copy the file again");
  }
}

// Text of the dictionary. `consumed` becomes the number of bytes read so far.
std::string read_header_text(const NpyImage& image, std::size_t& consumed) {
  constexpr std::string_view kMagic = "\x93NUMPY";
  std::array<unsigned char, 12> prefix{};
  const auto bytes = std::as_writable_bytes(std::span(prefix));
  read_exactly(image, bytes.first(8));
  if (std::memcmp(prefix.data(), kMagic.data(), kMagic.size()) != 0) {
    fail(image, "is not a NumPy array: the first bytes are wrong; write it with numpy.save");
  }
  const unsigned version = prefix[6];
  if (version < 1 || version > 3 || prefix[7] != 0) {
    fail(image, fmt::format(".npy version {}.{} is not known; write the array with an older NumPy",
                            version, prefix[7]));
  }
  consumed = version == 1 ? 10 : 12;
  read_exactly(image, bytes.subspan(8, consumed - 8));
  std::size_t length = 0;
  for (std::size_t i = consumed; i-- > 8;) length = length << 8 | prefix[i];
  if (length > kMaxHeaderText) {
    fail(image,
         fmt::format("the .npy header has {} bytes, the limit is {}; write the file again with "
                     "numpy.save",
                     length, kMaxHeaderText));
  }
  std::string text(length, '\0');
  read_exactly(image, std::as_writable_bytes(std::span(text)));
  consumed += length;
  return text;
}

// Grows with what has arrived, so a compressed image that lies about its size costs no more than
// twice the bytes it really has.
std::vector<std::byte> read_items(const NpyImage& image, std::size_t size) {
  std::vector<std::byte> items;
  while (items.size() < size) {
    const std::size_t have = items.size();
    constexpr std::size_t kLeastStep = 65536;
    items.resize(std::min(size, std::max({image.stored_size, kLeastStep, 2 * have})));
    read_exactly(image, std::span(items).subspan(have));
  }
  return items;
}

template <std::size_t ItemSize>
std::vector<std::byte> to_row_major(const std::vector<std::byte>& column_major,
                                    const std::vector<std::int64_t>& shape) {
  std::vector<std::byte> row_major(column_major.size());
  std::vector<std::size_t> strides;
  std::size_t stride = ItemSize;
  for (const std::int64_t dimension : shape) {
    strides.push_back(stride);
    stride *= static_cast<std::size_t>(dimension);
  }
  std::vector<std::int64_t> index(shape.size(), 0);
  std::size_t from = 0;
  for (std::size_t to = 0; to < row_major.size(); to += ItemSize) {
    std::memcpy(&row_major[to], &column_major[from], ItemSize);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      from += strides[axis];
      if (++index[axis] < shape[axis]) break;
      from -= strides[axis] * static_cast<std::size_t>(shape[axis]);
      index[axis] = 0;
    }
  }
  return row_major;
}

}  // namespace

Array read_npy_image(const NpyImage& image) {
  std::size_t consumed = 0;
  const std::string text = read_header_text(image, consumed);
  NpyHeader header = parse_npy_header(text, image.file, image.label);
  const std::size_t expected = byte_size(header.dtype, header.shape);
  if (image.size < consumed || image.size - consumed != expected) {
    fail(image,
         fmt::format("the header promises {} bytes of data, the file holds {}; write or copy "
                     "the file again",
                     expected, image.size < consumed ? 0 : image.size - consumed));
  }
  Array array{header.dtype, std::move(header.shape), read_items(image, expected)};
  // The archive's checksum is compared only when the end has been seen.
  std::byte beyond{};
  if (image.read(std::span(&beyond, 1)) != 0) {
    fail(image, "there are more bytes than promised; write or copy the file again");
  }
  if (header.fortran_order && array.shape.size() > 1) {
    switch (item_size(array.dtype)) {
      case 1: array.bytes = to_row_major<1>(array.bytes, array.shape); break;
      case 4: array.bytes = to_row_major<4>(array.bytes, array.shape); break;
      default: array.bytes = to_row_major<8>(array.bytes, array.shape);
    }
  }
  return array;
}

Array read_npy(const std::filesystem::path& path) {
  InputFile file(path);
  return read_npy_image(
      {.file = file.name(),
       .label = "",
       .size = file.size(),
       .stored_size = file.size(),
       .read = [&file](std::span<std::byte> buffer) { return file.read(buffer); }});
}

void write_npy(const std::filesystem::path& path, const Array& array) {
  require_consistent(array, "write_npy: array");
  const std::string header = format_npy_header(array.dtype, array.shape);
  AtomicFile file(path);
  file.write(std::as_bytes(std::span(header)));
  file.write(array.bytes);
  file.commit();
}

}  // namespace jeffreys::storage

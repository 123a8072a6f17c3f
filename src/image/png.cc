// PNG by libpng's simplified interface, which reports errors without longjmp.
#include <fmt/format.h>
#include <png.h>

#include <cstring>

#include "image/decoders.h"
#include "jeffreys/storage/atomic_file.h"

namespace jeffreys {
namespace {

class PngReader {
 public:
  explicit PngReader(std::span<const std::byte> bytes) {
    image_.version = PNG_IMAGE_VERSION;
    if (png_image_begin_read_from_memory(&image_, bytes.data(), bytes.size()) == 0) fail();
  }
  ~PngReader() { png_image_free(&image_); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  Images read() {
    require_pixels(image_.width, image_.height);
    const bool colour = (image_.format & PNG_FORMAT_FLAG_COLOR) != 0;
    // What 16 bits mean is what 8 bits mean, with more places.
    image_.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
    image_.format = colour ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
    Images image = make_images(1, image_.height, image_.width, colour ? 3 : 1);
    const png_color white{255, 255, 255};
    if (png_image_finish_read(&image_, &white, image.pixels.data(), 0, nullptr) == 0) fail();
    return image;
  }

 private:
  [[noreturn]] void fail() const {
    throw NoImage(fmt::format("a PNG file that ends early or is damaged ({})",
                              static_cast<const char*>(image_.message)));
  }
  png_image image_ = {};
};

constexpr unsigned char kPngSignature[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
constexpr unsigned char kJpegSignature[] = {0xff, 0xd8, 0xff};

template <std::size_t N>
bool begins_with(std::span<const std::byte> bytes, const unsigned char (&signature)[N]) {
  return bytes.size() >= N && std::memcmp(bytes.data(), signature, N) == 0;
}

}  // namespace

void require_pixels(std::size_t width, std::size_t height) {
  if (width == 0 || height == 0) throw NoImage("a picture without pixels");
  if (width > kMostPixels / height) {
    throw NoImage(fmt::format("{} x {} pixels, too many to be read: at most {} million", width,
                              height, kMostPixels / 1'000'000));
  }
}

Images decode_png(std::span<const std::byte> bytes) { return PngReader(bytes).read(); }

Images decode_image(std::span<const std::byte> bytes) {
  if (begins_with(bytes, kPngSignature)) return decode_png(bytes);
  if (begins_with(bytes, kJpegSignature)) return decode_jpeg(bytes);
  throw NoImage("neither JPEG nor PNG");
}

std::string encode_png(const Images& image) {
  if (image.count != 1) {
    throw std::invalid_argument(fmt::format("image: expected 1 picture, got {}", image.count));
  }
  png_image head = {};
  head.version = PNG_IMAGE_VERSION;
  head.width = static_cast<png_uint_32>(image.width);
  head.height = static_cast<png_uint_32>(image.height);
  head.format = image.channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(head);
  std::string bytes(size, '\0');
  if (png_image_write_to_memory(&head, bytes.data(), &size, 0, image.pixels.data(), 0, nullptr) ==
      0) {
    throw std::runtime_error(fmt::format("PNG: {}", static_cast<const char*>(head.message)));
  }
  bytes.resize(size);
  return bytes;
}

void write_png(const std::filesystem::path& path, const Images& image) {
  const std::string bytes = encode_png(image);
  storage::write_file_atomically(path, std::as_bytes(std::span(bytes)));
}

}  // namespace jeffreys

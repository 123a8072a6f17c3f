// JPEG by libjpeg-turbo, whose errors leave by longjmp: no object with a destructor is made between
// setjmp and the calls that may jump.
#include <csetjmp>
// Needs std::FILE before it.
#include <cstdio>

#include <jpeglib.h>

#include <jerror.h>

#include <algorithm>
#include <array>
#include <utility>

#include "image/decoders.h"

namespace jeffreys {
namespace {

struct Errors {
  jpeg_error_mgr manager;
  std::jmp_buf jump;
  std::array<char, JMSG_LENGTH_MAX> text;
  bool cut_short;
};

Errors& errors_of(j_common_ptr info) { return *reinterpret_cast<Errors*>(info->err); }

void on_error(j_common_ptr info) {
  Errors& errors = errors_of(info);
  info->err->format_message(info, errors.text.data());
  std::longjmp(errors.jump, 1);
}

// The decoder goes on with grey where a file ends early or its codes make no sense.
void on_message(j_common_ptr info, int level) {
  const int code = info->err->msg_code;
  if (level < 0 &&
      (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER || code == JWRN_HUFF_BAD_CODE)) {
    errors_of(info).cut_short = true;
  }
}

// The number under the EXIF tag "orientation", 1 to 8, or 1.
int orientation_in(std::span<const unsigned char> exif) {
  constexpr std::size_t kHeader = 6;  // "Exif\0\0"
  if (exif.size() < kHeader + 8 || exif[0] != 'E' || exif[1] != 'x') return 1;
  const std::span<const unsigned char> tiff = exif.subspan(kHeader);
  const bool large_first = tiff[0] == 'M';
  const auto number = [&](std::size_t at, std::size_t bytes) {
    std::size_t value = 0;
    for (std::size_t k = 0; k < bytes; ++k) {
      value = value << 8 | tiff[large_first ? at + k : at + bytes - 1 - k];
    }
    return value;
  };
  const std::size_t directory = number(4, 4);
  if (directory > tiff.size() || tiff.size() - directory < 2) return 1;
  const std::size_t entries = number(directory, 2);
  for (std::size_t i = 0; i < entries; ++i) {
    const std::size_t at = directory + 2 + 12 * i;
    if (at + 12 > tiff.size()) return 1;
    constexpr std::size_t kOrientation = 0x0112;
    if (number(at, 2) != kOrientation) continue;
    const auto value = static_cast<int>(number(at + 8, 2));
    return value >= 1 && value <= 8 ? value : 1;
  }
  return 1;
}

struct Decoder {
  jpeg_decompress_struct info;
  Errors errors;
  int orientation;
};

bool begin(Decoder& d, std::span<const std::byte> bytes) {
  d.info.err = jpeg_std_error(&d.errors.manager);
  d.errors.manager.error_exit = on_error;
  d.errors.manager.emit_message = on_message;
  if (setjmp(d.errors.jump) != 0) return false;
  jpeg_create_decompress(&d.info);
  jpeg_save_markers(&d.info, JPEG_APP0 + 1, 0xffff);
  jpeg_mem_src(&d.info, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  jpeg_read_header(&d.info, TRUE);
  const J_COLOR_SPACE stored = d.info.jpeg_color_space;
  d.info.out_color_space = stored == JCS_GRAYSCALE                    ? JCS_GRAYSCALE
                           : stored == JCS_CMYK || stored == JCS_YCCK ? JCS_CMYK
                                                                      : JCS_RGB;
  d.orientation = 1;
  for (const jpeg_marker_struct* m = d.info.marker_list; m != nullptr; m = m->next) {
    const int found = orientation_in({m->data, m->data_length});
    if (found != 1) d.orientation = found;
  }
  return true;
}

// pixels: room for the whole picture.
bool read_pixels(Decoder& d, std::uint8_t* pixels) {
  if (setjmp(d.errors.jump) != 0) return false;
  jpeg_start_decompress(&d.info);
  const std::size_t line =
      std::size_t{d.info.output_width} * static_cast<std::size_t>(d.info.output_components);
  while (d.info.output_scanline < d.info.output_height) {
    JSAMPROW row = pixels + d.info.output_scanline * line;
    jpeg_read_scanlines(&d.info, &row, 1);
  }
  jpeg_finish_decompress(&d.info);
  return true;
}

// Four channels of ink to three of light. Adobe's programs store them the other way round.
Images from_inks(const Images& inks, bool inverted) {
  Images result = make_images(1, inks.height, inks.width, 3);
  for (std::size_t i = 0; i < inks.height * inks.width; ++i) {
    const std::uint8_t* ink = inks.pixels.data() + 4 * i;
    const auto light = [&](std::size_t c) { return inverted ? ink[c] : 255U - ink[c]; };
    for (std::size_t c = 0; c < 3; ++c) {
      result.pixels[3 * i + c] = static_cast<std::uint8_t>((light(c) * light(3) + 127) / 255);
    }
  }
  return result;
}

Images upright(const Images& image, int orientation) {
  if (orientation == 1) return image;
  const bool transposed = orientation >= 5;
  const std::size_t high = transposed ? image.width : image.height;
  const std::size_t wide = transposed ? image.height : image.width;
  // Which pixel of the file comes to (x, y).
  const bool from_right =
      orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  const bool from_below =
      orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  Images result = make_images(1, high, wide, image.channels);
  std::uint8_t* out = result.pixels.data();
  for (std::size_t y = 0; y < high; ++y) {
    for (std::size_t x = 0; x < wide; ++x) {
      const std::size_t across = transposed ? y : x, down = transposed ? x : y;
      const std::size_t column = from_right ? image.width - 1 - across : across;
      const std::size_t row = from_below ? image.height - 1 - down : down;
      out = std::copy_n(image.pixels.data() + (row * image.width + column) * image.channels,
                        image.channels, out);
    }
  }
  return result;
}

}  // namespace

Images decode_jpeg(std::span<const std::byte> bytes) {
  Decoder d{};
  struct Closing {
    jpeg_decompress_struct& info;
    ~Closing() { jpeg_destroy_decompress(&info); }
  } closing{d.info};
  const auto fail = [&] {
    throw NoImage(std::string("a damaged JPEG file (") + d.errors.text.data() + ")");
  };
  if (!begin(d, bytes)) fail();
  require_pixels(d.info.image_width, d.info.image_height);
  const std::size_t channels = d.info.out_color_space == JCS_GRAYSCALE ? 1
                               : d.info.out_color_space == JCS_CMYK    ? 4
                                                                       : 3;
  Images image = make_images(1, d.info.image_height, d.info.image_width, channels);
  if (!read_pixels(d, image.pixels.data())) fail();
  if (d.errors.cut_short) throw NoImage("a JPEG file that ends early or is damaged");
  if (channels == 4) image = from_inks(image, d.info.saw_Adobe_marker != FALSE);
  return upright(image, d.orientation);
}

}  // namespace jeffreys

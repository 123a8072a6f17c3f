#include "jeffreys/image/images.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace jeffreys {
namespace {

void require_one(const Images& image) {
  if (image.count != 1) {
    throw std::invalid_argument(fmt::format("image: expected 1 picture, got {}", image.count));
  }
}

// The pixels of a line that make one of another length, with their weights in fixed point.
struct Taps {
  std::size_t first = 0;
  std::vector<std::int32_t> weights = {};
};

// As Pillow has it: weights are rounded to 22 binary places.
constexpr int kPlaces = 22;

std::vector<Taps> triangle_taps(std::size_t from, std::size_t to) {
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  const double width = std::max(scale, 1.0);
  std::vector<Taps> all(to);
  for (std::size_t i = 0; i < to; ++i) {
    const double centre = (static_cast<double>(i) + 0.5) * scale;
    const auto begin = static_cast<std::size_t>(std::floor(std::max(centre - width + 0.5, 0.0)));
    const auto end = std::min(static_cast<std::size_t>(std::floor(centre + width + 0.5)), from);
    std::vector<double> weights;
    double sum = 0;
    for (std::size_t x = begin; x < end; ++x) {
      const double distance = std::abs((static_cast<double>(x) - centre + 0.5) / width);
      weights.push_back(std::max(1.0 - distance, 0.0));
      sum += weights.back();
    }
    all[i].first = begin;
    for (const double weight : weights) {
      all[i].weights.push_back(static_cast<std::int32_t>(
          std::floor(0.5 + weight / sum * static_cast<double>(1 << kPlaces))));
    }
  }
  return all;
}

std::uint8_t weighed(const std::uint8_t* values, std::size_t stride, const Taps& taps) {
  std::int32_t sum = 1 << (kPlaces - 1);
  for (std::size_t k = 0; k < taps.weights.size(); ++k) {
    sum += taps.weights[k] * values[k * stride];
  }
  return static_cast<std::uint8_t>(std::clamp(sum >> kPlaces, 0, 255));
}

Images resize_rows(const Images& image, std::size_t width) {
  const std::vector<Taps> taps = triangle_taps(image.width, width);
  Images result = make_images(1, image.height, width, image.channels);
  for (std::size_t y = 0; y < image.height; ++y) {
    const std::uint8_t* line = image.pixels.data() + y * image.width * image.channels;
    std::uint8_t* out = result.pixels.data() + y * width * image.channels;
    for (const Taps& tap : taps) {
      for (std::size_t c = 0; c < image.channels; ++c) {
        *out++ = weighed(line + tap.first * image.channels + c, image.channels, tap);
      }
    }
  }
  return result;
}

Images resize_columns(const Images& image, std::size_t height) {
  const std::vector<Taps> taps = triangle_taps(image.height, height);
  const std::size_t stride = image.width * image.channels;
  Images result = make_images(1, height, image.width, image.channels);
  std::uint8_t* out = result.pixels.data();
  for (const Taps& tap : taps) {
    const std::uint8_t* first = image.pixels.data() + tap.first * stride;
    for (std::size_t x = 0; x < stride; ++x) *out++ = weighed(first + x, stride, tap);
  }
  return result;
}

}  // namespace

Images make_images(std::size_t count, std::size_t height, std::size_t width, std::size_t channels) {
  return {count, height, width, channels,
          std::vector<std::uint8_t>(count * height * width * channels)};
}

Images take_images(const Images& images, std::span<const std::size_t> which) {
  Images part = make_images(which.size(), images.height, images.width, images.channels);
  for (std::size_t i = 0; i < which.size(); ++i) {
    std::ranges::copy(images.one(which[i]), part.one(i).begin());
  }
  return part;
}

Images crop(const Images& image, std::size_t left, std::size_t top, std::size_t width,
            std::size_t height) {
  require_one(image);
  if (left + width > image.width || top + height > image.height) {
    throw std::invalid_argument(
        fmt::format("crop: {} x {} pixels at ({}, {}) are not inside {} x "
                    "{}",
                    width, height, left, top, image.width, image.height));
  }
  Images part = make_images(1, height, width, image.channels);
  const std::size_t bytes = width * image.channels;
  for (std::size_t y = 0; y < height; ++y) {
    const std::uint8_t* line =
        image.pixels.data() + ((top + y) * image.width + left) * image.channels;
    std::copy_n(line, bytes, part.pixels.data() + y * bytes);
  }
  return part;
}

Images resize(const Images& image, std::size_t width, std::size_t height) {
  require_one(image);
  return resize_columns(resize_rows(image, width), height);
}

Images pad(const Images& image, std::size_t width, std::size_t height) {
  require_one(image);
  if (width < image.width || height < image.height) {
    throw std::invalid_argument(fmt::format("pad: expected at least {} x {}, got {} x {}",
                                            image.width, image.height, width, height));
  }
  const auto source = [](std::size_t at, std::size_t small, std::size_t large) {
    const std::size_t before = (large - small) / 2;
    return at < before ? 0 : std::min(at - before, small - 1);
  };
  Images result = make_images(1, height, width, image.channels);
  std::uint8_t* out = result.pixels.data();
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t x = 0; x < width; ++x) {
      const std::size_t from =
          source(y, image.height, height) * image.width + source(x, image.width, width);
      out = std::copy_n(image.pixels.data() + from * image.channels, image.channels, out);
    }
  }
  return result;
}

Images with_channels(const Images& images, std::size_t channels) {
  if (images.channels == channels) return images;
  Images result = make_images(images.count, images.height, images.width, channels);
  const std::size_t pixels = images.count * images.height * images.width;
  for (std::size_t i = 0; i < pixels; ++i) {
    if (channels == 3) {
      std::fill_n(result.pixels.data() + 3 * i, 3, images.pixels[i]);
    } else {
      const std::uint8_t* p = images.pixels.data() + 3 * i;
      result.pixels[i] =
          static_cast<std::uint8_t>((p[0] * 19595U + p[1] * 38470U + p[2] * 7471U + 0x8000U) >> 16);
    }
  }
  return result;
}

Images contact_sheet(const Images& images, std::size_t columns, std::size_t enlarge,
                     std::size_t margin) {
  if (images.count == 0 || columns == 0 || enlarge == 0) {
    throw std::invalid_argument("contact_sheet: expected pictures, columns and pixels, got none");
  }
  columns = std::min(columns, images.count);
  const std::size_t rows = (images.count + columns - 1) / columns;
  const std::size_t channels = images.channels;
  const std::size_t wide = images.width * enlarge, high = images.height * enlarge;
  Images sheet =
      make_images(1, margin + rows * (high + margin), margin + columns * (wide + margin), channels);
  std::ranges::fill(sheet.pixels, std::uint8_t{255});
  for (std::size_t i = 0; i < images.count; ++i) {
    const std::span<const std::uint8_t> one = images.one(i);
    const std::size_t top = margin + i / columns * (high + margin);
    const std::size_t left = margin + i % columns * (wide + margin);
    for (std::size_t y = 0; y < high; ++y) {
      std::uint8_t* out = sheet.pixels.data() + ((top + y) * sheet.width + left) * channels;
      for (std::size_t x = 0; x < wide; ++x) {
        const std::size_t from = (y / enlarge * images.width + x / enlarge) * channels;
        out = std::copy_n(one.data() + from, channels, out);
      }
    }
  }
  return sheet;
}

}  // namespace jeffreys

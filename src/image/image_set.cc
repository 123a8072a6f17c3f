#include "jeffreys/image/image_set.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "base/quote.h"
#include "image/image_records.h"
#include "jeffreys/base/input_error.h"
#include "jeffreys/base/thread_pool.h"
#include "jeffreys/image/image_file.h"

namespace jeffreys {
namespace {

constexpr std::size_t kUsualSize = 64;
constexpr std::size_t kSmallSize = 32;

// How CelebA's aligned faces come, and the part of them that is usual.
constexpr std::size_t kFaceWidth = 178;
constexpr std::size_t kFaceHeight = 218;
constexpr std::size_t kFaceCrop = 148;

std::size_t square_of(const Images& image) {
  if (image.width == kFaceWidth && image.height == kFaceHeight) return kFaceCrop;
  return std::min(image.width, image.height);
}

// The smallest side that is padded.
std::size_t least_side(std::size_t size) { return size - size / 8; }

Images as_square(const Images& image, std::size_t size) {
  const std::size_t side = square_of(image);
  if (side < least_side(size)) {
    throw NoImage(fmt::format("{} x {} pixels, too small for {} x {}", image.width, image.height,
                              size, size));
  }
  const Images square =
      crop(image, (image.width - side) / 2, (image.height - side) / 2, side, side);
  return side < size ? pad(square, size, size) : resize(square, size, size);
}

// What became of a record.
struct Outcome {
  Images image = {};
  std::string why = {};  // not empty: refused
};

Outcome read_one(const ImageRecords& records, std::size_t i, std::size_t size) {
  try {
    return {as_square(records.read(i), size), {}};
  } catch (const NoImage& error) {
    return {{}, error.what()};
  } catch (const InputError& error) {
    return {{}, error.problem()};
  }
}

// That of the first picture that can be read.
std::size_t usual_size(const ImageRecords& records) {
  for (std::size_t i = 0; i < records.count(); ++i) {
    try {
      return square_of(records.read(i)) < least_side(kUsualSize) ? kSmallSize : kUsualSize;
    } catch (const NoImage&) {
    } catch (const InputError&) {
    }
  }
  return kUsualSize;
}

// In blocks, so that somebody can be told, and can stop it.
std::vector<Outcome> read_all(const ImageRecords& records, std::size_t size,
                              const ImageSetOptions& options) {
  std::size_t all = records.count();
  if (options.most > 0) all = std::min(all, options.most);
  std::vector<Outcome> outcomes(all);
  ThreadPool pool(std::max<std::size_t>(options.threads, 1));
  constexpr std::size_t kBlock = 64;
  for (std::size_t first = 0; first < all; first += kBlock) {
    if (options.should_stop && options.should_stop()) {
      throw Interrupted("interrupted while pictures were read");
    }
    pool.run(std::min(kBlock, all - first),
             [&](std::size_t i) { outcomes[first + i] = read_one(records, first + i, size); });
    if (options.progress) options.progress(std::min(first + kBlock, all), all);
  }
  return outcomes;
}

std::size_t channels_of(const std::vector<Outcome>& outcomes, std::size_t asked) {
  if (asked != 0) return asked;
  const bool colour = std::any_of(outcomes.begin(), outcomes.end(), [](const Outcome& outcome) {
    return outcome.why.empty() && outcome.image.channels == 3;
  });
  return colour ? 3 : 1;
}

void check_options(const ImageSetOptions& options) {
  if (options.channels != 0 && options.channels != 1 && options.channels != 3) {
    throw std::invalid_argument(fmt::format("channels: expected 1 or 3, got {}", options.channels));
  }
  constexpr std::size_t kLargest = 1024;
  if (options.size != 0 && (options.size < 8 || options.size > kLargest)) {
    throw std::invalid_argument(
        fmt::format("size: expected 8 to {}, got {}", kLargest, options.size));
  }
}

}  // namespace

std::string ImageSet::refusals(std::size_t shown) const {
  if (refused.empty()) return {};
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < std::min(shown, refused.size()); ++i) {
    parts.push_back(fmt::format("{} ({})", quote(refused[i].name), refused[i].why));
  }
  return fmt::format("{} of {} files could not be used: {}{}", refused.size(),
                     refused.size() + names.size(), fmt::join(parts, ", "),
                     refused.size() > shown ? ", ..." : "");
}

ImageSet read_images(const std::filesystem::path& path, const ImageSetOptions& options) {
  check_options(options);
  const std::unique_ptr<ImageRecords> records = open_image_records(path, options.array);
  const std::size_t size = options.size == 0 ? usual_size(*records) : options.size;
  std::vector<Outcome> outcomes = read_all(*records, size, options);
  ImageSet set{.source = path.string(), .images = {}, .names = {}};
  const std::size_t channels = channels_of(outcomes, options.channels);
  set.images = make_images(0, size, size, channels);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (!outcomes[i].why.empty()) {
      set.refused.push_back({records->name(i), outcomes[i].why});
      continue;
    }
    const Images image = with_channels(outcomes[i].image, channels);
    outcomes[i].image = {};
    set.images.pixels.insert(set.images.pixels.end(), image.pixels.begin(), image.pixels.end());
    set.names.push_back(records->name(i));
  }
  set.images.count = set.names.size();
  if (set.names.empty()) {
    throw InputError(path.string(), set.refused.empty()
                                        ? "holds no files: expected JPEG or PNG files"
                                        : "holds no picture that can be used; " + set.refusals());
  }
  return set;
}

}  // namespace jeffreys

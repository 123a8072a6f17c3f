#include "image/image_records.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "jeffreys/base/input_error.h"
#include "jeffreys/image/image_file.h"
#include "jeffreys/storage/input_file.h"
#include "jeffreys/storage/npy.h"
#include "jeffreys/storage/npz.h"

namespace jeffreys {
namespace {

namespace fs = std::filesystem;
using storage::Array;
using storage::Arrays;

constexpr std::size_t kLargestPicture = std::size_t{1} << 30;

std::vector<std::byte> bytes_of_file(const fs::path& path) {
  storage::InputFile file(path);
  if (file.size() > kLargestPicture) throw NoImage("larger than 1 GB");
  std::vector<std::byte> bytes(file.size());
  bytes.resize(file.read(bytes));
  return bytes;
}

// Files of a folder.
class FileRecords final : public ImageRecords {
 public:
  explicit FileRecords(const fs::path& path) : folder_(path) {
    if (!fs::is_directory(path)) {
      folder_ = path.parent_path();
      names_.push_back(path.filename().string());
      return;
    }
    fs::recursive_directory_iterator entry(path, fs::directory_options::skip_permission_denied);
    for (; entry != fs::recursive_directory_iterator(); ++entry) {
      const bool hidden = entry->path().filename().string().starts_with('.');
      if (entry->is_directory()) {
        if (hidden) entry.disable_recursion_pending();
      } else if (!hidden) {
        names_.push_back(entry->path().lexically_relative(path).string());
      }
    }
    std::sort(names_.begin(), names_.end());
  }

  [[nodiscard]] std::size_t count() const override { return names_.size(); }
  [[nodiscard]] std::string name(std::size_t i) const override { return names_[i]; }
  [[nodiscard]] Images read(std::size_t i) const override {
    return decode_image(bytes_of_file(folder_ / names_[i]));
  }

 private:
  fs::path folder_;
  std::vector<std::string> names_;
};

// JPEG files in one array of bytes.
class JpegRecords final : public ImageRecords {
 public:
  JpegRecords(const Array& bytes, const Array& offsets, const std::string& file)
      : bytes_(bytes.bytes) {
    const auto fail = [&](const std::string& problem) { throw InputError(file, problem); };
    if (bytes.dtype != storage::Dtype::u8 || bytes.shape.size() != 1) {
      fail("array 'jpeg': expected unsigned bytes in one dimension");
    }
    if (offsets.dtype != storage::Dtype::i64 && offsets.dtype != storage::Dtype::i32) {
      fail("array 'offset': expected whole numbers");
    }
    offsets_ = offsets.values<std::int64_t>();
    const auto size = static_cast<std::int64_t>(bytes_.size());
    if (offsets_.size() < 2 || offsets_.front() < 0 || offsets_.back() > size ||
        !std::is_sorted(offsets_.begin(), offsets_.end())) {
      fail(fmt::format("array 'offset': expected increasing places in the {} bytes of 'jpeg'",
                       size));
    }
  }

  [[nodiscard]] std::size_t count() const override { return offsets_.size() - 1; }
  [[nodiscard]] std::string name(std::size_t i) const override { return fmt::format("{}", i); }
  [[nodiscard]] Images read(std::size_t i) const override {
    return decode_image(
        std::span(bytes_).subspan(static_cast<std::size_t>(offsets_[i]),
                                  static_cast<std::size_t>(offsets_[i + 1] - offsets_[i])));
  }

 private:
  std::vector<std::byte> bytes_;
  std::vector<std::int64_t> offsets_;
};

bool holds_pixels(const Array& array) {
  if (array.dtype != storage::Dtype::u8) return false;
  const std::size_t rank = array.shape.size();
  return rank == 3 || (rank == 4 && (array.shape[3] == 1 || array.shape[3] == 3));
}

// Pixels as they are.
class PixelRecords final : public ImageRecords {
 public:
  PixelRecords(const Array& array, const std::string& file) {
    if (!holds_pixels(array)) {
      throw InputError(file,
                       fmt::format("expected unsigned bytes of the shape [count, height, "
                                   "width] or [count, height, width, 1 or 3], got {} of "
                                   "[{}]",
                                   storage::dtype_name(array.dtype), fmt::join(array.shape, ", ")));
    }
    const auto side = [&](std::size_t i) { return static_cast<std::size_t>(array.shape[i]); };
    images_ = {side(0), side(1), side(2), array.shape.size() == 3 ? 1 : side(3),
               array.values<std::uint8_t>()};
    if (images_.bytes_of_one() == 0) throw InputError(file, "holds pictures without pixels");
  }

  [[nodiscard]] std::size_t count() const override { return images_.count; }
  [[nodiscard]] std::string name(std::size_t i) const override { return fmt::format("{}", i); }
  [[nodiscard]] Images read(std::size_t i) const override {
    const std::size_t which[] = {i};
    return take_images(images_, which);
  }

 private:
  Images images_;
};

std::unique_ptr<ImageRecords> open_archive(const fs::path& path, const std::string& array) {
  const std::string file = path.string();
  const Arrays arrays = storage::read_npz(path);
  std::vector<std::string> candidates;
  for (const auto& [name, value] : arrays) {
    if (holds_pixels(value)) candidates.push_back(name);
  }
  if (!array.empty()) {
    const auto found = arrays.find(array);
    if (found != arrays.end()) return std::make_unique<PixelRecords>(found->second, file);
    throw InputError(
        file, fmt::format("has no array '{}': there {} {}", array,
                          candidates.size() == 1 ? "is" : "are", fmt::join(candidates, ", ")));
  }
  const auto jpeg = arrays.find("jpeg");
  const auto offset = arrays.find("offset");
  if (jpeg != arrays.end() && offset != arrays.end()) {
    return std::make_unique<JpegRecords>(jpeg->second, offset->second, file);
  }
  if (candidates.empty()) {
    throw InputError(file,
                     "holds no pictures: expected the arrays jpeg and offset, or unsigned bytes "
                     "[count, height, width] or [count, height, width, 3]");
  }
  if (candidates.size() > 1) {
    throw InputError(file, fmt::format("several arrays hold pictures: choose one with --array, {}",
                                       fmt::join(candidates, " or ")));
  }
  return std::make_unique<PixelRecords>(arrays.at(candidates.front()), file);
}

}  // namespace

std::unique_ptr<ImageRecords> open_image_records(const fs::path& path, const std::string& array) {
  if (!fs::exists(path)) throw InputError(path.string(), "there is no such file or folder");
  if (!fs::is_directory(path)) {
    if (path.extension() == ".npz") return open_archive(path, array);
    if (path.extension() == ".npy") {
      return std::make_unique<PixelRecords>(storage::read_npy(path), path.string());
    }
  }
  if (!array.empty()) {
    throw InputError(path.string(),
                     fmt::format("is no NPZ archive, so it has no array '{}'", array));
  }
  return std::make_unique<FileRecords>(path);
}

}  // namespace jeffreys

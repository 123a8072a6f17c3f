// Where pictures come from, one after the other.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "jeffreys/image/images.h"

namespace jeffreys {

class ImageRecords {
 public:
  ImageRecords() = default;
  ImageRecords(const ImageRecords&) = delete;
  ImageRecords& operator=(const ImageRecords&) = delete;
  virtual ~ImageRecords() = default;

  [[nodiscard]] virtual std::size_t count() const = 0;
  [[nodiscard]] virtual std::string name(std::size_t i) const = 0;
  // One picture at its own size. Throws NoImage or InputError. May be called by several threads.
  [[nodiscard]] virtual Images read(std::size_t i) const = 0;
};

// Throws InputError for a path that is none of what read_images() takes; array: as there.
[[nodiscard]] std::unique_ptr<ImageRecords> open_image_records(const std::filesystem::path& path,
                                                               const std::string& array);

}  // namespace jeffreys

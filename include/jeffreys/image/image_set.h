// Pictures as data: from a folder, a file or an archive to one array.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "jeffreys/image/images.h"

namespace jeffreys {

struct ImageSetOptions {
  std::size_t size = 0;      // side of the squares; 0: 64, or 32 if the first picture is smaller
  std::size_t channels = 0;  // 1: grey, 3: colour, 0: grey if all pictures are
  std::string array = {};    // of an archive: which array holds the pictures, if several could
  std::size_t most = 0;      // at most so many, the first ones; 0: all
  std::size_t threads = 1;   // no result depends on it
  std::function<bool()> should_stop = {};  // true: throws Interrupted
  std::function<void(std::size_t done, std::size_t all)> progress = {};
};

// Asked to stop before anything was made.
class Interrupted : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A file or record that could not be used, and why.
struct RefusedImage {
  std::string name;
  std::string why;
};

struct ImageSet {
  std::string source;              // file or folder
  Images images;                   // [count, size, size, channels]
  std::vector<std::string> names;  // of the pictures: paths below the folder, or numbers of records
  std::vector<RefusedImage> refused = {};

  // "3 of 120 files could not be used: notes.txt (neither JPEG nor PNG), ..." with the first
  // `shown`; empty if all could.
  [[nodiscard]] std::string refusals(std::size_t shown = 5) const;
};

// `path` is a folder, whose files are read in the order of their names, with its folders and
// without what begins with a dot; or one JPEG or PNG file; or an NPZ archive with JPEG files one
// after the other in `jpeg` and where each begins in `offset` (with the end), or with pictures as
// unsigned bytes [count, height, width] or [count, height, width, 1 or 3]; or an NPY file with the
// latter.
//
// Of a picture of 178 x 218 pixels, which is how CelebA comes, the middle 148 x 148 are taken, as
// is usual; of all others the largest square in the middle. The square is then resized. One that is
// smaller by up to an eighth (28 x 28 for 32 x 32) is padded at its edges instead, and those
// smaller still are refused.
//
// Throws InputError if there is no picture that can be used, and for a file that cannot be read.
[[nodiscard]] ImageSet read_images(const std::filesystem::path& path,
                                   const ImageSetOptions& options = {});

}  // namespace jeffreys

// Small files for the tests: a folder that disappears, and bytes to and from it.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>

#include "jeffreys/base/input_error.h"

namespace jeffreys::testing {

class ScratchTest : public ::testing::Test {
 protected:
  ScratchTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "jeffreys-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no scratch folder");
    folder_ = pattern;
  }
  ~ScratchTest() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path path(std::string_view name) const { return folder_ / name; }

  // Writes the bytes as they are and gives the path.
  std::filesystem::path file(std::string_view name, std::string_view bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }

  std::size_t files_in_folder() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder_),
                                                  std::filesystem::directory_iterator()));
  }

 private:
  std::filesystem::path folder_;
};

inline std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// The value's bytes, little-endian.
template <typename T>
std::string raw(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

// The problem of the InputError that the call must throw; it must name the file.
inline std::string problem_of(const std::filesystem::path& path,
                              const std::function<void(const std::filesystem::path&)>& call) {
  try {
    call(path);
  } catch (const InputError& error) {
    EXPECT_EQ(error.file(), path.string());
    return error.problem();
  }
  ADD_FAILURE() << "no InputError for " << path;
  return {};
}

}  // namespace jeffreys::testing

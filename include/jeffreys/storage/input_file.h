#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

namespace jeffreys::storage {

// A regular, non-empty file open for reading. Everything that goes wrong throws InputError.
class InputFile {
 public:
  explicit InputFile(const std::filesystem::path& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& name() const { return name_; }
  std::size_t size() const { return size_; }
  // Fills the buffer with the next bytes; fewer only at the end of the file. Returns how many.
  std::size_t read(std::span<std::byte> buffer);

 private:
  std::string name_;
  int descriptor_ = -1;
  std::size_t size_ = 0;
};

}  // namespace jeffreys::storage

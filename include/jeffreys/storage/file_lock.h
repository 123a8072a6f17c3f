#pragma once

#include <filesystem>

namespace jeffreys::storage {

// Keeps a job to one process of those that share a folder. The system lets go of it when the
// process ends, however it ends.
class FileLock {
 public:
  explicit FileLock(std::filesystem::path path);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  [[nodiscard]] bool held() const { return held_; }

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  bool held_ = false;
};

}  // namespace jeffreys::storage

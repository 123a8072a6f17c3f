#pragma once

#include <filesystem>

namespace jeffreys::experiment {

// Keeps a job to one process of those that share a folder. The system lets go of it when the
// process ends, however it ends.
class JobLock {
 public:
  explicit JobLock(std::filesystem::path path);
  ~JobLock();
  JobLock(const JobLock&) = delete;
  JobLock& operator=(const JobLock&) = delete;

  [[nodiscard]] bool held() const { return held_; }

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  bool held_ = false;
};

}  // namespace jeffreys::experiment

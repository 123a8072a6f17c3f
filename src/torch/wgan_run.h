// The state of a WGAN and its iteration; WganTrainer is its public face.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "jeffreys/model/energy_model.h"
#include "jeffreys/train/model_update.h"
#include "torch/sample_path.h"
#include "torch/wgan_noise.h"

namespace jeffreys {

// Everything that an iteration changes.
template <typename T>
struct WganState {
  std::vector<T> generator;
  std::vector<T> critic;
  std::vector<T> spectral_vectors;
  UpdateState<T> generator_update;
  UpdateState<T> critic_update;
};

template <typename T>
class WganRun {
 public:
  WganRun(SplineFlow<T>& generator, ResidualEnergy<T>& critic, Matrix<T> data,
          const WganOptions& options);

  WganRecord step();
  // With the random numbers of the iteration given.
  WganRecord step(const WganNoise<T>& noise);

  [[nodiscard]] std::int64_t iteration() const { return iteration_; }
  [[nodiscard]] std::int64_t skipped_in_a_row() const { return skipped_in_a_row_; }
  // Of the last iteration, before clipping; the critic's of its last step.
  [[nodiscard]] std::span<const T> generator_gradient() const {
    return generator_update_.gradient();
  }
  [[nodiscard]] std::span<const T> critic_gradient() const { return critic_update_.gradient(); }

  void save(const std::filesystem::path& path) const;
  void resume(const std::filesystem::path& path);

 private:
  // Both write into the record and return whether all was finite; if not, nothing was updated.
  bool update_critic(const CriticNoise<T>& noise, WganRecord& record);
  bool update_generator(const Matrix<T>& noise, WganRecord& record);

  [[nodiscard]] WganState<T> take_state() const;
  void restore(const WganState<T>& state);
  // What must agree for a file to belong to this run.
  [[nodiscard]] std::map<std::string, std::string> fingerprint() const;

  SplineFlow<T>& generator_;
  ResidualEnergy<T>& critic_;
  Matrix<T> data_;
  WganOptions options_;
  std::int64_t iteration_ = 0;
  std::int64_t skipped_in_a_row_ = 0;
  ModelUpdate<T> generator_update_;
  ModelUpdate<T> critic_update_;
  SamplePath<T> path_;
  Samples<T> samples_;
};

extern template class WganRun<float>;
extern template class WganRun<double>;

}  // namespace jeffreys

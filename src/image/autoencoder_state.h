// The state of an autoencoder's training on disk.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "jeffreys/image/train_autoencoder.h"

namespace jeffreys {

// Everything that a step changes, besides the parameters.
struct AutoencoderState {
  std::vector<float> first_moment = {};
  std::vector<float> second_moment = {};
  std::size_t step = 0;
  double error_sum = 0;  // over the pictures of this epoch so far
  std::vector<AutoencoderEpoch> epochs = {};
  double processor_seconds = 0;
};

// What must agree for a file to belong to a run.
[[nodiscard]] std::map<std::string, std::string> autoencoder_identity(
    const Images& images, const Images& held_out, const AutoencoderOptions& options,
    const AutoencoderTraining& training);

// Replaces the file atomically.
void write_autoencoder_state(const std::filesystem::path& path,
                             const std::map<std::string, std::string>& identity,
                             std::span<const float> parameters, const AutoencoderState& state);
// Throws InputError, and changes nothing, for a file of another run or a damaged one.
void read_autoencoder_state(const std::filesystem::path& path,
                            const std::map<std::string, std::string>& identity,
                            std::span<float> parameters, AutoencoderState& state);

}  // namespace jeffreys

#include "image/autoencoder_state.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

#include "base/fingerprint.h"
#include "jeffreys/base/input_error.h"
#include "jeffreys/storage/safetensors.h"

namespace jeffreys {
namespace {

using storage::Array;
using storage::TensorFile;

constexpr const char* kStateVersion = "1";
constexpr const char* kStateVersionKey = "jeffreys.autoencoder_version";
constexpr std::size_t kEpochColumns = 4;

std::string text_of(const Images& images) {
  Fingerprint fingerprint;
  fingerprint.add(std::span<const std::uint8_t>(images.pixels));
  return fmt::format("{} of {} x {} x {}, {:016x}", images.count, images.width, images.height,
                     images.channels, fingerprint.value());
}

template <typename T>
Array flat(std::span<const T> values) {
  return Array::from<T>({static_cast<std::int64_t>(values.size())}, values);
}

template <typename T>
std::vector<T> taken(const TensorFile& file, const std::string& name) {
  const auto found = file.tensors.find(name);
  if (found == file.tensors.end()) {
    throw std::invalid_argument(fmt::format("tensor '{}' is missing", name));
  }
  return found->second.values<T>();
}

std::vector<float> taken(const TensorFile& file, const std::string& name, std::size_t size) {
  std::vector<float> values = taken<float>(file, name);
  if (values.size() != size) {
    throw std::invalid_argument(
        fmt::format("tensor '{}': expected {} items, got {}", name, size, values.size()));
  }
  return values;
}

AutoencoderState state_in(const TensorFile& file, std::size_t parameters) {
  AutoencoderState state{.first_moment = taken(file, "first_moment", parameters),
                         .second_moment = taken(file, "second_moment", parameters)};
  const std::vector<std::int64_t> counters = taken<std::int64_t>(file, "step");
  const std::vector<double> sums = taken<double>(file, "sums");
  const std::vector<double> epochs = taken<double>(file, "epochs");
  if (counters.size() != 1 || counters[0] < 0 || sums.size() != 2 ||
      epochs.size() % kEpochColumns != 0) {
    throw std::invalid_argument("counters of another form");
  }
  state.step = static_cast<std::size_t>(counters[0]);
  state.error_sum = sums[0];
  state.processor_seconds = sums[1];
  for (std::size_t i = 0; i < epochs.size(); i += kEpochColumns) {
    state.epochs.push_back(
        {static_cast<int>(epochs[i]), epochs[i + 1], epochs[i + 2], epochs[i + 3]});
  }
  return state;
}

}  // namespace

std::map<std::string, std::string> autoencoder_identity(const Images& images,
                                                        const Images& held_out,
                                                        const AutoencoderOptions& options,
                                                        const AutoencoderTraining& training) {
  return {{"pictures", text_of(images)},
          {"held-out pictures", text_of(held_out)},
          {"latent", fmt::format("{}", options.latent)},
          {"seed", fmt::format("{} {}", options.seed, training.seed)},
          {"epochs", fmt::format("{}", training.epochs)},
          {"batch_size", fmt::format("{}", training.batch_size)},
          {"learning_rate", fmt::format("{:a}", training.learning_rate)}};
}

void write_autoencoder_state(const std::filesystem::path& path,
                             const std::map<std::string, std::string>& identity,
                             std::span<const float> parameters, const AutoencoderState& state) {
  TensorFile file{.metadata = identity, .tensors = {}};
  file.metadata.emplace(kStateVersionKey, kStateVersion);
  file.tensors["parameters"] = flat(parameters);
  file.tensors["first_moment"] = flat<float>(state.first_moment);
  file.tensors["second_moment"] = flat<float>(state.second_moment);
  const std::int64_t step[] = {static_cast<std::int64_t>(state.step)};
  file.tensors["step"] = flat<std::int64_t>(step);
  const double sums[] = {state.error_sum, state.processor_seconds};
  file.tensors["sums"] = flat<double>(sums);
  std::vector<double> epochs;
  for (const AutoencoderEpoch& e : state.epochs) {
    epochs.insert(epochs.end(),
                  {static_cast<double>(e.epoch), e.training_error, e.held_out_error, e.seconds});
  }
  file.tensors["epochs"] = flat<double>(epochs);
  storage::write_safetensors(path, file);
}

void read_autoencoder_state(const std::filesystem::path& path,
                            const std::map<std::string, std::string>& identity,
                            std::span<float> parameters, AutoencoderState& state) {
  const TensorFile file = storage::read_safetensors(path);
  const auto fail = [&](const std::string& problem) {
    throw InputError(path.string(), problem + ": delete it to start anew");
  };
  const auto entry = [&](const std::string& key) {
    const auto found = file.metadata.find(key);
    return found == file.metadata.end() ? std::string() : found->second;
  };
  if (entry(kStateVersionKey) != kStateVersion) fail("no autoencoder of this version of jeffreys");
  storage::require_checksum(file, path);
  std::vector<std::string> different;
  for (const auto& [key, value] : identity) {
    if (entry(key) != value) different.push_back(key);
  }
  if (!different.empty()) {
    fail(fmt::format("the autoencoder of another fit (other {})", fmt::join(different, ", ")));
  }
  try {
    AutoencoderState read = state_in(file, parameters.size());
    std::ranges::copy(taken(file, "parameters", parameters.size()), parameters.begin());
    state = std::move(read);
  } catch (const std::invalid_argument& error) {
    fail(fmt::format("a damaged file ({})", error.what()));
  }
}

}  // namespace jeffreys

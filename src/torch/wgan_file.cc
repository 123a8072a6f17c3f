// A WGAN's state on disk: a safetensors file with every buffer, and in its metadata the run that it
// belongs to.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <stdexcept>

#include "base/fingerprint.h"
#include "jeffreys/base/input_error.h"
#include "jeffreys/storage/safetensors.h"
#include "torch/wgan_run.h"

namespace jeffreys {
namespace {

using storage::Array;
using storage::TensorFile;

constexpr const char* kVersion = "3";
constexpr const char* kVersionWithoutChecksum = "2";  // but for that the same
constexpr const char* kVersionKey = "jeffreys.wgan_version";
constexpr const char* kCounters = "counters";
constexpr std::int64_t kCounterCount = 4;

template <typename T>
std::string model_text(const UnnormalizedDensity<T>& model) {
  std::string text = fmt::format("{} bytes;{};", sizeof(T), model.architecture());
  for (const ParameterBlock& block : model.layout().blocks()) {
    text += fmt::format("{}:{};", block.name, fmt::join(block.shape, ","));
  }
  return text;
}

// Calls visit(name, buffer) for each buffer of a state.
template <typename State, typename Visit>
void visit_wgan(State& state, Visit&& visit) {
  visit("generator.parameters", state.generator);
  visit("generator.first_moment", state.generator_update.first_moment);
  visit("generator.second_moment", state.generator_update.second_moment);
  visit("critic.parameters", state.critic);
  visit("critic.spectral_vectors", state.spectral_vectors);
  visit("critic.first_moment", state.critic_update.first_moment);
  visit("critic.second_moment", state.critic_update.second_moment);
}

template <typename T>
std::vector<T> read(const TensorFile& file, const std::string& name, std::size_t size) {
  const auto found = file.tensors.find(name);
  if (found == file.tensors.end()) {
    throw std::invalid_argument(fmt::format("tensor '{}' is missing", name));
  }
  std::vector<T> values = found->second.values<T>();
  if (values.size() != size) {
    throw std::invalid_argument(
        fmt::format("tensor '{}': expected {} items, got {}", name, size, values.size()));
  }
  return values;
}

// Iterations, steps of the generator, steps of the critic.
std::vector<std::int64_t> read_counters(const TensorFile& file) {
  std::vector<std::int64_t> counters = read<std::int64_t>(file, kCounters, kCounterCount);
  for (const std::int64_t counter : counters) {
    if (counter < 0) {
      throw std::invalid_argument(fmt::format("tensor '{}' holds {}", kCounters, counter));
    }
  }
  return counters;
}

}  // namespace

template <typename T>
std::map<std::string, std::string> WganRun<T>::fingerprint() const {
  const WganOptions& o = options_;
  Fingerprint data;
  data.add(data_);
  return {{"data", fmt::format("{} rows, {:016x}", data_.rows(), data.value())},
          {"generator", model_text(generator_)},
          {"critic", model_text(critic_)},
          {"batch_size", fmt::format("{}", o.batch_size)},
          {"seed", fmt::format("{}", o.seed)},
          {"critic_steps", fmt::format("{}", o.critic_steps)},
          {"penalty", fmt::format("{:a}", o.penalty)},
          {"learning_rate_generator", fmt::format("{:a}", o.learning_rate_generator)},
          {"learning_rate_critic", fmt::format("{:a}", o.learning_rate_critic)},
          {"beta1", fmt::format("{:a}", o.beta1)},
          {"beta2", fmt::format("{:a}", o.beta2)},
          {"weight_decay", fmt::format("{:a}", o.weight_decay)},
          {"clip_norm", fmt::format("{:a}", o.clip_norm)}};
}

template <typename T>
void WganRun<T>::save(const std::filesystem::path& path) const {
  const WganState<T> state = take_state();
  TensorFile file{.metadata = fingerprint(), .tensors = {}};
  file.metadata.emplace(kVersionKey, kVersion);
  visit_wgan(state, [&](const char* name, const std::vector<T>& values) {
    file.tensors[name] = Array::from<T>({static_cast<std::int64_t>(values.size())}, values);
  });
  const std::vector<std::int64_t> counters = {iteration_, state.generator_update.steps,
                                              state.critic_update.steps, skipped_in_a_row_};
  file.tensors[kCounters] = Array::from<std::int64_t>({kCounterCount}, counters);
  storage::write_safetensors(path, file);
}

template <typename T>
void WganRun<T>::resume(const std::filesystem::path& path) {
  const TensorFile file = storage::read_safetensors(path);
  const auto fail = [&](const std::string& problem) {
    throw InputError(path.string(), fmt::format("{}: delete it to start anew", problem));
  };
  const auto entry = [&](const std::string& key) {
    const auto found = file.metadata.find(key);
    return found == file.metadata.end() ? std::string() : found->second;
  };
  if (entry(kVersionKey) == kVersion) {
    storage::require_checksum(file, path);
  } else if (entry(kVersionKey) != kVersionWithoutChecksum) {
    fail("not a WGAN of this version of jeffreys");
  }
  std::vector<std::string> different;
  for (const auto& [key, value] : fingerprint()) {
    if (entry(key) != value) different.push_back(key);
  }
  if (!different.empty()) {
    fail(fmt::format("the WGAN of another run (its {} differs)",
                     fmt::join(different, " differs, its ")));
  }
  try {
    WganState<T> state = take_state();
    visit_wgan(state, [&](const char* name, std::vector<T>& values) {
      values = read<T>(file, name, values.size());
    });
    const std::vector<std::int64_t> counters = read_counters(file);
    state.generator_update.steps = counters[1];
    state.critic_update.steps = counters[2];
    restore(state);
    iteration_ = counters[0];
    skipped_in_a_row_ = counters[3];
  } catch (const std::invalid_argument& error) {
    fail(fmt::format("a damaged file ({})", error.what()));
  }
}

#define JEFFREYS_INSTANTIATE(T)                                                \
  template std::map<std::string, std::string> WganRun<T>::fingerprint() const; \
  template void WganRun<T>::save(const std::filesystem::path&) const;          \
  template void WganRun<T>::resume(const std::filesystem::path&);

JEFFREYS_INSTANTIATE(float)
JEFFREYS_INSTANTIATE(double)

#undef JEFFREYS_INSTANTIATE

}  // namespace jeffreys

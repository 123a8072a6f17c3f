// The state of a training run on disk: a safetensors file with every buffer, the counters as JSON
// metadata, and a fingerprint of data, models and options that a resume must meet.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <concepts>
#include <nlohmann/json.hpp>

#include "base/fingerprint.h"
#include "jeffreys/base/input_error.h"
#include "jeffreys/storage/safetensors.h"
#include "jeffreys/train/record_arrays.h"
#include "jeffreys/train/train_options.h"
#include "train/training_run.h"

namespace jeffreys {
namespace {

using Json = nlohmann::json;
using storage::Array;
using storage::TensorFile;

constexpr const char* kVersion = "5";
constexpr const char* kVersionWithoutChecksum = "4";  // but for that the same
constexpr const char* kVersionKey = "jeffreys.checkpoint_version";
constexpr const char* kFingerprintKey = "fingerprint";
constexpr const char* kCountersKey = "counters";
constexpr const char* kHistoryColumnsKey = "history.columns";

template <typename T>
std::string layout_text(const UnnormalizedDensity<T>& model) {
  std::string text = fmt::format("{} bytes;{};", sizeof(T), model.architecture());
  for (const ParameterBlock& block : model.layout().blocks()) {
    text += fmt::format("{}:{};", block.name, block.size);
  }
  return text;
}

// Numbers in hexadecimal: exact.
std::string exact(double value) { return fmt::format("{:a}", value); }

template <typename Value>
std::string exact_text(const Value& value) {
  if constexpr (std::is_enum_v<Value>) {
    for (const auto& entry : names(Value{})) {
      if (entry.value == value) return std::string(entry.name);
    }
    return "?";
  } else if constexpr (std::is_same_v<Value, std::optional<double>>) {
    return value ? exact(*value) : "none";
  } else if constexpr (std::is_floating_point_v<Value>) {
    return exact(value);
  } else {
    return fmt::format("{}", value);
  }
}

template <typename T>
  requires std::floating_point<T>
Array to_array(const std::vector<T>& values) {
  return Array::from<T>({static_cast<std::int64_t>(values.size())}, values);
}

Json to_json(const Selected& s) {
  return {{"iteration", s.iteration}, {"nll", exact(s.nll)}, {"averaged", s.averaged}};
}

Selected to_selected(const Json& json) {
  return {.iteration = json.at("iteration").get<std::int64_t>(),
          .nll = std::stod(json.at("nll").get<std::string>()),
          .averaged = json.at("averaged").get<bool>()};
}

// A tensor with as many items as `target`, or any number where `target` is empty and may grow.
template <typename T>
void read(const TensorFile& file, const std::string& name, std::vector<T>& target, bool any_size) {
  const auto found = file.tensors.find(name);
  if (found == file.tensors.end()) {
    throw std::invalid_argument(fmt::format("tensor '{}' is missing", name));
  }
  std::vector<T> values = found->second.values<T>();
  if (!any_size && values.size() != target.size()) {
    throw std::invalid_argument(
        fmt::format("tensor '{}': expected {} items, got {}", name, target.size(), values.size()));
  }
  target = std::move(values);
}

template <typename T>
void put_model(TensorFile& file, const std::string& name, const UnnormalizedDensity<T>& model,
               const ModelUpdate<T>& update) {
  const Snapshot<T> now = take_snapshot(model);
  file.tensors[fmt::format("{}.parameters", name)] = to_array(now.parameters);
  file.tensors[fmt::format("{}.state", name)] = to_array(now.state);
  visit_buffers(update.state(), [&](const char* buffer, const std::vector<T>& values) {
    file.tensors[fmt::format("{}.{}", name, buffer)] = to_array(values);
  });
}

template <typename T>
void get_model(const TensorFile& file, const std::string& name, UnnormalizedDensity<T>& model,
               ModelUpdate<T>& update, std::int64_t steps) {
  Snapshot<T> now = take_snapshot(model);
  read(file, fmt::format("{}.parameters", name), now.parameters, false);
  read(file, fmt::format("{}.state", name), now.state, false);
  UpdateState<T> state = update.state();
  state.steps = steps;
  visit_buffers(state, [&](const char* buffer, std::vector<T>& values) {
    read(file, fmt::format("{}.{}", name, buffer), values, false);
  });
  update.set_state(std::move(state));
  restore(now, model);
}

}  // namespace

template <typename T>
std::map<std::string, std::string> TrainingRun<T>::fingerprint() const {
  const TrainOptions& o = options_;
  Fingerprint data;
  for (const Matrix<T>* rows :
       {&data_.x, &data_.context, &data_.validation_x, &data_.validation_context}) {
    data.add(*rows);
  }
  if (data_.weights.size() > 0) data.add(Matrix<T>(data_.weights));
  for (const Vector<double>* more : {&data_.validation_weights, &data_.validation_log_weights}) {
    if (more->size() > 0) data.add(Matrix<double>(*more));
  }
  std::map<std::string, std::string> all{
      {"data", fmt::format("{} rows, {} held out, {:016x}", data_.x.rows(),
                           data_.validation_x.rows(), data.value())},
      {"main model", layout_text(main_)},
      {"proxy model", proxy_ != nullptr ? layout_text(*proxy_) : "none"},
      {"seed", fmt::format("{}", o.seed)}};
  visit_train_options(o,
                      [&](const char* key, const auto& value, const OptionRule& rule, const char*) {
                        if (rule.in_fingerprint) all[key] = exact_text(value);
                      });
  // Their functions cannot be compared.
  for (const Constraint& more : o.requirements) {
    all["requirement " + more.name] =
        fmt::format("{} {}", exact(more.bound), exact(more.multiplier));
  }
  // A longer run is the same run, unless its rate depends on the length.
  if (o.schedule.kind != Schedule::constant) {
    all["iterations"] = fmt::format("{}", o.iterations);
  }
  return all;
}

template <typename T>
void TrainingRun<T>::save(const std::filesystem::path& path) const {
  TensorFile file;
  file.metadata.emplace(kVersionKey, kVersion);
  file.metadata[kFingerprintKey] = Json(fingerprint()).dump();
  const Json counters{{"started", started_},
                      {"iteration", iteration_},
                      {"skipped", result_.skipped},
                      {"skipped_in_a_row", skipped_in_a_row_},
                      {"checkpoints", result_.checkpoints},
                      {"seconds", exact(result_.seconds)},
                      {"main_steps", main_update_.state().steps},
                      {"proxy_steps", proxy_update_ ? proxy_update_->state().steps : 0},
                      {"multiplier_steps", ascent_.state().steps},
                      {"best_main", to_json(selection_.main())},
                      {"best_proxy", to_json(selection_.proxy())}};
  file.metadata[kCountersKey] = counters.dump();
  put_model(file, "main", main_, main_update_);
  if (proxy_ != nullptr) {
    put_model(file, "proxy", *proxy_, *proxy_update_);
    const Vector<double>& log_zeta = dual_step_->log_zeta();
    file.tensors["log_zeta"] =
        to_array(std::vector<double>(log_zeta.data(), log_zeta.data() + log_zeta.size()));
  }
  file.tensors["multipliers"] = to_array(ascent_.state().multipliers);
  file.tensors["multipliers.second_moment"] = to_array(ascent_.state().second_moments);
  Selection<T>::visit_buffers(selection_, [&](const char* name, const std::vector<T>& values) {
    file.tensors[name] = to_array(values);
  });
  if (data_.redraw_state) file.tensors["redraw_state"] = to_array(*data_.redraw_state);
  file.tensors["good_main.parameters"] = to_array(good_main_.parameters);
  file.tensors["good_main.state"] = to_array(good_main_.state);
  file.tensors["good_proxy.parameters"] = to_array(good_proxy_.parameters);
  file.tensors["good_proxy.state"] = to_array(good_proxy_.state);
  HistoryArray history = to_array(result_.history);
  file.tensors["history"] = std::move(history.numbers);
  file.metadata[kHistoryColumnsKey] = history.columns;
  file.tensors["evaluations"] = to_array(result_.evaluations);
  storage::write_safetensors(path, file);
}

template <typename T>
void TrainingRun<T>::resume(const std::filesystem::path& path) {
  const TensorFile file = storage::read_safetensors(path);
  const auto fail = [&](const std::string& problem) {
    throw InputError(path.string(), fmt::format("{}: delete it to start anew", problem));
  };
  const auto entry = [&](const char* key) {
    const auto found = file.metadata.find(key);
    return found == file.metadata.end() ? std::string() : found->second;
  };
  if (entry(kVersionKey) == kVersion) {
    storage::require_checksum(file, path);
  } else if (entry(kVersionKey) != kVersionWithoutChecksum) {
    fail("not a checkpoint of this version of jeffreys");
  }
  try {
    const Json saved_fingerprint = Json::parse(std::string(entry(kFingerprintKey)));
    const auto saved = saved_fingerprint.get<std::map<std::string, std::string>>();
    std::vector<std::string> different;
    for (const auto& [key, value] : fingerprint()) {
      const auto found = saved.find(key);
      if (found == saved.end() || found->second != value) different.push_back(key);
    }
    if (!different.empty()) {
      fail(fmt::format("the checkpoint of another run (its {} differs)",
                       fmt::join(different, " differs, its ")));
    }
    const Json counters = Json::parse(std::string(entry(kCountersKey)));
    const auto count = [&](const char* key) {
      const auto value = counters.at(key).get<std::int64_t>();
      if (value < 0) throw std::invalid_argument(fmt::format("{} is {}", key, value));
      return value;
    };
    get_model(file, "main", main_, main_update_, count("main_steps"));
    if (proxy_ != nullptr) {
      get_model(file, "proxy", *proxy_, *proxy_update_, count("proxy_steps"));
      std::vector<double> log_zeta;
      read(file, "log_zeta", log_zeta, true);
      if (main_.context_features() == 0 && log_zeta.size() > 1) {
        throw std::invalid_argument("tensor 'log_zeta': expected at most 1 item");
      }
      dual_step_->set_log_zeta(Eigen::Map<const Vector<double>>(
          log_zeta.data(), static_cast<Eigen::Index>(log_zeta.size())));
    }
    MultiplierAscent::State state;
    state.steps = count("multiplier_steps");
    read(file, "multipliers", state.multipliers, true);
    read(file, "multipliers.second_moment", state.second_moments, true);
    ascent_.set_state(std::move(state));
    Selection<T>::visit_buffers(selection_, [&](const char* name, std::vector<T>& values) {
      read(file, name, values, true);
    });
    selection_.set_best(to_selected(counters.at("best_main")),
                        to_selected(counters.at("best_proxy")));
    selection_.check_sizes();
    if (data_.redraw_state) read(file, "redraw_state", *data_.redraw_state, false);
    read(file, "good_main.parameters", good_main_.parameters, true);
    read(file, "good_main.state", good_main_.state, true);
    read(file, "good_proxy.parameters", good_proxy_.parameters, true);
    read(file, "good_proxy.state", good_proxy_.state, true);
    check_snapshot(good_main_, main_);
    if (proxy_ != nullptr) check_snapshot(good_proxy_, *proxy_);
    result_.history = to_step_records(file.tensors.at("history"), entry(kHistoryColumnsKey));
    result_.evaluations = to_evaluations(file.tensors.at("evaluations"));
    result_.skipped = count("skipped");
    result_.checkpoints = count("checkpoints");
    skipped_in_a_row_ = count("skipped_in_a_row");
    started_ = counters.at("started").get<bool>();
    iteration_ = count("iteration");
    seconds_before_ = std::stod(counters.at("seconds").get<std::string>());
    result_.seconds = seconds_before_;
    last_save_ = seconds_before_;
  } catch (const InputError&) {
    throw;
  } catch (const std::exception& error) {
    fail(fmt::format("a damaged checkpoint ({})", error.what()));
  }
}

#define JEFFREYS_INSTANTIATE(T)                                                    \
  template std::map<std::string, std::string> TrainingRun<T>::fingerprint() const; \
  template void TrainingRun<T>::save(const std::filesystem::path&) const;          \
  template void TrainingRun<T>::resume(const std::filesystem::path&);

JEFFREYS_INSTANTIATE(float)
JEFFREYS_INSTANTIATE(double)

#undef JEFFREYS_INSTANTIATE

}  // namespace jeffreys

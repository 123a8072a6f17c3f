// Reads the header and the tensors of a model file, with errors that name the file. Everything is
// checked before it is used.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "jeffreys/base/input_error.h"
#include "jeffreys/model/model_file.h"
#include "jeffreys/model/parameter_layout.h"
#include "jeffreys/storage/safetensors.h"

namespace jeffreys {

using Json = nlohmann::json;

inline constexpr const char* kVersionKey = "jeffreys.format_version";
inline constexpr const char* kArchitectureKey = "jeffreys.architecture";
inline constexpr std::string_view kReserved = "jeffreys.";

// An archive's architecture is {"models": {NAME: architecture}}; its tensors are called
// "models.NAME.TENSOR" and "arrays.NAME".
inline constexpr const char* kModels = "models";
inline constexpr std::string_view kArrayPrefix = "arrays.";

inline std::string model_prefix(const std::string& name) { return fmt::format("models.{}.", name); }

// Reads the architecture and the tensors of a file, with errors that name it.
class ModelReader {
 public:
  explicit ModelReader(const std::filesystem::path& path)
      : path_(path.string()), file_(storage::read_safetensors(path)) {
    const auto version = file_.metadata.find(kVersionKey);
    const auto architecture = file_.metadata.find(kArchitectureKey);
    if (version == file_.metadata.end() || architecture == file_.metadata.end()) {
      fail("a safetensors file, but not a model that jeffreys saved (no 'jeffreys.*' metadata)");
    }
    if (version->second == std::to_string(kModelFormatVersion)) {
      storage::require_checksum(file_, path);
    } else if (version->second != "1" && version->second != "2") {
      fail(
          fmt::format("model format version {}, but this program reads versions 1 to {}: use the "
                      "program that wrote it, or a newer one",
                      version->second, kModelFormatVersion));
    }
    // What is nested more deeply than any architecture is discarded: it would overflow the stack.
    constexpr int kMostNested = 8;
    const auto shallow = [](int depth, Json::parse_event_t, Json&) { return depth <= kMostNested; };
    architecture_ = Json::parse(architecture->second, shallow, false);
    if (!architecture_.is_object()) fail("metadata 'jeffreys.architecture' is not a JSON object");
  }

  [[noreturn]] void fail(const std::string& problem) const { throw InputError(path_, problem); }

  [[nodiscard]] bool is_archive() const { return architecture_.contains(kModels); }

  // The architectures of an archive's models by name.
  [[nodiscard]] Json models() const {
    const Json& all = field(kModels);
    if (!all.is_object()) fail("architecture field 'models': expected a JSON object");
    for (const Json& model : all) {
      if (!model.is_object()) fail("architecture field 'models': expected JSON objects in it");
    }
    return all;
  }

  // From here on fields and tensors are those of this model of an archive.
  void enter(const std::string& name, Json architecture) {
    prefix_ = model_prefix(name);
    architecture_ = std::move(architecture);
  }

  [[nodiscard]] storage::Arrays take_arrays() {
    storage::Arrays arrays;
    std::erase_if(file_.tensors, [&](auto& entry) {
      if (!entry.first.starts_with(kArrayPrefix)) return false;
      arrays[entry.first.substr(kArrayPrefix.size())] = std::move(entry.second);
      return true;
    });
    return arrays;
  }

  [[nodiscard]] std::string model() const {
    const Json& value = field("model");
    if (!value.is_string()) fail("architecture field 'model': expected a string");
    return value.get<std::string>();
  }

  [[nodiscard]] std::string architecture() const { return architecture_.dump(); }

  // A model of the size that the architecture claims is built only if the file holds that much.
  void expect_parameters(double claimed) const {
    double held = 0;
    for (const auto& [name, tensor] : file_.tensors) held += static_cast<double>(tensor.size());
    if (!(claimed <= held)) {
      fail(
          fmt::format("the architecture has at least {:.0f} parameters, the file holds {:.0f}: "
                      "damaged, or not written by jeffreys",
                      claimed, held));
    }
  }

  template <typename T>
  [[nodiscard]] std::vector<T> read(const ParameterLayout& layout) {
    std::vector<T> flat(layout.size());
    for (const ParameterBlock& block : layout.blocks()) {
      const auto found = file_.tensors.find(prefix_ + block.name);
      if (found == file_.tensors.end()) fail(fmt::format("tensor '{}' is missing", block.name));
      const storage::Array& tensor = found->second;
      if (tensor.dtype != storage::Dtype::f32 && tensor.dtype != storage::Dtype::f64) {
        fail(fmt::format("tensor '{}': expected f32 or f64, got {}", block.name,
                         storage::dtype_name(tensor.dtype)));
      }
      if (tensor.shape != block.shape) {
        fail(fmt::format("tensor '{}': expected shape ({}), got ({})", block.name,
                         fmt::join(block.shape, ", "), fmt::join(tensor.shape, ", ")));
      }
      const std::vector<T> values = tensor.template values<T>();
      std::copy(values.begin(), values.end(),
                flat.begin() + static_cast<std::ptrdiff_t>(block.offset));
      file_.tensors.erase(found);
    }
    return flat;
  }

  void expect_nothing_left() const {
    if (!file_.tensors.empty()) {
      fail(fmt::format("tensor '{}' does not belong to the architecture",
                       file_.tensors.begin()->first));
    }
  }

  [[nodiscard]] ModelMetadata metadata() const {
    ModelMetadata own = file_.metadata;
    std::erase_if(own, [](const auto& entry) { return entry.first.starts_with(kReserved); });
    return own;
  }

 private:
  [[nodiscard]] const Json& field(const char* name) const {
    const auto found = architecture_.find(name);
    if (found == architecture_.end()) fail(fmt::format("architecture field '{}' is missing", name));
    return *found;
  }

  std::string path_;
  std::string prefix_;
  storage::TensorFile file_;
  Json architecture_;
};

}  // namespace jeffreys

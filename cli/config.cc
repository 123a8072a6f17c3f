#include "cli/config.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>

#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>

#include "cli/command.h"
#include "jeffreys/input_error.h"

namespace jeffreys::cli {
namespace {

std::string read_text(const std::filesystem::path& path) {
  if (std::filesystem::is_directory(path)) {
    throw InputError(path.string(), "is a directory, expected a TOML file");
  }
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw InputError(path.string(), "cannot be read: is the name right?");
  return {std::istreambuf_iterator<char>(stream), {}};
}

class Flattener {
 public:
  explicit Flattener(std::string file) : file_(std::move(file)) {}

  void add(const toml::table& table, const std::string& prefix) {
    for (const auto& [key, node] : table) {
      const std::string name = prefix + std::string(key.str());
      if (const toml::table* inner = node.as_table()) {
        add(*inner, name + ".");
      } else {
        const auto begin = node.source().begin;
        settings_.push_back({name, text(node, name), file_, begin.line, begin.column});
      }
    }
  }

  [[nodiscard]] std::vector<GivenSetting> take() { return std::move(settings_); }

 private:
  [[nodiscard]] std::string text(const toml::node& node, const std::string& name) const {
    if (const auto value = node.value_exact<std::string>()) return *value;
    if (const auto value = node.value_exact<std::int64_t>()) return fmt::format("{}", *value);
    if (const auto value = node.value_exact<double>()) return fmt::format("{}", *value);
    if (const auto value = node.value_exact<bool>()) return *value ? "true" : "false";
    if (const toml::array* array = node.as_array()) {
      std::string joined;
      for (const toml::node& item : *array) {
        if (!joined.empty()) joined += ',';
        joined += text(item, name);
      }
      return joined;
    }
    throw InputError(file_,
                     fmt::format("{}: expected a number, a text, true, false or a list", name),
                     node.source().begin.line, node.source().begin.column);
  }

  std::string file_;
  std::vector<GivenSetting> settings_;
};

}  // namespace

std::vector<GivenSetting> read_config(const std::filesystem::path& path) {
  const std::string content = read_text(path);
  try {
    Flattener flattener(path.string());
    flattener.add(toml::parse(content, path.string()), "");
    return flattener.take();
  } catch (const toml::parse_error& error) {
    throw InputError(path.string(), std::string(error.description()), error.source().begin.line,
                     error.source().begin.column);
  }
}

GivenSetting parse_set(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw UsageError(fmt::format("--set: expected KEY=VALUE, got '{}'", text));
  }
  return {text.substr(0, equals), text.substr(equals + 1), "--set"};
}

void apply(const std::vector<GivenSetting>& given, FitOptions& options) {
  for (const GivenSetting& setting : given) {
    try {
      change_setting(options, setting.key, setting.value);
    } catch (const std::invalid_argument& error) {
      if (setting.line > 0) {
        throw InputError(setting.origin, error.what(), setting.line, setting.column);
      }
      throw UsageError(fmt::format("{}: {}", setting.origin, error.what()));
    }
  }
}

}  // namespace jeffreys::cli

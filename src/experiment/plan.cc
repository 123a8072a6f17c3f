#include "experiment/plan.h"

#include <fmt/format.h>

#include <stdexcept>

#include "base/flat_toml.h"
#include "jeffreys/base/input_error.h"

namespace jeffreys::experiment {
namespace {

class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {}

  [[noreturn]] void refuse(const toml::node& node, const std::string& problem) const {
    throw toml_error(file_, problem, node);
  }

  // Refuses keys that nobody reads: a misspelt one would silently do nothing.
  void know(const toml::table& table, const std::vector<std::string>& keys) const {
    for (const auto& [key, node] : table) {
      if (std::find(keys.begin(), keys.end(), key.str()) == keys.end()) {
        refuse(node, fmt::format("there is no key '{}' here; known: {}", std::string(key.str()),
                                 fmt::join(keys, ", ")));
      }
    }
  }

  template <typename T>
  T value(const toml::table& table, const std::string& key, T missing) const {
    const toml::node* node = table.get(key);
    if (node == nullptr) return missing;
    const auto found = node->value<T>();
    if (!found) refuse(*node, fmt::format("{}: a value of another kind was expected", key));
    return *found;
  }

  [[nodiscard]] Settings settings(const toml::table& parent) const {
    Settings result;
    const toml::table* table = parent["settings"].as_table();
    if (table == nullptr) return result;
    FitOptions scratch;
    for (const auto& [key, node] : flat_nodes(*table)) {
      const std::string value = toml_text(node, key, file_);
      try {
        if (key == "preset") {
          apply_preset(value, scratch);
        } else {
          change_setting(scratch, key, value);
        }
      } catch (const std::invalid_argument& error) {
        refuse(node, error.what());
      }
      result.emplace_back(key, value);
    }
    return result;
  }

  [[nodiscard]] DataSpec data(const toml::table& table) const {
    know(table, {"source", "table", "task", "images", "rows", "test_rows", "latent", "epochs",
                 "settings"});
    DataSpec spec;
    const std::pair<const char*, DataKind> kinds[] = {{"source", DataKind::source},
                                                      {"table", DataKind::table},
                                                      {"task", DataKind::task},
                                                      {"images", DataKind::images}};
    for (const auto& [key, kind] : kinds) {
      if (!table.contains(key)) continue;
      if (!spec.name.empty()) refuse(table, "expected one of source, table, task and images");
      spec.kind = kind;
      spec.name = value<std::string>(table, key, "");
    }
    if (spec.name.empty()) refuse(table, "data: expected source, table, task or images");
    if (const toml::array* rows = table["rows"].as_array()) {
      for (const toml::node& item : *rows) spec.rows.push_back(item.value_or<std::int64_t>(0));
    } else {
      spec.rows.push_back(value<std::int64_t>(table, "rows", 0));
    }
    spec.test_rows = value<std::int64_t>(table, "test_rows", 0);
    if (spec.kind != DataKind::table) {
      for (const Eigen::Index rows : spec.rows) {
        if (rows < 10 || spec.test_rows < 10) {
          refuse(table, "rows and test_rows: expected whole numbers from 10 on");
        }
      }
    }
    spec.autoencoder = autoencoder(table, spec.kind);
    spec.settings = settings(table);
    return spec;
  }

  [[nodiscard]] AutoencoderSpec autoencoder(const toml::table& table, DataKind kind) const {
    if (kind != DataKind::images) {
      if (table.contains("latent") || table.contains("epochs")) {
        refuse(table, "latent and epochs: expected only for images");
      }
      return {};
    }
    const auto latent = value<std::int64_t>(table, "latent", 0);
    const auto epochs = value<std::int64_t>(table, "epochs", AutoencoderSpec{}.epochs);
    if (latent < 1 || epochs < 1) refuse(table, "latent and epochs: expected whole numbers from 1");
    return {static_cast<std::size_t>(latent), static_cast<int>(epochs)};
  }

  [[nodiscard]] std::optional<LostRule> lost_rule(const toml::table& table) const {
    const toml::node* node = table.get("lost");
    if (node == nullptr) return std::nullopt;
    const toml::table* lost = node->as_table();
    if (lost == nullptr) refuse(*node, "lost: expected {divergence = ..., iterations = ...}");
    know(*lost, {"divergence", "iterations"});
    const LostRule usual;
    const LostRule rule{value<double>(*lost, "divergence", usual.divergence),
                        value<std::int64_t>(*lost, "iterations", usual.iterations)};
    if (!(rule.divergence > 0) || rule.iterations < 1) {
      refuse(*lost, "lost: expected a divergence above 0 and iterations from 1 on");
    }
    return rule;
  }

  [[nodiscard]] MethodSpec method(const toml::table& table) const {
    know(table, {"name", "label", "baseline", "wgan", "data", "iterations", "seeds", "lost",
                 "settings", "grid"});
    MethodSpec spec;
    spec.name = value<std::string>(table, "name", "");
    if (spec.name.empty()) refuse(table, "method: expected a name");
    spec.label = value<std::string>(table, "label", spec.name);
    spec.baseline = value<std::string>(table, "baseline", "");
    spec.iterations = value<std::int64_t>(table, "iterations", 0);
    if (spec.iterations < 0) refuse(table, "iterations: expected a whole number from 1 on");
    spec.seeds = static_cast<int>(value<std::int64_t>(table, "seeds", 0));
    if (spec.seeds < 0) refuse(table, "seeds: expected a whole number from 1 on");
    if (const toml::array* names = table["data"].as_array()) {
      for (const toml::node& name : *names) spec.data.push_back(toml_text(name, "data", file_));
    }
    if (const toml::table* wgan = table["wgan"].as_table()) {
      know(*wgan, {"critic_steps", "penalty"});
      spec.wgan = WganSpec{static_cast<int>(value<std::int64_t>(*wgan, "critic_steps", 5)),
                           value<double>(*wgan, "penalty", 0.1)};
    }
    spec.lost = lost_rule(table);
    spec.settings = settings(table);
    if (const toml::table* grid = table["grid"].as_table()) {
      for (const auto& [key, node] : flat_nodes(*grid)) {
        const toml::array* values = node.as_array();
        if (values == nullptr || values->empty()) refuse(node, key + ": expected a list");
        spec.grid.emplace_back(key, std::vector<std::string>());
        for (const toml::node& item : *values)
          spec.grid.back().second.push_back(toml_text(item, key, file_));
      }
    }
    return spec;
  }

 private:
  std::string file_;
};

bool has_only_sources(const Plan& plan) {
  return std::all_of(plan.data.begin(), plan.data.end(),
                     [](const DataSpec& data) { return data.kind == DataKind::source; });
}

}  // namespace

Plan read_plan(const std::string& name, const std::string& text, const std::string& file) {
  toml::table table;
  try {
    table = toml::parse(text, file);
  } catch (const toml::parse_error& error) {
    throw InputError(file, std::string(error.description()), error.source().begin.line,
                     error.source().begin.column);
  }
  const Reader reader(file);
  reader.know(
      table, {"title", "iterations", "seeds", "evaluations", "maps", "settings", "data", "method"});
  Plan plan{.name = name, .title = reader.value<std::string>(table, "title", name), .text = text};
  plan.iterations = reader.value<std::int64_t>(table, "iterations", 0);
  plan.seeds = static_cast<int>(reader.value<std::int64_t>(table, "seeds", 1));
  plan.evaluations = static_cast<int>(reader.value<std::int64_t>(table, "evaluations", 200));
  plan.maps = reader.value<std::int64_t>(table, "maps", 0);
  if (plan.iterations < 1 || plan.seeds < 1 || plan.evaluations < 2) {
    throw InputError(file, "expected iterations and seeds from 1, evaluations from 2");
  }
  plan.settings = reader.settings(table);
  const auto each = [&](const char* key, const auto& add) {
    const toml::array* list = table[key].as_array();
    if (list == nullptr) throw InputError(file, fmt::format("expected [[{}]] tables", key));
    for (const toml::node& node : *list) {
      if (node.as_table() == nullptr) reader.refuse(node, "expected a table");
      add(*node.as_table());
    }
  };
  each("data", [&](const toml::table& t) { plan.data.push_back(reader.data(t)); });
  each("method", [&](const toml::table& t) {
    plan.methods.push_back(reader.method(t));
    for (const std::string& wanted : plan.methods.back().data) {
      const auto same = [&](const DataSpec& data) { return data.name == wanted; };
      if (std::none_of(plan.data.begin(), plan.data.end(), same)) {
        reader.refuse(t, fmt::format("data: there is no '{}' in this experiment", wanted));
      }
    }
    if (plan.methods.back().lost && !has_only_sources(plan)) {
      reader.refuse(t, "lost: expected sources, whose densities are known, as the only data");
    }
  });
  return plan;
}

}  // namespace jeffreys::experiment

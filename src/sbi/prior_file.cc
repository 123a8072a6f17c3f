#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "base/flat_toml.h"
#include "base/quote.h"
#include "jeffreys/base/input_error.h"
#include "jeffreys/sbi/prior.h"

namespace jeffreys {
namespace {

constexpr const char* kExample =
    "write a table for each parameter: [name], then distribution = \"uniform\", lower = -1, "
    "upper = 1, each on a line of its own";
constexpr std::uintmax_t kLargestFile = 10'000'000;

// How many letters have to be changed, left out or put in.
std::size_t edit_distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t changed = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

// A key of TOML, in quotes unless it is made of letters, digits, - and _ alone.
std::string toml_key(const std::string& name) {
  const auto bare = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  };
  if (std::all_of(name.begin(), name.end(), bare)) return name;
  std::string key = "\"";
  for (const char c : name) {
    if (c == '"' || c == '\\') key += '\\';
    const auto byte = static_cast<unsigned char>(c);
    key += byte < 0x20 || byte == 0x7f ? fmt::format("\\u{:04x}", byte) : std::string(1, c);
  }
  return key + '"';
}

class PriorReader {
 public:
  explicit PriorReader(std::string file) : file_(std::move(file)) {}

  std::vector<Prior::Parameter> parameters(const toml::table& root) const {
    // A table of toml++ is sorted by name.
    std::vector<std::pair<toml::source_position, std::string>> order;
    for (const auto& [key, node] : root) {
      order.emplace_back(node.source().begin, std::string(key.str()));
    }
    std::sort(order.begin(), order.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<Prior::Parameter> parameters;
    for (const auto& [place, name] : order) {
      const toml::node& node = *root.get(name);
      if (name.empty()) refuse(node, "a parameter has an empty name; give it one");
      const toml::table* table = node.as_table();
      if (table == nullptr) {
        refuse(node, fmt::format("{} is not a table; {}", quote(name), kExample));
      }
      parameters.push_back({name, distribution(*table, toml_key(name))});
    }
    if (parameters.empty()) throw InputError(file_, fmt::format("has no parameter; {}", kExample));
    return parameters;
  }

 private:
  [[noreturn]] void refuse(const toml::node& node, const std::string& problem) const {
    throw toml_error(file_, problem, node);
  }

  // `name` as it is written in a header.
  Distribution distribution(const toml::table& table, const std::string& name) const {
    Distribution result;
    result.kind = kind(table, name);
    const bool uniform = result.kind == DistributionKind::uniform;
    std::vector<std::string> known{"distribution", "lower", "upper"};
    if (!uniform) known.insert(known.begin() + 1, {"mean", "deviation"});
    require_known(table, name, known);
    const auto needed = [&](const char* key) {
      if (!table.contains(key)) {
        refuse(table, fmt::format("[{}] lacks {}; {} needs {}", name, key, name_of(result.kind),
                                  uniform ? "lower and upper" : "mean and deviation"));
      }
      return number(*table.get(key), key);
    };
    if (!uniform) result.mean = needed("mean");
    if (!uniform) result.deviation = needed("deviation");
    if (uniform || table.contains("lower")) result.bounds.lower = needed("lower");
    if (uniform || table.contains("upper")) result.bounds.upper = needed("upper");
    try {
      result.validate();
    } catch (const std::invalid_argument& error) {
      // The message begins with the name of the member, which is the key.
      const std::string problem = error.what();
      const toml::node* node = table.get(problem.substr(0, problem.find(':')));
      refuse(node == nullptr ? table : *node, fmt::format("[{}] {}", name, problem));
    }
    return result;
  }

  DistributionKind kind(const toml::table& table, const std::string& name) const {
    const std::string names = fmt::format("{}", fmt::join(distribution_names(), ", "));
    const toml::node* node = table.get("distribution");
    if (node == nullptr) {
      // A misspelt key is told as such; a dot in a header makes a table inside a table.
      require_known(table, name, {"distribution", "mean", "deviation", "lower", "upper"});
      refuse(table, fmt::format("[{}] lacks distribution; it is one of {}", name, names));
    }
    const auto text = node->value_exact<std::string>();
    if (!text) refuse(*node, fmt::format("[{}] distribution: expected one of {}", name, names));
    try {
      return parse_distribution_kind(*text);
    } catch (const std::invalid_argument& error) {
      refuse(*node, fmt::format("[{}] {}", name, error.what()));
    }
  }

  void require_known(const toml::table& table, const std::string& name,
                     const std::vector<std::string>& known) const {
    for (const auto& [key, node] : table) {
      const std::string given(key.str());
      if (std::find(known.begin(), known.end(), given) != known.end()) continue;
      if (node.is_table()) {
        refuse(node,
               fmt::format("[{}.{}] is a table inside [{}]; write [\"{}.{}\"] if the name has "
                           "a dot",
                           name, given, name, name, given));
      }
      const auto nearest = std::min_element(
          known.begin(), known.end(), [&](const std::string& a, const std::string& b) {
            return edit_distance(given, a) < edit_distance(given, b);
          });
      const bool close = 2 * edit_distance(given, *nearest) <= nearest->size();
      refuse(node, fmt::format("[{}] has no key {}; {}", name, quote(given),
                               close ? fmt::format("did you mean {}?", *nearest)
                                     : fmt::format("known: {}", fmt::join(known, ", "))));
    }
  }

  double number(const toml::node& node, const char* key) const {
    double value = 0;
    if (const auto whole = node.value_exact<std::int64_t>()) {
      value = static_cast<double>(*whole);
    } else if (const auto real = node.value_exact<double>()) {
      value = *real;
    } else {
      refuse(node, fmt::format("{}: expected a number", key));
    }
    if (!std::isfinite(value)) {
      const std::string_view end = key;
      refuse(node,
             fmt::format("{}: expected a finite number, got {}{}", key, value,
                         end == "lower" || end == "upper" ? "; for no end leave it out" : ""));
    }
    return value;
  }

  std::string file_;
};

}  // namespace

Prior Prior::from_toml(const std::string& text, const std::string& file) {
  return Prior(PriorReader(file).parameters(parse_toml(text, file)));
}

Prior Prior::read(const std::filesystem::path& path) {
  std::error_code absent;
  if (std::filesystem::file_size(path, absent) > kLargestFile && !absent) {
    throw InputError(path.string(), "is too large for a prior; expected a TOML file");
  }
  return from_toml(read_toml(path), path.string());
}

std::string Prior::to_toml() const {
  std::string text;
  for (const auto& [name, distribution] : parameters_) {
    const auto& [kind, mean, deviation, bounds] = distribution;
    text += fmt::format("{}[{}]\ndistribution = \"{}\"\n", text.empty() ? "" : "\n", toml_key(name),
                        name_of(kind));
    if (kind != DistributionKind::uniform) {
      text += fmt::format("mean = {}\ndeviation = {}\n", mean, deviation);
    }
    if (std::isfinite(bounds.lower)) text += fmt::format("lower = {}\n", bounds.lower);
    if (std::isfinite(bounds.upper)) text += fmt::format("upper = {}\n", bounds.upper);
  }
  return text;
}

}  // namespace jeffreys

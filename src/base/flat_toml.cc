#include "base/flat_toml.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <iterator>

namespace jeffreys {
namespace {

void collect(const toml::table& table, const std::string& prefix, std::vector<FlatNode>& all) {
  std::vector<std::pair<std::string, const toml::node*>> order;
  for (const auto& [name, node] : table) order.emplace_back(std::string(name.str()), &node);
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return a.second->source().begin < b.second->source().begin;
  });
  for (const auto& [name, node] : order) {
    if (const toml::table* inner = node->as_table()) {
      collect(*inner, prefix + name + ".", all);
    } else {
      all.push_back({prefix + name, *node});
    }
  }
}

// Every part of a dotted key is a table in a table: thousands of them would exhaust the stack.
void refuse_deep_keys(const std::string& text, const std::string& file) {
  constexpr std::size_t kMostParts = 100;
  std::size_t parts = 0;
  std::size_t line = 1;
  char quote = '\0';
  bool escaped = false;
  for (const char c : text) {
    if (c == '\n') {
      ++line;
      quote = '\0';
      escaped = false;
    }
    if (quote != '\0') {
      if (c == quote && !escaped) quote = '\0';
      escaped = quote == '"' && c == '\\' && !escaped;
      continue;
    }
    if (c == '"' || c == '\'') quote = c;
    if (c == '#') quote = '\n';  // a comment ends with its line
    if (c == '.') ++parts;
    if (c == '=' || c == ',' || c == '[' || c == '{' || c == '\n') parts = 0;
    if (parts > kMostParts) throw InputError(file, "a key has more than 100 parts", line);
  }
}

}  // namespace

std::string read_toml(const std::filesystem::path& path) {
  std::error_code absent;
  if (std::filesystem::is_directory(path, absent)) {
    throw InputError(path.string(), "is a directory, expected a TOML file");
  }
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw InputError(path.string(), "cannot be read: is the name right?");
  // A device or a pipe may never end.
  constexpr std::size_t kLargest = std::size_t{1} << 20;
  std::string text;
  std::array<char, 4096> piece;
  while (stream.read(piece.data(), piece.size()) || stream.gcount() > 0) {
    text.append(piece.data(), static_cast<std::size_t>(stream.gcount()));
    if (text.size() <= kLargest) continue;
    throw InputError(path.string(), "is larger than 1 MB, too large for a file of settings");
  }
  return text;
}

toml::table parse_toml(const std::string& text, const std::string& file) {
  refuse_deep_keys(text, file);
  try {
    return toml::parse(text, file);
  } catch (const toml::parse_error& error) {
    throw InputError(file, std::string(error.description()), error.source().begin.line,
                     error.source().begin.column);
  }
}

std::vector<FlatNode> flat_nodes(const toml::table& table) {
  std::vector<FlatNode> all;
  collect(table, "", all);
  return all;
}

std::string toml_text(const toml::node& node, const std::string& key, const std::string& file) {
  if (const auto value = node.value_exact<std::string>()) return *value;
  if (const auto value = node.value_exact<std::int64_t>()) return fmt::format("{}", *value);
  if (const auto value = node.value_exact<double>()) return fmt::format("{}", *value);
  if (const auto value = node.value_exact<bool>()) return *value ? "true" : "false";
  if (const toml::array* array = node.as_array()) {
    std::string joined;
    for (const toml::node& item : *array) {
      if (!joined.empty()) joined += ',';
      joined += toml_text(item, key, file);
    }
    return joined;
  }
  throw toml_error(file, fmt::format("{}: expected a number, a text, true, false or a list", key),
                   node);
}

InputError toml_error(const std::string& file, const std::string& problem, const toml::node& node) {
  return {file, problem, node.source().begin.line, node.source().begin.column};
}

}  // namespace jeffreys

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

// Where the string that begins at `begin` ends, at its last quote; one that is not closed ends with
// its line, or with the text.
std::size_t end_of_string(const std::string& text, std::size_t begin) {
  const char quote = text[begin];
  const bool several_lines = text.compare(begin, 3, std::string(3, quote)) == 0;
  const std::size_t width = several_lines ? 3 : 1;
  for (std::size_t i = begin + width; i < text.size(); ++i) {
    if (text[i] == '\n' && !several_lines) return i - 1;
    if (text[i] == '\\' && quote == '"' && text.compare(i, 2, "\\\n") != 0) {
      ++i;
      continue;
    }
    if (text.compare(i, width, std::string(width, quote)) != 0) continue;
    std::size_t end = i + width - 1;
    // Up to two more quotes belong to what is said.
    for (int more = 0; several_lines && more < 2 && end + 1 < text.size(); ++more) {
      if (text[end + 1] == quote) ++end;
    }
    return end;
  }
  return text.size() - 1;
}

// Every part of a dotted key is a table in a table: thousands of them would exhaust the stack.
void refuse_deep_keys(const std::string& text, const std::string& file) {
  constexpr std::size_t kMostParts = 100;
  std::size_t parts = 0;
  std::size_t line = 1;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"' || c == '\'') {
      const std::size_t end = end_of_string(text, i);
      line += static_cast<std::size_t>(std::count(text.data() + i, text.data() + end + 1, '\n'));
      i = end;
      continue;
    }
    if (c == '#') {
      i = std::min(text.find('\n', i), text.size()) - 1;
      continue;
    }
    if (c == '\n') ++line;
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

// TOML files: the values of a table and of the tables in it, under dotted keys; errors with places.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

// What the parser asserts about a text it looks at again, and reports: an assertion would end the
// program of somebody who has them on.
#ifndef NDEBUG
#define TOML_ASSERT(expr) static_assert(true)
#endif
#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>

#include "jeffreys/base/input_error.h"

namespace jeffreys {

// Throws InputError for what cannot be read, and for a text that is no TOML, with the place.
[[nodiscard]] std::string read_toml(const std::filesystem::path& path);
[[nodiscard]] toml::table parse_toml(const std::string& text, const std::string& file);

struct FlatNode {
  std::string key;  // [learning_rate] main = 1e-3 has the key learning_rate.main
  const toml::node& node;
};

// In the order of the file.
[[nodiscard]] std::vector<FlatNode> flat_nodes(const toml::table& table);

// A number, a text, true or false, or the items of a list with commas between them. Throws
// InputError that names the file, its line and the key for anything else.
[[nodiscard]] std::string toml_text(const toml::node& node, const std::string& key,
                                    const std::string& file);

// An error at a place of a file.
[[nodiscard]] InputError toml_error(const std::string& file, const std::string& problem,
                                    const toml::node& node);

}  // namespace jeffreys

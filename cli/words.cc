#include "cli/words.h"

#include <algorithm>
#include <array>
#include <filesystem>

namespace jeffreys::cli {
namespace {

bool is_option(const std::string& word) {
  const bool number = word.size() > 1 && (word[1] == '.' || (word[1] >= '0' && word[1] <= '9'));
  return word.size() > 1 && word[0] == '-' && !number;
}

bool names_a_file(const std::string& word) {
  constexpr std::array kEndings{".csv", ".tsv", ".txt", ".npy", ".npz", ".dat", ".model"};
  const std::filesystem::path path(word);
  const bool ending =
      std::find(kEndings.begin(), kEndings.end(), path.extension().string()) != kEndings.end();
  std::error_code absent;
  return ending || std::filesystem::is_regular_file(path, absent);
}

// Whether a word after an option's first value is one more of its values.
bool belongs(const std::string& word, const std::string& first) {
  if (is_option(word) || word.empty()) return false;
  const bool assigns = first.find('=') != std::string::npos;
  if (assigns != (word.find('=') != std::string::npos)) return false;
  return assigns || !names_a_file(word);
}

// The option of the command, or one that every command has; null for an unknown one.
const CLI::Option* option_of(const CLI::App& command, const std::string& name) {
  for (const CLI::App* at = &command; at != nullptr; at = at->get_parent()) {
    if (const CLI::Option* option = at->get_option_no_throw(name)) return option;
  }
  return nullptr;
}

}  // namespace

std::vector<std::string> written_out(const std::vector<std::string>& words, const CLI::App& app) {
  std::vector<std::string> all;
  const CLI::App* command = &app;
  for (std::size_t i = 0; i < words.size(); ++i) {
    all.push_back(words[i]);
    if (words[i] == "--") {
      all.insert(all.end(), words.begin() + static_cast<std::ptrdiff_t>(i) + 1, words.end());
      return all;
    }
    if (!is_option(words[i])) {
      for (const CLI::App* next : command->get_subcommands({})) {
        if (next->get_name() != words[i]) continue;
        command = next;
        break;
      }
      continue;
    }
    const bool is_long = words[i].starts_with("--");
    const std::size_t equals = is_long ? words[i].find('=') : std::string::npos;
    const std::string name = is_long ? words[i].substr(0, equals) : words[i].substr(0, 2);
    const CLI::Option* option = option_of(*command, name);
    if (option == nullptr || option->get_items_expected_max() == 0) continue;
    const bool value_follows = is_long ? equals == std::string::npos : words[i].size() == 2;
    if (value_follows) {
      if (i + 1 == words.size()) continue;
      all.push_back(words[++i]);
    }
    if (option->get_items_expected_max() == 1 || !is_long) continue;
    const std::string first = value_follows ? words[i] : words[i].substr(equals + 1);
    while (i + 1 < words.size() && belongs(words[i + 1], first)) {
      all.push_back(name);
      all.push_back(words[++i]);
    }
  }
  return all;
}

}  // namespace jeffreys::cli

#include "cli/load.h"

#include <fmt/format.h>

#include <cstdio>

#include "jeffreys/base/assignment.h"
#include "jeffreys/base/input_error.h"

namespace jeffreys::cli {

template <typename T>
From chosen_from(const std::string& text, const TabularDensity<T>& density) {
  if (text.empty()) return density.chosen();
  if (text == "main") return From::main;
  if (!density.proxy()) {
    throw UsageError("--from proxy: this model has no proxy (it was fitted by maximum likelihood)");
  }
  return From::proxy;
}

template From chosen_from(const std::string&, const TabularDensity<float>&);
template From chosen_from(const std::string&, const TabularDensity<double>&);

Table read_table_for(const std::string& path, const Schema& schema) {
  TableOptions options;
  options.text_columns = schema.text_columns();
  return read_table(path, options);
}

std::map<std::string, std::string> given_values(const std::vector<std::string>& items) {
  std::map<std::string, std::string> given;
  for (const std::string& item : items) {
    const auto column = split_assignment(item, "--given", "COLUMN=VALUE");
    if (given.insert(column).second) continue;
    throw UsageError(fmt::format("--given: column '{}' is given twice", column.first));
  }
  return given;
}

Matrix<double> read_given(const std::vector<std::string>& items, const Schema& schema) {
  const std::map<std::string, std::string> given = given_values(items);
  if (schema.context_features() > 0 || !given.empty()) return schema.encode_conditions(given);
  return {};
}

std::optional<double> read_number(const std::string& text) {
  try {
    std::size_t end = 0;
    const double value = std::stod(text, &end);
    return end == text.size() ? std::optional(value) : std::nullopt;
  } catch (const std::logic_error&) {
    return {};
  }
}

void add_from(CLI::App& command, std::string& target) {
  command
      .add_option("--from", target,
                  "main or proxy: which model speaks (default: the one that validation chose)")
      ->check(CLI::IsMember({"main", "proxy"}));
}

namespace {

Json as_json(const Table& table) {
  Json json = Json::object();
  for (const Column& column : table.columns) {
    Json& cells = json[column.name] = Json::array();
    for (std::size_t i = 0; i < column.rows(); ++i) {
      if (column.missing(i)) {
        cells.push_back(nullptr);
      } else if (column.is_text()) {
        cells.push_back(column.text(i));
      } else {
        cells.push_back(number(column.numbers[i]));
      }
    }
  }
  return json;
}

}  // namespace

void require_other_file(const std::string& output, const std::vector<std::string>& inputs) {
  for (const std::string& input : inputs) {
    std::error_code absent;
    if (!std::filesystem::equivalent(output, input, absent) || absent) continue;
    throw UsageError(fmt::format(
        "-o {}: this would write over what the command reads; give another name", output));
  }
}

void require_folder(const std::filesystem::path& output) {
  const std::filesystem::path folder = output.has_parent_path() ? output.parent_path() : ".";
  if (std::filesystem::is_directory(folder)) return;
  throw InputError(output.string(),
                   fmt::format("there is no directory {}: create it first", folder.string()));
}

void announce(const std::string& path, const Globals& globals) {
  if (globals.json) {
    print_json({{"output", path}});
  } else {
    say(globals, path);
  }
}

void write_result(const Table& table, const std::string& path, const Globals& globals) {
  if (!path.empty() && path != "-") {
    write_table(path, table);
    announce(path, globals);
    return;
  }
  if (globals.json) {
    print_line(as_json(table).dump());
    return;
  }
  const auto fail = [] {
    throw InputError("standard output", "cannot be written: is the disk full?");
  };
  write_csv(table, [&](std::string_view text) {
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) fail();
  });
  if (std::fflush(stdout) != 0) fail();
}

}  // namespace jeffreys::cli

#include "cli/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <span>

#include "jeffreys/base/assignment.h"
#include "jeffreys/base/input_error.h"

namespace jeffreys::cli {

template <typename T>
From chosen_from(const std::string& text, const TabularDensity<T>& density) {
  if (text.empty()) return density.chosen();
  if (text == "main") return From::main;
  if (!density.proxy()) {
    throw UsageError(
        "--from proxy: this model has no proxy: a single fit by the dual method has one (fit "
        "--members 1)");
  }
  return From::proxy;
}

template From chosen_from(const std::string&, const TabularDensity<float>&);
template From chosen_from(const std::string&, const TabularDensity<double>&);

TableOptions ReadingArguments::options(TableOptions known) const {
  if (!header.empty()) known.header = header == "yes" ? Header::yes : Header::no;
  known.missing.insert(known.missing.end(), missing.begin(), missing.end());
  known.array = array;
  return known;
}

void add_reading_options(CLI::App& command, ReadingArguments& a) {
  command
      .add_option("--header", a.header,
                  "yes or no: whether the first line of a CSV file names the columns (default: "
                  "found out)")
      ->check(CLI::IsMember({"yes", "no"}));
  command
      .add_option("--na", a.missing,
                  "TEXT,...: cells that are missing, besides empty ones, NA, null, None and the "
                  "like")
      ->delimiter(',');
  command.add_option("--array", a.array, "Which array of an NPZ file");
}

Table read_table_for(const std::string& path, const Schema& schema, const ReadingArguments& a) {
  return read_table(path, a.options(schema.reading()));
}

std::vector<std::string> whole_assignments(const std::vector<std::string>& items) {
  std::vector<std::string> whole;
  for (const std::string& item : items) {
    if (item.find('=') == std::string::npos && !whole.empty()) {
      whole.back() += "," + item;
    } else {
      whole.push_back(item);
    }
  }
  return whole;
}

std::map<std::string, std::string> given_values(const std::vector<std::string>& items) {
  std::map<std::string, std::string> given;
  for (const std::string& item : whole_assignments(items)) {
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
      } else if (column.is_text() || column.notation.is_time()) {
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

void require_figure(const std::filesystem::path& path) {
  if (path.extension() != ".svg" && path.extension() != ".png") {
    throw InputError(path.string(),
                     "cannot draw: expected a file name that ends with .svg or .png");
  }
  require_folder(path);
}

void announce(const std::string& path, const Globals& globals) {
  if (globals.json) {
    print_json({{"output", path}});
  } else {
    say(globals, path);
  }
}

bool goes_to_output(const std::string& path) { return path.empty() || path == "-"; }

void require_table_name(const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension().string();
  constexpr std::array kOthers{".xlsx", ".xls", ".ods", ".parquet", ".feather", ".json", ".h5"};
  if (std::find(kOthers.begin(), kOthers.end(), extension) != kOthers.end()) {
    throw UsageError(fmt::format(
        "-o {}: tables are written as CSV, NPY or NPZ, not as {}; give a name with .csv", path,
        extension));
  }
}

bool is_csv(const std::string& path) {
  require_table_name(path);
  if (goes_to_output(path)) return true;
  const std::string extension = std::filesystem::path(path).extension().string();
  return extension != ".npy" && extension != ".npz";
}

ResultWriter::ResultWriter(std::string path, const Globals& globals)
    : path_(std::move(path)), globals_(globals) {
  if (is_csv(path_) && !goes_to_output(path_)) file_.emplace(path_);
}

void ResultWriter::add(const Table& part) {
  const auto write = [&](std::string_view text) {
    if (file_) {
      file_->write(std::as_bytes(std::span(text)));
    } else if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) {
      fail_output();
    }
  };
  if (!file_ && !goes_to_output(path_)) {
    write_table(path_, part);
  } else if (!file_ && globals_.json) {
    print_line(as_json(part).dump());
  } else {
    write_csv(part, write, !begun_);
  }
  begun_ = true;
}

void ResultWriter::finish() {
  if (file_) file_->commit();
  if (!goes_to_output(path_)) {
    announce(path_, globals_);
  } else if (std::fflush(stdout) != 0) {
    fail_output();
  }
}

void write_result(const Table& table, const std::string& path, const Globals& globals) {
  ResultWriter writer(path, globals);
  writer.add(table);
  writer.finish();
}

}  // namespace jeffreys::cli

#include "jeffreys/table/table_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <stdexcept>
#include <utility>

#include "base/quote.h"
#include "jeffreys/base/input_error.h"
#include "jeffreys/storage/atomic_file.h"
#include "jeffreys/storage/npy.h"
#include "jeffreys/storage/npz.h"
#include "table/csv_table.h"

namespace jeffreys {
namespace {

enum class Format { csv, npy, npz };

Format format_of(const std::filesystem::path& path) {
  const std::string extension = path.extension().string();
  if (extension == ".npy") return Format::npy;
  return extension == ".npz" ? Format::npz : Format::csv;
}

Table table_of(const std::string& file, const storage::Array& array) {
  const auto& shape = array.shape;
  if (shape.empty() || shape.size() > 2) {
    throw InputError(file, fmt::format("the array has {} dimensions; a table has two, rows and "
                                       "columns",
                                       shape.size()));
  }
  const auto rows = static_cast<std::size_t>(shape[0]);
  const auto columns = static_cast<std::size_t>(shape.size() == 2 ? shape[1] : 1);
  if (rows == 0 || columns == 0) {
    throw InputError(file, fmt::format("the array has {} rows and {} columns; at least one of "
                                       "each is needed",
                                       rows, columns));
  }
  Table table{file, std::vector<Column>(columns), {}};
  // Doubles are taken where they lie: a large array is not copied twice.
  std::vector<double> converted;
  if (array.dtype != storage::Dtype::f64) converted = array.values<double>();
  const std::byte* items =
      converted.empty() ? array.bytes.data() : std::as_bytes(std::span(converted)).data();
  for (std::size_t c = 0; c < columns; ++c) {
    Column& column = table.columns[c];
    column.name = fmt::format("x{}", c + 1);
    column.place = c + 1;
    column.numbers.resize(rows);
    for (std::size_t r = 0; r < rows; ++r) {
      std::memcpy(&column.numbers[r], items + (r * columns + c) * sizeof(double), sizeof(double));
    }
  }
  return table;
}

const storage::Array& choose(const std::string& file, const storage::Arrays& arrays,
                             const std::string& name) {
  std::vector<std::string> names;
  const storage::Array* chosen = nullptr;
  std::size_t fitting = 0;
  for (const auto& [key, array] : arrays) {
    names.push_back(quote(key));
    if (name.empty() ? array.shape.size() == 2 || arrays.size() == 1 : key == name) {
      chosen = &array;
      ++fitting;
    }
  }
  if (fitting == 1) return *chosen;
  const std::string wanted = name.empty()
                                 ? fmt::format("has {} arrays with two dimensions", fitting)
                                 : fmt::format("has no array {}", quote(name));
  throw InputError(
      file, fmt::format("{}; name the one to read with --array NAME. The arrays are: {}", wanted,
                        fmt::join(names, ", ")));
}

// The cell's text in quotes where a reader would take it for something else.
void append_quoted(std::string& line, std::string_view text,
                   std::string_view special = ",;|\t\"\r\n") {
  const bool plain = text.find_first_of(special) == std::string_view::npos &&
                     !text.starts_with('#') && !text.starts_with(' ') && !text.ends_with(' ') &&
                     !text.starts_with("\xef\xbb\xbf");
  if (plain) {
    line += text;
    return;
  }
  line += '"';
  for (const char c : text) {
    line += c;
    if (c == '"') line += c;
  }
  line += '"';
}

void append_cell(std::string& line, const Column& column, std::size_t row, char delimiter) {
  if (column.missing(row)) return;
  if (column.is_text()) {
    append_quoted(line, column.labels[static_cast<std::size_t>(column.codes[row])]);
  } else if (!column.notation.is_plain()) {
    append_quoted(line, column.text(row), {&delimiter, 1});
  } else {
    line += column.notation.write(column.numbers[row]);
  }
}

storage::Array array_of(const std::filesystem::path& path, const Table& table) {
  const std::size_t rows = table.rows();
  const std::size_t columns = table.columns.size();
  std::vector<double> values(rows * columns);
  for (std::size_t c = 0; c < columns; ++c) {
    const Column& column = table.columns[c];
    if (column.is_text()) {
      throw InputError(path.string(),
                       fmt::format("column {} is text, which an array of numbers cannot hold; "
                                   "write a .csv file",
                                   quote(column.name)));
    }
    if (column.notation.is_time()) {
      throw InputError(path.string(),
                       fmt::format("column {} holds dates or times, which an array of numbers "
                                   "cannot hold; write a .csv file",
                                   quote(column.name)));
    }
    for (std::size_t r = 0; r < rows; ++r) values[r * columns + c] = column.numbers[r];
  }
  return storage::Array::from<double>(
      {static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns)}, values);
}

void require_rectangular(const Table& table) {
  for (const Column& column : table.columns) {
    if (column.rows() != table.rows()) {
      throw std::invalid_argument(fmt::format("table: column {} has {} rows, the first has {}",
                                              column.name, column.rows(), table.rows()));
    }
  }
}

}  // namespace

void TableOptions::validate() const {
  if (std::string_view(",;|\t").find(delimiter) == std::string_view::npos && delimiter != '\0') {
    throw std::invalid_argument(
        fmt::format("delimiter must be a comma, a semicolon, a bar or a tab, not {:?}", delimiter));
  }
}

Table read_table(const std::filesystem::path& path, const TableOptions& options) {
  options.validate();
  switch (format_of(path)) {
    case Format::npy: return table_of(path.string(), storage::read_npy(path));
    case Format::npz: {
      const storage::Arrays arrays = storage::read_npz(path);
      return table_of(path.string(), choose(path.string(), arrays, options.array));
    }
    case Format::csv: break;
  }
  return read_csv(path, options);
}

void write_csv(const Table& table, const std::function<void(std::string_view)>& sink, bool header) {
  require_rectangular(table);
  constexpr std::size_t kPiece = std::size_t{1} << 16;
  std::string text;
  for (std::size_t c = 0; header && c < table.columns.size(); ++c) {
    if (c > 0) text += table.delimiter;
    append_quoted(text, table.columns[c].name);
  }
  if (header) text += '\n';
  for (std::size_t r = 0; r < table.rows(); ++r) {
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      if (c > 0) text += table.delimiter;
      append_cell(text, table.columns[c], r, table.delimiter);
    }
    // A line with nothing on it would be no row.
    if (table.columns.size() == 1 && table.columns.front().missing(r)) text += "NA";
    text += '\n';
    if (text.size() < kPiece) continue;
    sink(text);
    text.clear();
  }
  sink(text);
}

void write_table(const std::filesystem::path& path, const Table& table) {
  require_rectangular(table);
  switch (format_of(path)) {
    case Format::npy: storage::write_npy(path, array_of(path, table)); return;
    case Format::npz: storage::write_npz(path, {{"x", array_of(path, table)}}); return;
    case Format::csv: break;
  }
  storage::AtomicFile file(path);
  write_csv(table, [&](std::string_view text) { file.write(std::as_bytes(std::span(text))); });
  file.commit();
}

}  // namespace jeffreys

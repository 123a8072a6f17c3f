#include "table/csv_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/quote.h"
#include "jeffreys/base/input_error.h"
#include "table/csv_sample.h"
#include "table/find_notation.h"

namespace jeffreys {
namespace {

constexpr std::string_view kDelimiters = ",;\t|";

// Orders candidates: all records alike with two fields or more, or all but those before the table,
// or a single column of numbers; then fewer records before the table, then the share of cells that
// are numbers, then the number of fields.
struct Merit {
  int alike = 0;
  std::ptrdiff_t preamble = 0;  // negative
  double numbers = 0;
  std::size_t fields = 0;

  auto operator<=>(const Merit&) const = default;
};

Merit merit_of(const CsvRecords& records) {
  constexpr std::size_t kJudged = 50;
  if (records.empty()) return {};
  const bool short_header = lacks_first_name(records);
  const std::size_t preamble = short_header ? 0 : count_preamble(records);
  const std::size_t fields = records.back().cells.size();
  const std::size_t first = preamble + (records.size() > preamble + 1 ? 1 : 0);
  std::size_t numbers = 0;
  std::size_t cells = 0;
  bool alike = short_header || records[preamble].cells.size() == fields;
  for (std::size_t i = first; i < records.size(); ++i) {
    alike = alike && records[i].cells.size() == fields;
    if (i >= first + kJudged) continue;
    cells += records[i].cells.size();
    for (const std::string& cell : records[i].cells) numbers += has_notation(cell) ? 1 : 0;
  }
  // Of numbers that may have commas.
  const bool single = fields == 1 && numbers == cells &&
                      records.front().cells.front().find_first_of(kDelimiters) == std::string::npos;
  const bool table = fields > 1 && preamble == 0;
  return {!alike                 ? 0
          : table                ? 2
          : fields > 1 || single ? 1
                                 : 0,
          -static_cast<std::ptrdiff_t>(preamble),
          static_cast<double>(numbers) / static_cast<double>(std::max<std::size_t>(cells, 1)),
          fields};
}

// The records with the best of the delimiters allowed, which goes to the layout.
CsvRecords best_sample(const std::string& file, std::string_view text, bool whole, char wanted,
                       CsvLayout& layout) {
  std::optional<CsvRecords> records;
  std::optional<InputError> failure;
  Merit best;
  for (const char delimiter : kDelimiters) {
    if (wanted != '\0' && wanted != delimiter) continue;
    try {
      CsvRecords candidate = read_sample(file, text, whole, delimiter, layout.terminator);
      const Merit merit = merit_of(candidate);
      if (records && merit <= best) continue;
      layout.delimiter = delimiter;
      records = std::move(candidate);
      best = merit;
    } catch (const InputError& error) {
      if (!failure) failure = error;
    }
  }
  if (!records) throw InputError(*failure);
  return std::move(*records);
}

std::vector<CsvColumn> named_columns(const std::string& file, const CsvRecord& first, bool header) {
  std::vector<CsvColumn> columns;
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < first.cells.size(); ++i) {
    const std::string& cell = first.cells[i];
    columns.push_back({.name = header && !cell.empty() ? cell : fmt::format("x{}", i + 1)});
    const std::string& name = columns.back().name;
    if (!is_utf8(name)) {
      throw InputError(file, "the column name is not UTF-8; save the file as UTF-8", first.line,
                       i + 1);
    }
    const auto [earlier, fresh] = places.emplace(name, i + 1);
    if (fresh) continue;
    throw InputError(file,
                     fmt::format("the column name {} occurs twice, as columns {} and {}; give "
                                 "every column its own name",
                                 quote(name), earlier->second, i + 1),
                     first.line, i + 1);
  }
  return columns;
}

// One text column whose cells are numbers with blanks between.
void refuse_blanks(const std::string& file, const CsvRecords& records) {
  const CsvRecord& last = records.back();
  if (last.cells.size() != 1 || has_notation(last.cells.front())) return;
  double number = 0;
  const auto is_number = [&](const std::string& text) {
    return read_cell(text, number) == CellKind::number;
  };
  const std::string& cell = last.cells.front();
  const std::size_t blank = cell.find_first_of(" \t");
  if (blank == std::string::npos || !is_number(cell.substr(0, blank))) return;
  const std::size_t second = cell.find_first_not_of(" \t", blank);
  const std::size_t end = cell.find_first_of(" \t", second);
  if (!is_number(cell.substr(second, end - second))) return;
  throw InputError(file,
                   "the numbers are separated by blanks; separate them by commas, semicolons or "
                   "tabs",
                   last.line);
}

// The line "sep=;" that a spreadsheet wrote for itself.
char take_separator_line(const CsvRecords& records, std::string_view sample) {
  constexpr std::string_view kLine = "sep=";
  const bool there = sample.starts_with(kLine) && sample.size() > kLine.size() + 1 &&
                     (sample[kLine.size() + 1] == '\r' || sample[kLine.size() + 1] == '\n') &&
                     kDelimiters.find(sample[kLine.size()]) != std::string_view::npos;
  return there && records.size() > 1 ? sample[kLine.size()] : '\0';
}

// Drops what is before the header, counts it, and says so.
void drop_preamble(CsvRecords& records, CsvLayout& layout) {
  const std::size_t preamble = lacks_first_name(records) ? 0 : count_preamble(records);
  if (preamble == 0) return;
  layout.notes.push_back(fmt::format(
      "The table begins on line {}: {} before it {} another number of fields.",
      records[preamble].line, preamble == 1 ? "the line" : fmt::format("{} lines", preamble),
      preamble == 1 ? "has" : "have"));
  layout.skip += preamble;
  records.erase(records.begin(), records.begin() + static_cast<std::ptrdiff_t>(preamble));
}

// Whether it has most of the columns that are known, as where a model waits for them.
bool names_known_columns(const CsvRecord& record, const TableOptions& options) {
  std::set<std::string> known(options.text_columns.begin(), options.text_columns.end());
  for (const auto& [name, notation] : options.notations) known.insert(name);
  const auto there = std::count_if(known.begin(), known.end(), [&](const std::string& name) {
    return std::find(record.cells.begin(), record.cells.end(), name) != record.cells.end();
  });
  return 2 * static_cast<std::size_t>(there) > known.size();
}

bool decide_header(const CsvRecords& records, const CellReader& reader, const TableOptions& options,
                   CsvLayout& layout) {
  if (options.header != Header::automatic) return options.header == Header::yes;
  if (names_known_columns(records.front(), options)) return true;
  const HeaderFinding found = find_header(records, reader);
  if (found.header && found.doubtful) {
    layout.notes.push_back(
        fmt::format("Line {} is taken as the names of the columns; if it is a row, say so with "
                    "--header no.",
                    records.front().line));
  }
  if (!found.header) {
    layout.notes.push_back(
        "The file has no names of columns, which are called x1, x2, ...; if the first line has "
        "them, say so with --header yes.");
  }
  return found.header;
}

std::string what_else(const CsvColumn& column, const FoundNotation& found) {
  const std::string here = found.notation.describe();
  const std::string there = found.other->describe();
  return fmt::format("Column {} {}; it could also be {}. {}", quote(column.name),
                     here.empty() ? "holds numbers with decimal points" : here,
                     there.empty() ? "numbers with decimal points"
                                   : there.substr(std::string_view("holds ").size()),
                     found.notation.is_time() ? "Write dates as 2021-12-31 if it is wrong."
                                              : "Write numbers as 1234.5 if it is wrong.");
}

}  // namespace

void find_notations(const std::vector<std::vector<std::string_view>>& cells,
                    const TableOptions& options, char delimiter, std::vector<CsvColumn>& columns) {
  CommaHint hint{.semicolons = delimiter == ';'};
  std::vector<std::optional<FoundNotation>> found(columns.size());
  const auto look = [&](std::size_t i) {
    const auto known = options.notations.find(columns[i].name);
    if (known != options.notations.end() && !cells[i].empty()) {
      const auto read = std::count_if(cells[i].begin(), cells[i].end(), [&](auto cell) {
        return known->second.read(cell).has_value();
      });
      if (10 * static_cast<std::size_t>(read) >= 9 * cells[i].size()) {
        found[i] = FoundNotation{known->second};
        return;
      }
    }
    found[i] = find_notation(cells[i], hint);
  };
  for (std::size_t i = 0; i < columns.size(); ++i) {
    look(i);
    if (!found[i] || found[i]->other || found[i]->notation.is_time()) continue;
    const Notation& notation = found[i]->notation;
    const bool used = std::any_of(cells[i].begin(), cells[i].end(), [&](std::string_view cell) {
      return cell.find(notation.decimal) != std::string_view::npos;
    });
    if (used) (notation.decimal == ',' ? hint.decimal_comma : hint.decimal_point) = true;
  }
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (found[i] && found[i]->other) look(i);
    if (!found[i]) continue;
    const bool plain = found[i]->notation.is_plain();
    columns[i].notation = found[i]->notation;
    if (!plain) columns[i].text = false;
    if (found[i]->other && (!plain || hint.decimal_comma)) {
      columns[i].doubt = what_else(columns[i], *found[i]);
    }
  }
}

CsvLayout find_layout(const std::string& file, std::string_view sample, bool whole,
                      const TableOptions& options) {
  CsvLayout layout;
  if (sample.starts_with("\xef\xbb\xbf")) layout.byte_order_mark = 3;
  sample.remove_prefix(layout.byte_order_mark);
  if (sample.find('\0') != std::string_view::npos) {
    throw InputError(file, "holds zero bytes, so it is no table in text; save it as CSV in UTF-8");
  }
  if (sample.find('\n') == std::string_view::npos) {
    layout.terminator = sample.find('\r') == std::string_view::npos ? '\n' : '\r';
  }
  CsvRecords records = best_sample(file, sample, whole, options.delimiter, layout);
  if (records.empty()) {
    throw InputError(file, "has no rows, only blank lines or comments; write or copy it again");
  }
  if (const char separator = take_separator_line(records, sample)) {
    records = best_sample(file, sample, whole, separator, layout);
    records.erase(records.begin());
    ++layout.skip;
  }
  if (options.delimiter == '\0') refuse_blanks(file, records);
  drop_preamble(records, layout);
  const CellReader reader(options.missing);
  const bool header = decide_header(records, reader, options, layout);
  if (header && lacks_first_name(records)) {
    records.front().cells.insert(records.front().cells.begin(), std::string());
  }
  const CsvRecord& first = records.front();
  layout.columns = named_columns(file, first, header);
  layout.unnamed_first = header && first.cells.size() > 1 && first.cells.front().empty();
  layout.unnamed_last = !header || first.cells.back().empty();
  std::size_t rows = header ? 1 : 0;
  if (header && has_units(records, reader)) {
    layout.notes.push_back(
        fmt::format("Line {} is taken as units, and is no row.", records[1].line));
    ++rows;
  }
  layout.skip += rows;
  const std::size_t fields = layout.columns.size();
  std::vector<std::vector<std::string_view>> cells(fields);
  for (std::size_t i = 0; i < fields; ++i) {
    std::ptrdiff_t excess = 0;
    for (std::size_t r = rows; r < records.size(); ++r) {
      if (i >= records[r].cells.size()) continue;
      const std::string& cell = records[r].cells[i];
      double number = 0;
      const CellKind kind = reader.read(cell, {}, number);
      if (kind == CellKind::text) ++excess;
      if (kind == CellKind::number) --excess;
      if (kind != CellKind::missing) cells[i].push_back(cell);
    }
    layout.columns[i].text = excess > 0;
  }
  find_notations(cells, options, layout.delimiter, layout.columns);
  const std::size_t lines = std::max<std::size_t>(records.back().line, 1);
  layout.bytes_per_record = static_cast<double>(sample.size()) / static_cast<double>(lines);
  return layout;
}

}  // namespace jeffreys

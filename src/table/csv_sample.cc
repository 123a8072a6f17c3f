#include "table/csv_sample.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "table/csv_feed.h"
#include "table/find_notation.h"

namespace jeffreys {
namespace {

constexpr std::size_t kSampleRecords = 1000;
constexpr std::size_t kJudgedRecords = 200;  // records that tell what a column holds

class Sample : public RecordSink {
 public:
  CsvRecords records;

  void field(std::string_view text) override {
    if (records.size() < kSampleRecords) cells_.emplace_back(text);
  }
  void end_record(std::size_t line) override {
    if (records.size() < kSampleRecords) records.push_back({line, std::move(cells_)});
    cells_.clear();
  }

 private:
  std::vector<std::string> cells_;
};

CellKind kind_of(const std::string& cell, const CellReader& reader) {
  if (reader.is_missing(cell)) return CellKind::missing;
  return has_notation(cell) ? CellKind::number : CellKind::text;
}

// Whether most cells of a column, from this record on, are numbers in some notation.
bool holds_numbers(const CsvRecords& records, std::size_t first, std::size_t column,
                   const CellReader& reader) {
  std::ptrdiff_t excess = 0;
  bool any = false;
  for (std::size_t r = first; r < std::min(records.size(), first + kJudgedRecords); ++r) {
    if (column >= records[r].cells.size()) continue;
    const CellKind kind = kind_of(records[r].cells[column], reader);
    if (kind == CellKind::number) ++excess;
    if (kind == CellKind::text) --excess;
    any = any || kind == CellKind::number;
  }
  return any && excess >= 0;
}

bool comes_again(const CsvRecords& records, std::size_t column) {
  const std::string& name = records.front().cells[column];
  return std::any_of(records.begin() + 1, records.end(), [&](const CsvRecord& record) {
    return column < record.cells.size() && record.cells[column] == name;
  });
}

// Whether the numbers in these columns of a record could be names: years, or 1, 2, 3 and so on.
bool are_names(const CsvRecord& record, const std::vector<std::size_t>& columns) {
  double before = 0;
  bool years = true;
  bool counted = columns.size() > 1;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    double number = 0;
    if (columns[i] >= record.cells.size() ||
        read_cell(record.cells[columns[i]], number) != CellKind::number ||
        std::floor(number) != number) {
      return false;
    }
    years = years && number >= 1800 && number <= 2200 && (i == 0 || number != before);
    counted = counted && (i == 0 || number == before + 1);
    before = number;
  }
  return years || counted;
}

HeaderFinding header_with_numbers(const CsvRecords& records,
                                  const std::vector<std::size_t>& numbers) {
  const std::size_t judged = std::min(records.size(), kJudgedRecords);
  std::size_t alike = 0;
  for (std::size_t r = 1; r < judged; ++r) alike += are_names(records[r], numbers) ? 1 : 0;
  const bool text = numbers.size() < records.front().cells.size();
  const bool header =
      text && judged > 1 && are_names(records.front(), numbers) && 2 * alike <= judged - 1;
  return {header, header};
}

}  // namespace

CsvRecords read_sample(const std::string& file, std::string_view text, bool whole, char delimiter,
                       char terminator) {
  Sample sample;
  CsvFeed feed(file, delimiter, terminator, sample);
  feed.push(text);
  if (whole) feed.finish();
  return std::move(sample.records);
}

std::size_t count_preamble(const CsvRecords& records) {
  constexpr std::size_t kLongest = 50;
  constexpr std::size_t kLeastRecords = 3;
  if (records.size() < kLeastRecords) return 0;
  const std::size_t fields = records.back().cells.size();
  const auto is_alike = [&](const CsvRecord& record) { return record.cells.size() == fields; };
  // One row that differs is a mistake: in a preamble all do.
  const auto first = std::find_if(records.begin(), records.end(), is_alike);
  const auto preamble = static_cast<std::size_t>(first - records.begin());
  const bool table = fields > 1 && records.size() - preamble >= kLeastRecords &&
                     std::all_of(first, records.end(), is_alike);
  return table && preamble <= kLongest ? preamble : 0;
}

bool lacks_first_name(const CsvRecords& records) {
  if (records.size() < 2) return false;
  const std::size_t fields = records[1].cells.size();
  if (records.front().cells.size() + 1 != fields) return false;
  bool names = true;
  bool empty_last = true;
  for (std::size_t r = 1; r < records.size(); ++r) {
    if (records[r].cells.size() != fields) return false;
    const std::string& name = records[r].cells.front();
    double number = 0;
    const bool text = read_cell(name, number) == CellKind::text && !has_notation(name);
    names = names && (text || number == static_cast<double>(r));
    empty_last = empty_last && records[r].cells.back().empty();
  }
  return names && !empty_last;
}

HeaderFinding find_header(const CsvRecords& records, const CellReader& reader) {
  const std::vector<std::string>& first = records.front().cells;
  std::vector<std::size_t> numbers;
  bool all_missing = true;
  bool marker = false;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const CellKind kind = kind_of(first[i], reader);
    if (kind == CellKind::number) numbers.push_back(i);
    all_missing = all_missing && kind == CellKind::missing;
    marker = marker || (kind == CellKind::missing && !first[i].empty());
  }
  if (all_missing) return {};
  if (records.size() == 1) return {numbers.empty(), false};
  if (numbers.size() == first.size()) return {};
  bool again = std::set(first.begin(), first.end()).size() < first.size();
  bool above_numbers = false;
  bool any_numbers = false;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const CellKind kind = kind_of(first[i], reader);
    if (kind == CellKind::text && comes_again(records, i)) again = true;
    if (!holds_numbers(records, 1, i, reader)) continue;
    any_numbers = true;
    above_numbers = above_numbers || kind == CellKind::text;
  }
  // Names that occur twice are told as such, not taken for a row.
  if (numbers.empty() && above_numbers) return {true, false};
  if (again) return {false, true};
  if (!numbers.empty()) return header_with_numbers(records, numbers);
  return {!any_numbers && !marker, true};
}

bool has_units(const CsvRecords& records, const CellReader& reader) {
  constexpr std::size_t kLeast = 4;
  if (records.size() < kLeast) return false;
  bool unit = false;
  for (std::size_t i = 0; i < records[1].cells.size(); ++i) {
    const CellKind kind = kind_of(records[1].cells[i], reader);
    if (kind == CellKind::number) return false;
    if (!holds_numbers(records, 2, i, reader)) {
      // Text above text may be a row.
      if (kind == CellKind::text) return false;
      continue;
    }
    unit = unit || kind == CellKind::text;
  }
  return unit;
}

}  // namespace jeffreys

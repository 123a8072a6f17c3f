#include "table/csv_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/cell.h"
#include "base/quote.h"
#include "jeffreys/base/input_error.h"
#include "table/csv_feed.h"

namespace jeffreys {
namespace {

constexpr std::size_t kSampleRecords = 1000;

struct Record {
  std::size_t line = 0;
  std::vector<std::string> cells;
};

class Sample : public RecordSink {
 public:
  std::vector<Record> records;

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

std::vector<Record> read_sample(const std::string& file, std::string_view text, bool whole,
                                char delimiter, char terminator) {
  Sample sample;
  CsvFeed feed(file, delimiter, terminator, sample);
  feed.push(text);
  if (whole) feed.finish();
  return std::move(sample.records);
}

CellKind kind_of(const std::string& cell) {
  double number = 0;
  return read_cell(cell, number);
}

// Orders candidates: all records alike with two fields or more, then the share of cells that are
// numbers, then the number of fields.
struct Merit {
  bool consistent = false;
  double numbers = 0;
  std::size_t fields = 0;

  auto operator<=>(const Merit&) const = default;
};

Merit merit_of(const std::vector<Record>& records) {
  if (records.empty()) return {};
  const std::size_t fields = records.front().cells.size();
  std::size_t numbers = 0;
  std::size_t cells = 0;
  bool alike = fields > 1;
  for (std::size_t i = records.size() > 1 ? 1 : 0; i < records.size(); ++i) {
    alike = alike && records[i].cells.size() == fields;
    cells += records[i].cells.size();
    for (const std::string& cell : records[i].cells) {
      if (kind_of(cell) == CellKind::number) ++numbers;
    }
  }
  return {alike, static_cast<double>(numbers) / static_cast<double>(cells), fields};
}

// The records with the best of the delimiters allowed, which goes to the layout.
std::vector<Record> best_sample(const std::string& file, std::string_view text, bool whole,
                                char wanted, CsvLayout& layout) {
  std::optional<std::vector<Record>> records;
  std::optional<InputError> failure;
  Merit best;
  for (const char delimiter : {',', ';', '\t'}) {
    if (wanted != '\0' && wanted != delimiter) continue;
    try {
      std::vector<Record> candidate = read_sample(file, text, whole, delimiter, layout.terminator);
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

bool has_header(const std::vector<Record>& records) {
  const std::vector<std::string>& first = records.front().cells;
  bool all_missing = true;
  for (const std::string& cell : first) {
    const CellKind kind = kind_of(cell);
    if (kind == CellKind::number) return false;
    all_missing = all_missing && kind == CellKind::missing;
  }
  if (all_missing) return false;
  if (records.size() == 1) return true;
  bool again = std::set(first.begin(), first.end()).size() < first.size();
  for (auto record = records.begin() + 1; record != records.end(); ++record) {
    for (std::size_t i = 0; i < record->cells.size(); ++i) {
      if (kind_of(record->cells[i]) == CellKind::number) return true;
      again = again || (i < first.size() && record->cells[i] == first[i]);
    }
  }
  const bool named = std::all_of(first.begin(), first.end(), [](const std::string& cell) {
    return kind_of(cell) == CellKind::text;
  });
  return named && !again;
}

std::vector<std::string> column_names(const std::string& file, const Record& first, bool header) {
  std::vector<std::string> names;
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < first.cells.size(); ++i) {
    const std::string& cell = first.cells[i];
    names.push_back(header && !cell.empty() ? cell : fmt::format("x{}", i + 1));
    if (!is_utf8(names.back())) {
      throw InputError(file, "the column name is not UTF-8; save the file as UTF-8", first.line,
                       i + 1);
    }
    const auto [earlier, fresh] = places.emplace(names.back(), i + 1);
    if (!fresh) {
      throw InputError(file,
                       fmt::format("the column name {} occurs twice, as columns {} and {}; give "
                                   "every column its own name",
                                   quote(names.back()), earlier->second, i + 1),
                       first.line, i + 1);
    }
  }
  return names;
}

std::vector<bool> text_columns(const std::vector<Record>& records, bool header) {
  const std::size_t fields = records.front().cells.size();
  std::vector<std::ptrdiff_t> excess(fields, 0);
  for (std::size_t r = header ? 1 : 0; r < records.size(); ++r) {
    for (std::size_t i = 0; i < std::min(fields, records[r].cells.size()); ++i) {
      const CellKind kind = kind_of(records[r].cells[i]);
      if (kind == CellKind::text) ++excess[i];
      if (kind == CellKind::number) --excess[i];
    }
  }
  std::vector<bool> text;
  for (const std::ptrdiff_t e : excess) text.push_back(e > 0);
  return text;
}

// One text column whose cells are numbers with blanks between.
void refuse_blanks(const std::string& file, const std::vector<Record>& records) {
  const Record& last = records.back();
  if (last.cells.size() != 1) return;
  const std::string& cell = last.cells.front();
  const std::size_t blank = cell.find_first_of(" \t");
  if (blank == std::string::npos || kind_of(cell.substr(0, blank)) != CellKind::number) return;
  const std::size_t second = cell.find_first_not_of(" \t", blank);
  const std::size_t end = cell.find_first_of(" \t", second);
  if (kind_of(cell.substr(second, end - second)) != CellKind::number) return;
  throw InputError(file,
                   "the numbers are separated by blanks; separate them by commas, semicolons or "
                   "tabs",
                   last.line);
}

}  // namespace

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
  const std::vector<Record> records = best_sample(file, sample, whole, options.delimiter, layout);
  if (records.empty()) {
    throw InputError(file, "has no rows, only blank lines or comments; write or copy it again");
  }
  if (options.delimiter == '\0') refuse_blanks(file, records);
  layout.header =
      options.header == Header::automatic ? has_header(records) : options.header == Header::yes;
  const Record& first = records.front();
  layout.names = column_names(file, first, layout.header);
  layout.unnamed_last = !layout.header || first.cells.back().empty();
  layout.text = text_columns(records, layout.header);
  const std::size_t lines = std::max<std::size_t>(records.back().line, 1);
  layout.bytes_per_record = static_cast<double>(sample.size()) / static_cast<double>(lines);
  return layout;
}

}  // namespace jeffreys

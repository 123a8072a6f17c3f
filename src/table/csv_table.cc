#include "table/csv_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>

#include "base/quote.h"
#include "jeffreys/base/input_error.h"
#include "jeffreys/storage/input_file.h"
#include "table/cell_reader.h"
#include "table/csv_feed.h"
#include "table/csv_layout.h"
#include "table/find_notation.h"
#include "table/schema_options.h"

namespace jeffreys {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 18;

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>()(text);
  }
};

// Markers of missing cells that need no word.
bool is_usual_marker(std::string_view cell) {
  return cell.empty() || cell == "NA" || cell == "NaN" || cell == "nan" || cell == "?";
}

class ColumnBuilder {
 public:
  ColumnBuilder(CsvColumn spec, std::size_t place, const CellReader& reader, std::size_t rows)
      : spec_(std::move(spec)), reader_(&reader) {
    column_.name = spec_.name;
    column_.place = place;
    if (spec_.text) {
      column_.codes.reserve(rows);
    } else {
      column_.numbers.reserve(rows);
    }
  }

  void add(std::string_view cell) {
    if (!cell.empty()) empty_ = false;
    if (spec_.text) {
      add_text(cell);
    } else {
      add_number(cell);
    }
  }

  bool empty() const { return empty_; }
  bool is_text() const { return spec_.text; }
  // What the column should have been read as; a draw means numbers.
  bool should_be_text() const {
    return texts_ == 0 && numbers_ == 0 ? spec_.text : texts_ > numbers_;
  }
  // Cells to find a notation from; none if nothing was wrong with the one that there was.
  std::vector<std::string_view> doubtful_cells() const {
    std::vector<std::string_view> cells(odd_.begin(), odd_.end());
    if (!cells.empty()) cells.insert(cells.end(), usual_.begin(), usual_.end());
    return cells;
  }

  Column take(std::vector<std::string>& notes) {
    column_.notation = spec_.notation;
    if (!spec_.text) digits_.finish(column_.notation);
    const std::string name = quote(column_.name);
    if (!spec_.doubt.empty()) {
      notes.push_back(spec_.doubt);
    } else if (const std::string how = column_.notation.describe(); !spec_.text && !how.empty()) {
      notes.push_back(fmt::format("Column {} {}.", name, how));
    } else if (column_.notation.width > 0 && !spec_.text) {
      notes.push_back(fmt::format(
          "Column {} has leading zeros. If it holds labels, say so with --categorical {}.", name,
          column_.name));
    }
    for (const auto& [marker, cells] : markers_) {
      notes.push_back(fmt::format("Column {}: {} is taken as missing, in {} cell{}.", name,
                                  quote(marker), cells, cells == 1 ? "" : "s"));
    }
    return std::move(column_);
  }

 private:
  void add_number(std::string_view cell) {
    constexpr std::size_t kKept = 200;
    double number = std::numeric_limits<double>::quiet_NaN();
    const CellKind kind = reader_->read(cell, spec_.notation, number);
    if (kind == CellKind::number) {
      ++numbers_;
      digits_.add(cell, spec_.notation);
      if (usual_.size() < kKept) usual_.emplace_back(cell);
    } else if (kind == CellKind::text) {
      if (odd_.size() < kKept) odd_.emplace_back(cell);
      if (texts_++ == 0) {
        column_.first_text_row = column_.numbers.size();
        column_.first_text = cell;
      }
    } else {
      note_marker(cell);
    }
    column_.text_cells = texts_;
    column_.numbers.push_back(number);
  }

  void add_text(std::string_view cell) {
    auto found = dictionary_.find(cell);
    if (found == dictionary_.end()) {
      double number = 0;
      const CellKind kind = reader_->read(cell, {}, number);
      const auto code = kind == CellKind::missing ? -1 : static_cast<int>(column_.labels.size());
      if (code >= 0) column_.labels.emplace_back(cell);
      found = dictionary_.emplace(cell, Entry{code, kind}).first;
    }
    column_.codes.push_back(found->second.code);
    if (found->second.kind == CellKind::number) ++numbers_;
    if (found->second.kind == CellKind::text) ++texts_;
    if (found->second.kind == CellKind::missing) note_marker(cell);
  }

  void note_marker(std::string_view cell) {
    if (!is_usual_marker(cell)) ++markers_[std::string(cell)];
  }

  struct Entry {
    std::int32_t code;
    CellKind kind;
  };

  CsvColumn spec_;
  const CellReader* reader_;
  bool empty_ = true;
  Column column_;
  DigitCounter digits_;
  std::size_t numbers_ = 0;
  std::size_t texts_ = 0;
  std::vector<std::string> odd_;    // the first cells that are no numbers in the notation
  std::vector<std::string> usual_;  // the first cells that are
  std::map<std::string, std::size_t> markers_;
  std::unordered_map<std::string, Entry, TextHash, std::equal_to<>> dictionary_;
};

// As programs number the rows of their tables.
bool counts_rows(const Column& column) {
  constexpr std::size_t kLeastCounted = 10;
  if (column.is_text() || column.rows() < kLeastCounted) return false;
  for (std::size_t row = 1; row < column.rows(); ++row) {
    if (column.numbers[row] != column.numbers[row - 1] + 1) return false;
  }
  return column.numbers.front() == 0 || column.numbers.front() == 1;
}

class TableBuilder : public RecordSink {
 public:
  TableBuilder(std::string file, const CsvLayout& layout, const CellReader& reader,
               std::size_t rows)
      : file_(std::move(file)), skip_(layout.skip) {
    for (std::size_t i = 0; i < layout.columns.size(); ++i) {
      builders_.emplace_back(layout.columns[i], i + 1, reader, rows);
    }
  }

  void field(std::string_view text) override {
    if (field_ < builders_.size() && skip_ == 0) builders_[field_].add(text);
    ++field_;
  }

  void end_record(std::size_t line) override {
    if (skip_ > 0) {
      --skip_;
      field_ = 0;
      return;
    }
    if (field_ != builders_.size()) {
      throw InputError(
          file_,
          fmt::format("the row has {} field{}, the first row has {}; correct the row, or quote "
                      "fields that hold a delimiter",
                      field_, field_ == 1 ? "" : "s", builders_.size()),
          line);
    }
    field_ = 0;
    if (anchors_.empty() || line != anchors_.back().line + (rows_ - anchors_.back().row)) {
      anchors_.push_back({rows_, line});
    }
    ++rows_;
  }

  std::size_t rows() const { return rows_; }
  std::vector<ColumnBuilder>& builders() { return builders_; }

  Table take(const CsvLayout& layout) {
    // A delimiter at the end of every row makes an empty column without a name.
    if (layout.unnamed_last && builders_.size() > 1 && builders_.back().empty()) {
      builders_.pop_back();
    }
    Table table{std::move(file_), {}, std::move(anchors_), layout.notes, layout.delimiter};
    for (ColumnBuilder& builder : builders_) table.columns.push_back(builder.take(table.notes));
    if (layout.unnamed_first && table.columns.size() > 1 && counts_rows(table.columns.front())) {
      table.columns.erase(table.columns.begin());
      table.notes.emplace_back("The first column has no name and counts the rows: left out.");
    }
    return table;
  }

 private:
  std::string file_;
  std::size_t skip_;
  std::vector<ColumnBuilder> builders_;
  std::vector<LineAnchor> anchors_;
  std::size_t rows_ = 0;
  std::size_t field_ = 0;
};

std::string_view text_of(const std::vector<std::byte>& buffer, std::size_t size) {
  return {reinterpret_cast<const char*>(buffer.data()), size};
}

CsvLayout layout_of(const std::filesystem::path& path, const TableOptions& options) {
  storage::InputFile input(path);
  std::vector<std::byte> buffer(std::min(input.size(), kBlock));
  const std::size_t size = input.read(buffer);
  return find_layout(input.name(), text_of(buffer, size), size == input.size(), options);
}

TableBuilder read_pass(const std::filesystem::path& path, const CsvLayout& layout,
                       const CellReader& reader) {
  storage::InputFile input(path);
  // Reserved memory is not used memory: an estimate that is a little too large spares the doubling
  // of vectors, which would use up to three times the table's memory.
  const double rows = 1.1 * static_cast<double>(input.size()) / layout.bytes_per_record + 16;
  TableBuilder builder(input.name(), layout, reader,
                       std::min(static_cast<std::size_t>(rows), input.size()));
  CsvFeed feed(input.name(), layout.delimiter, layout.terminator, builder);
  std::vector<std::byte> buffer(std::min(input.size(), kBlock));
  std::size_t skip = layout.byte_order_mark;
  while (const std::size_t size = input.read(buffer)) {
    feed.push(text_of(buffer, size).substr(skip));
    skip = 0;
  }
  feed.finish();
  return builder;
}

// What the first pass says about columns about which the first records deceived.
bool correct(TableBuilder& builder, const TableOptions& options, CsvLayout& layout) {
  bool changed = false;
  std::vector<CsvColumn>& columns = layout.columns;
  std::vector<std::vector<std::string_view>> doubtful(columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const ColumnBuilder& column = builder.builders()[i];
    if (!contains(options.text_columns, columns[i].name)) doubtful[i] = column.doubtful_cells();
  }
  std::vector<CsvColumn> found = columns;
  find_notations(doubtful, options, layout.delimiter, found);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const ColumnBuilder& column = builder.builders()[i];
    if (contains(options.text_columns, columns[i].name)) continue;
    if (!doubtful[i].empty() && found[i].notation != columns[i].notation) {
      columns[i] = found[i];
      changed = true;
    } else if (column.should_be_text() != column.is_text()) {
      columns[i].text = !columns[i].text;
      columns[i].notation = {};
      columns[i].doubt.clear();
      changed = true;
    }
  }
  return changed;
}

}  // namespace

Table read_csv(const std::filesystem::path& path, const TableOptions& options) {
  CsvLayout layout = layout_of(path, options);
  const CellReader reader(options.missing);
  for (CsvColumn& column : layout.columns) {
    if (contains(options.text_columns, column.name)) column = {.name = column.name, .text = true};
  }
  for (bool again = false;; again = true) {
    TableBuilder builder = read_pass(path, layout, reader);
    if (builder.rows() == 0) {
      throw InputError(path.string(), "has a header but no rows; write or copy it again");
    }
    if (!again && correct(builder, options, layout)) continue;
    Table table = builder.take(layout);
    table.missing = options.missing;
    return table;
  }
}

}  // namespace jeffreys

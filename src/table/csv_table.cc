#include "table/csv_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <span>
#include <unordered_map>
#include <utility>

#include "base/cell.h"
#include "jeffreys/base/input_error.h"
#include "jeffreys/storage/input_file.h"
#include "table/csv_feed.h"
#include "table/csv_layout.h"

namespace jeffreys {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 18;

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>()(text);
  }
};

class ColumnBuilder {
 public:
  ColumnBuilder(std::string name, std::size_t place, bool text, std::size_t rows) : text_(text) {
    column_.name = std::move(name);
    column_.place = place;
    if (text) {
      column_.codes.reserve(rows);
    } else {
      column_.numbers.reserve(rows);
    }
  }

  void add(std::string_view cell) {
    if (!cell.empty()) empty_ = false;
    if (text_) {
      add_text(cell);
    } else {
      add_number(cell);
    }
  }

  bool empty() const { return empty_; }
  bool is_text() const { return text_; }
  // What the column should have been read as; a draw means numbers.
  bool should_be_text() const { return texts_ == 0 && numbers_ == 0 ? text_ : texts_ > numbers_; }

  Column take() { return std::move(column_); }

 private:
  void add_number(std::string_view cell) {
    double number = std::numeric_limits<double>::quiet_NaN();
    const CellKind kind = read_cell(cell, number);
    if (kind == CellKind::number) ++numbers_;
    if (kind == CellKind::text && texts_++ == 0) {
      column_.first_text_row = column_.numbers.size();
      column_.first_text = cell;
    }
    column_.text_cells = texts_;
    column_.numbers.push_back(number);
  }

  void add_text(std::string_view cell) {
    auto found = dictionary_.find(cell);
    if (found == dictionary_.end()) {
      double number = 0;
      const CellKind kind = read_cell(cell, number);
      const auto code = kind == CellKind::missing ? -1 : static_cast<int>(column_.labels.size());
      if (code >= 0) column_.labels.emplace_back(cell);
      found = dictionary_.emplace(cell, Entry{code, kind}).first;
    }
    column_.codes.push_back(found->second.code);
    if (found->second.kind == CellKind::number) ++numbers_;
    if (found->second.kind == CellKind::text) ++texts_;
  }

  struct Entry {
    std::int32_t code;
    CellKind kind;
  };

  bool text_;
  bool empty_ = true;
  Column column_;
  std::size_t numbers_ = 0;
  std::size_t texts_ = 0;
  std::unordered_map<std::string, Entry, TextHash, std::equal_to<>> dictionary_;
};

class TableBuilder : public RecordSink {
 public:
  TableBuilder(std::string file, const CsvLayout& layout, const std::vector<bool>& text,
               std::size_t rows)
      : file_(std::move(file)), header_(layout.header) {
    for (std::size_t i = 0; i < layout.names.size(); ++i) {
      builders_.emplace_back(layout.names[i], i + 1, text[i], rows);
    }
  }

  void field(std::string_view text) override {
    if (field_ < builders_.size() && !header_) builders_[field_].add(text);
    ++field_;
  }

  void end_record(std::size_t line) override {
    if (field_ != builders_.size()) {
      throw InputError(
          file_,
          fmt::format("the row has {} field{}, the first row has {}; correct the row, or quote "
                      "fields that hold a delimiter",
                      field_, field_ == 1 ? "" : "s", builders_.size()),
          line);
    }
    field_ = 0;
    if (header_) {
      header_ = false;
      return;
    }
    if (anchors_.empty() || line != anchors_.back().line + (rows_ - anchors_.back().row)) {
      anchors_.push_back({rows_, line});
    }
    ++rows_;
  }

  std::size_t rows() const { return rows_; }
  std::vector<ColumnBuilder>& builders() { return builders_; }

  Table take(bool unnamed_last) {
    // A delimiter at the end of every row makes an empty column without a name.
    if (unnamed_last && builders_.size() > 1 && builders_.back().empty()) builders_.pop_back();
    Table table{std::move(file_), {}, std::move(anchors_)};
    for (ColumnBuilder& builder : builders_) table.columns.push_back(builder.take());
    return table;
  }

 private:
  std::string file_;
  bool header_;
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
                       const std::vector<bool>& text) {
  storage::InputFile input(path);
  // Reserved memory is not used memory: an estimate that is a little too large spares the doubling
  // of vectors, which would use up to three times the table's memory.
  const double rows = 1.1 * static_cast<double>(input.size()) / layout.bytes_per_record + 16;
  TableBuilder builder(input.name(), layout, text,
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

}  // namespace

Table read_csv(const std::filesystem::path& path, const TableOptions& options) {
  const CsvLayout layout = layout_of(path, options);
  std::vector<bool> text = layout.text;
  std::vector<bool> declared(text.size(), false);
  for (std::size_t i = 0; i < text.size(); ++i) {
    declared[i] = std::find(options.text_columns.begin(), options.text_columns.end(),
                            layout.names[i]) != options.text_columns.end();
    if (declared[i]) text[i] = true;
  }
  // The first records may deceive about a column; then the counts of the first pass decide.
  for (bool again = false;; again = true) {
    TableBuilder builder = read_pass(path, layout, text);
    if (builder.rows() == 0) {
      throw InputError(path.string(), "has a header but no rows; write or copy it again");
    }
    bool changed = false;
    for (std::size_t i = 0; i < text.size() && !again; ++i) {
      const ColumnBuilder& column = builder.builders()[i];
      if (declared[i] || column.should_be_text() == column.is_text()) continue;
      text[i] = !text[i];
      changed = true;
    }
    if (!changed) return builder.take(layout.unnamed_last);
  }
}

}  // namespace jeffreys

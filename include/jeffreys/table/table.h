#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "jeffreys/base/matrix.h"
#include "jeffreys/table/notation.h"

namespace jeffreys {

// A column of a table: numbers, or text with each different text kept once.
struct Column {
  std::string name = {};
  std::vector<double> numbers = {};      // of a numeric column; NaN where missing
  std::vector<std::int32_t> codes = {};  // of a text column: places in `labels`; -1 where missing
  std::vector<std::string> labels = {};  // in order of first appearance
  std::size_t place = 0;                 // in the file, counted from 1; 0 when it is from no file

  // Cells of a numeric column that are text. They count as missing in `numbers`; Schema refuses
  // the column unless it is ignored.
  std::size_t text_cells = 0;
  std::size_t first_text_row = 0;
  std::string first_text = {};

  Notation notation = {};  // of a numeric column: how its cells are written

  bool is_text() const { return !codes.empty(); }
  std::size_t rows() const { return is_text() ? codes.size() : numbers.size(); }
  bool missing(std::size_t row) const;
  // The cell as it would be written to a file; a plain number in its shortest exact form, "" if
  // missing.
  std::string text(std::size_t row) const;
};

// Rows from `row` on lie on consecutive lines from `line` on, up to the next anchor.
struct LineAnchor {
  std::size_t row = 0;
  std::size_t line = 0;
};

struct Table {
  std::string source;  // file name for messages
  std::vector<Column> columns;
  std::vector<LineAnchor> anchors;  // sorted; empty when rows have no lines, as in an .npy file
  // How it was read: what was decided, in plain sentences; what separates the fields; which texts
  // mark missing cells besides the usual ones.
  std::vector<std::string> notes = {};
  char delimiter = ',';
  std::vector<std::string> missing = {};

  std::size_t rows() const { return columns.empty() ? 0 : columns.front().rows(); }
  // nullptr when there is no such column.
  const Column* find(std::string_view name) const;
  // Line on which a row begins, counted from 1; 0 when unknown.
  std::size_t line(std::size_t row) const;
};

// These rows, in this order. Labels that none of them has are forgotten.
[[nodiscard]] Table take_rows(const Table& table, std::span<const std::size_t> rows);

// The rows in a mixed order that depends on what they hold alone, not on their order in the file;
// those columns do not count.
[[nodiscard]] Table ordered_by_content(const Table& table,
                                       const std::vector<std::string>& but_not = {});

// One column of numbers for each name, from values [rows, names].
[[nodiscard]] Table table_from_matrix(const MatrixView<double>& values,
                                      const std::vector<std::string>& names);
// The columns of these names as [rows, names]. Throws InputError for a column that is missing, and
// for a cell that is no finite number.
[[nodiscard]] Matrix<double> matrix_from_table(const Table& table,
                                               const std::vector<std::string>& names);

}  // namespace jeffreys

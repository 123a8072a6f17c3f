// A table's column as numbers that a schema can work with, checked cell by cell.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "jeffreys/table/schema.h"
#include "jeffreys/table/table.h"

namespace jeffreys {

// Numbers as they are in the table, or codes: places in the schema's labels. NaN where missing.
class ColumnValues {
 public:
  // Throws InputError with line and column for text among numbers and values beyond kLargestValue;
  // and, unless unusual ones are kept, for values beyond the bounds or the distribution's support
  // and labels that are not the schema's. The code of such a label is the number of labels.
  ColumnValues(const Table& table, const Column& column, const ColumnInfo& info,
               Unusual unusual = Unusual::refuse);

  std::span<const double> values() const { return own_.empty() ? shared_ : own_; }

 private:
  std::vector<double> own_;
  std::span<const double> shared_;
};

// Labels of a column that is to be categorical, in the order of LabelLess.
std::vector<std::string> sorted_labels(const Table& table, const Column& column);

// What is unusual about a value, as the rest of a sentence that begins with its column; empty if
// nothing is.
std::string what_is_unusual(const ColumnInfo& info, const Column& column, std::size_t row,
                            double value);

// Throws InputError for a missing cell that is not allowed.
[[noreturn]] void refuse_missing(const Table& table, const Column& column, std::size_t row);

// Throws InputError at a cell of the table; names the row where a line is unknown.
[[noreturn]] void refuse_cell(const Table& table, const Column& column, std::size_t row,
                              const std::string& problem);

}  // namespace jeffreys

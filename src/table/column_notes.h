// Sentences of Schema::notes about one column; none when there is nothing to say.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "jeffreys/table/schema.h"
#include "table/ties.h"

namespace jeffreys {

using Notes = std::vector<std::string>;

Notes label_notes(const ColumnInfo& info, std::size_t rows);
// `values` in the order of the table.
Notes order_notes(const ColumnInfo& info, const std::vector<double>& values);
Notes tie_notes(const ColumnInfo& info, const Repeats& repeats, std::size_t rows);
// `encoded` before it is standardised, [rows, 1].
Notes tail_notes(const ColumnInfo& info, const Matrix<double>& encoded);
// `scores` are normal scores under the column's distribution, [rows, 1].
Notes distribution_notes(const ColumnInfo& info, const std::vector<double>& scores);

}  // namespace jeffreys

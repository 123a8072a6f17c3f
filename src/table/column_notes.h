// Sentences of Schema::notes about one column; none when there is nothing to say.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "jeffreys/table/schema.h"
#include "table/ties.h"

namespace jeffreys {

using Notes = std::vector<std::string>;

// `once`: labels that a single training row has.
Notes label_notes(const ColumnInfo& info, std::size_t rows, std::size_t once);
// `values` are sorted.
Notes order_notes(const ColumnInfo& info, const std::vector<double>& values);
Notes tie_notes(const ColumnInfo& info, const Repeats& repeats, std::size_t rows);
// `held`: rows of the atoms together.
Notes atom_notes(const ColumnInfo& info, std::size_t held, std::size_t rows);
// Of a column with bounds.
std::string bounded_note(const ColumnInfo& info);
// Of a column without bounds that looks as if it had some.
Notes bound_notes(const ColumnInfo& info);
// `free`: values before they are standardised, [rows, places of a cell].
Notes tail_notes(const ColumnInfo& info, const Matrix<double>& free);
// `scores` are normal scores under the column's distribution, [rows, 1].
Notes distribution_notes(const ColumnInfo& info, const std::vector<double>& scores);

}  // namespace jeffreys

// What the values of a numeric feature say about its way to a model's number. Both functions return
// sentences for Schema::notes.
#pragma once

#include <vector>

#include "jeffreys/table/schema.h"
#include "table/column_notes.h"

namespace jeffreys {

// Sets kind, resolution, offset, noise and atoms, from the values of all rows.
Notes fit_lattice(ColumnInfo& info, std::vector<double> values, Ties ties);

// Sets reach, nudge and shape of a column with bounds, from values that are no atoms: of all rows,
// and of the training rows.
Notes fit_bounds(ColumnInfo& info, const std::vector<double>& values, std::vector<double> training);

}  // namespace jeffreys

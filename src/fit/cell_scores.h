// Log densities of rows whose numbers leave something open: the mean of the density over even
// points of their cells, the same for every row.
#pragma once

#include <functional>

#include "jeffreys/fit/tabular_density.h"
#include "jeffreys/table/encoded_rows.h"

namespace jeffreys {

// log_density(x, context): of rows as a model sees them, without the Jacobian of the schema. It is
// asked for many points at once, the rows' points next to each other.
using RowLogDensity =
    std::function<Vector<double>(const MatrixView<double>& x, const MatrixView<double>& context)>;

// With the Jacobian.
[[nodiscard]] RowScores score_cells(const EncodedRows& rows, const RowLogDensity& log_density);

}  // namespace jeffreys

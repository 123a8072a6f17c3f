// One-hot codes take many times the memory of the codes: where nothing has to be kept, long tables
// are worked on in parts.
#pragma once

#include <algorithm>

#include "jeffreys/base/matrix.h"

namespace jeffreys {

// Tiles enough for several threads.
inline constexpr Eigen::Index kPartRows = 4096;

// Calls job(first_row, rows) for consecutive parts.
template <typename Job>
void for_parts(Eigen::Index rows, const Job& job) {
  for (Eigen::Index first = 0; first < rows; first += kPartRows) {
    job(first, std::min(kPartRows, rows - first));
  }
}

// The context of rows [first, first + rows) of a batch, which has as many rows or fewer that
// repeat.
template <typename T>
[[nodiscard]] Matrix<T> context_of_part(const MatrixView<T>& context, Eigen::Index first,
                                        Eigen::Index rows) {
  const Eigen::Index period = context.rows();
  if (period <= 1 || (first % period == 0 && rows % period == 0)) return context;
  Matrix<T> result(rows, context.cols());
  for (Eigen::Index r = 0; r < rows; ++r) result.row(r) = context.row((first + r) % period);
  return result;
}

}  // namespace jeffreys

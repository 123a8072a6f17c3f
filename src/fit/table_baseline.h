// The density that anyone can fit to rows with categories: the frequencies of the classes, each
// category for itself, times a Gaussian of the numbers whose mean depends linearly on classes and
// conditions.
#pragma once

#include <optional>
#include <vector>

#include "jeffreys/evaluate/gaussian_baseline.h"
#include "jeffreys/fit/models.h"
#include "jeffreys/table/encoded_rows.h"

namespace jeffreys {

class TableBaseline {
 public:
  TableBaseline(const RowShape& shape, const EncodedRows& training);

  // In the user's units.
  [[nodiscard]] Vector<double> log_prob(const EncodedRows& rows) const;

 private:
  [[nodiscard]] Matrix<double> given(const MatrixView<double>& x,
                                     const MatrixView<double>& context) const;
  [[nodiscard]] Vector<double> log_density(const MatrixView<double>& x,
                                           const MatrixView<double>& context) const;

  RowShape shape_;
  std::vector<Vector<double>> log_frequencies_;
  std::optional<GaussianBaseline> gaussian_;
  EncodedRows training_;  // with filled gaps, for proposals
};

}  // namespace jeffreys

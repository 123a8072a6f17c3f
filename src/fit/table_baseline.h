// Densities that anyone can fit to rows with categories: the frequencies of the classes, each
// category for itself, times a density of the numbers whose mean depends linearly on classes and
// conditions.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "jeffreys/evaluate/gaussian_baseline.h"
#include "jeffreys/evaluate/residual_baseline.h"
#include "jeffreys/fit/models.h"
#include "jeffreys/table/encoded_rows.h"

namespace jeffreys {

// Of the numbers: a Gaussian with shrunk correlations, a mixture of Gaussians whose size
// cross-validation chooses, or kernels whose width it chooses.
enum class SimpleModel { gaussian, mixture, kernel };

class TableBaseline {
 public:
  // seed: of the mixture's parts and starts.
  TableBaseline(const RowShape& shape, const EncodedRows& training,
                SimpleModel model = SimpleModel::gaussian, std::uint64_t seed = 0);

  // In the user's units.
  [[nodiscard]] Vector<double> log_prob(const EncodedRows& rows) const;

 private:
  [[nodiscard]] Matrix<double> given(const MatrixView<double>& x,
                                     const MatrixView<double>& context) const;
  [[nodiscard]] Vector<double> log_density(const MatrixView<double>& x,
                                           const MatrixView<double>& context) const;

  RowShape shape_;
  std::vector<Vector<double>> log_frequencies_;
  // Of the numbers, if there are any.
  std::variant<std::monostate, GaussianBaseline, ResidualBaseline> numbers_;
};

}  // namespace jeffreys

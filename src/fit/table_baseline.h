// Densities that anyone can fit to rows with categories: the frequencies of the classes, each
// category for itself, times a density of the numbers whose mean depends linearly on classes and
// conditions.
#pragma once

#include <cstdint>
#include <functional>
#include <variant>
#include <vector>

#include "jeffreys/evaluate/gaussian_baseline.h"
#include "jeffreys/evaluate/residual_baseline.h"
#include "jeffreys/fit/models.h"
#include "jeffreys/table/encoded_rows.h"

namespace jeffreys {

// Places at which simple densities see each value of a lattice, for the width of its cell to count.
inline constexpr Eigen::Index kPlacesOfACell = 4;

// Every row at so many places of its cells: at others than any other row, or a model could put
// spikes on the places. Rows without cells stay as they are.
[[nodiscard]] EncodedRows spread_over_cells(const EncodedRows& rows, std::uint64_t seed,
                                            Eigen::Index places = kPlacesOfACell);

// For densities that take longer: fewer places of many rows; 1 without cells.
[[nodiscard]] Eigen::Index places_of_many(const EncodedRows& rows);

// Of the numbers: a Gaussian with shrunk correlations, a mixture of Gaussians whose size
// cross-validation chooses, or kernels whose width it chooses.
enum class SimpleModel { gaussian, mixture, kernel };

// What ends the fit of a simple model where its run is to stop.
struct Interrupted {};
[[nodiscard]] inline std::function<void()> interrupt_if(std::function<bool()> should_stop) {
  return [stop = std::move(should_stop)] {
    if (stop && stop()) throw Interrupted();
  };
}

class TableBaseline {
 public:
  // seed: of the mixture's parts and starts. on_step is called between the steps of the fit; what
  // it throws ends it.
  TableBaseline(const RowShape& shape, const EncodedRows& rows,
                SimpleModel model = SimpleModel::gaussian, std::uint64_t seed = 0,
                const std::function<void()>& on_step = {});

  // Of the numbers given the one-hot codes of the classes and the context; only where there are
  // numbers and the model is a Gaussian.
  [[nodiscard]] const GaussianBaseline& gaussian() const {
    return std::get<GaussianBaseline>(numbers_);
  }

  // Of the classes of each category.
  [[nodiscard]] const std::vector<Vector<double>>& log_frequencies() const {
    return log_frequencies_;
  }
  // What the numbers of rows x depend on: the one-hot codes of their classes, then the context.
  [[nodiscard]] Matrix<double> given(const MatrixView<double>& x,
                                     const MatrixView<double>& context) const;

  // In the user's units.
  [[nodiscard]] Vector<double> log_prob(const EncodedRows& rows) const;

 private:
  [[nodiscard]] Vector<double> log_density(const MatrixView<double>& x,
                                           const MatrixView<double>& context) const;

  RowShape shape_;
  std::vector<Vector<double>> log_frequencies_;
  // Of the numbers, if there are any.
  std::variant<std::monostate, GaussianBaseline, ResidualBaseline> numbers_;
  EncodedRows training_;  // with filled gaps, for proposals
};

}  // namespace jeffreys

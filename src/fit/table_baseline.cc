#include "fit/table_baseline.h"

#include <cmath>
#include <numeric>

#include "fit/cell_scores.h"

namespace jeffreys {
namespace {

// Places at which simple models see each value of a lattice.
constexpr Eigen::Index kPlaces = 4;

// Half a row is added to each class, so that none is impossible.
Vector<double> log_frequencies(const Vector<double>& codes, Eigen::Index classes) {
  Vector<double> counts = Vector<double>::Constant(classes, 0.5);
  for (const double code : codes) {
    const auto place = static_cast<Eigen::Index>(code);
    if (place < classes) counts(place) += 1;
  }
  return (counts / counts.sum()).array().log();
}

}  // namespace

EncodedRows spread_over_cells(const EncodedRows& rows, std::uint64_t seed) {
  if (rows.cells.open() == 0) return rows;
  std::vector<std::size_t> repeated;
  for (Eigen::Index p = 0; p < kPlaces; ++p) {
    for (Eigen::Index r = 0; r < rows.size(); ++r) repeated.push_back(static_cast<std::size_t>(r));
  }
  EncodedRows result = rows.take(repeated);
  rows.cells.place(repeated, random_points(result.size(), rows.cells.open(), seed, 0), result.x);
  return result;
}

TableBaseline::TableBaseline(const RowShape& shape, const EncodedRows& training) : shape_(shape) {
  for (std::size_t c = 0; c < shape.categories.size(); ++c) {
    log_frequencies_.push_back(log_frequencies(
        training.x.col(shape.features + static_cast<Eigen::Index>(c)), shape.categories[c]));
  }
  if (shape.features == 0) return;
  const EncodedRows spread = spread_over_cells(training, 0);
  gaussian_.emplace(spread.x.leftCols(shape.features), given(spread.x, spread.context));
}

// One-hot codes of the classes, then the context.
Matrix<double> TableBaseline::given(const MatrixView<double>& x,
                                    const MatrixView<double>& context) const {
  const Eigen::Index classes =
      std::accumulate(shape_.categories.begin(), shape_.categories.end(), Eigen::Index{0});
  Matrix<double> all = Matrix<double>::Zero(x.rows(), classes + context.cols());
  Eigen::Index first = 0;
  for (std::size_t c = 0; c < shape_.categories.size(); ++c) {
    for (Eigen::Index r = 0; r < x.rows(); ++r) {
      const auto code =
          static_cast<Eigen::Index>(x(r, shape_.features + static_cast<Eigen::Index>(c)));
      if (code < shape_.categories[c]) all(r, first + code) = 1;
    }
    first += shape_.categories[c];
  }
  if (context.cols() > 0) all.rightCols(context.cols()) = context;
  return all;
}

Vector<double> TableBaseline::log_density(const MatrixView<double>& x,
                                          const MatrixView<double>& context) const {
  Vector<double> result = Vector<double>::Zero(x.rows());
  for (std::size_t c = 0; c < shape_.categories.size(); ++c) {
    for (Eigen::Index r = 0; r < x.rows(); ++r) {
      const auto code =
          static_cast<Eigen::Index>(x(r, shape_.features + static_cast<Eigen::Index>(c)));
      if (code < shape_.categories[c]) result(r) += log_frequencies_[c](code);
    }
  }
  if (gaussian_) result += gaussian_->log_prob(x.leftCols(shape_.features), given(x, context));
  return result;
}

Vector<double> TableBaseline::log_prob(const EncodedRows& rows) const {
  return score_cells(rows, [&](const auto& x, const auto& c) { return log_density(x, c); })
      .log_prob;
}

}  // namespace jeffreys

#include "fit/table_baseline.h"

#include <cmath>
#include <numeric>

#include "fit/gap_fills.h"
#include "fit/gap_scores.h"

namespace jeffreys {
namespace {

// Places at which the Gaussian sees each value of a lattice, for the width of its cell to count.
constexpr Eigen::Index kPlaces = 4;

// Half a row is added to each class, so that none is impossible.
Vector<double> log_frequencies(const Vector<double>& codes, Eigen::Index classes,
                               const Vector<double>& weights) {
  Vector<double> counts = Vector<double>::Constant(classes, 0.5);
  for (Eigen::Index i = 0; i < codes.size(); ++i) {
    const auto place = static_cast<Eigen::Index>(codes(i));
    if (place < classes) counts(place) += weights.size() > 0 ? weights(i) / weights.mean() : 1;
  }
  return (counts / counts.sum()).array().log();
}

}  // namespace

TableBaseline::TableBaseline(const RowShape& shape, const EncodedRows& rows_of_training)
    : shape_(shape), training_(with_gaps_filled(shape, rows_of_training, 0)) {
  const EncodedRows& training = training_;
  for (std::size_t c = 0; c < shape.categories.size(); ++c) {
    log_frequencies_.push_back(
        log_frequencies(training.x.col(shape.features + static_cast<Eigen::Index>(c)),
                        shape.categories[c], training.weights));
  }
  if (shape.features == 0) return;
  const Eigen::Index places = training.cells.open() > 0 ? kPlaces : 1;
  std::vector<std::size_t> rows(static_cast<std::size_t>(training.size()));
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  const Matrix<double> points = even_points(places, training.cells.open(), 0);
  Matrix<double> x = training.x.replicate(places, 1);
  for (Eigen::Index p = 0; p < places && training.cells.open() > 0; ++p) {
    training.cells.place(rows, points.row(p).replicate(training.size(), 1),
                         x.middleRows(p * training.size(), training.size()));
  }
  gaussian_.emplace(x.leftCols(shape.features), given(x, training.context.replicate(places, 1)),
                    training.weights.replicate(places, 1));
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
  return score_rows(
             rows, [&](const auto& x, const auto& c) { return log_density(x, c); },
             [&] { return GapMixture(shape_, training_.x, training_.context, {}, 0); })
      .log_prob;
}

}  // namespace jeffreys

#include "fit/table_baseline.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fit/cell_scores.h"

namespace jeffreys {
namespace {

// Places at which a density sees each value of a lattice, for the width of its cell to count; those
// that take longer see fewer of many rows.
constexpr Eigen::Index kPlaces = 4;
constexpr Eigen::Index kPlacedRows = 4000;

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

TableBaseline::TableBaseline(const RowShape& shape, const EncodedRows& training, SimpleModel model,
                             std::uint64_t seed)
    : shape_(shape) {
  for (std::size_t c = 0; c < shape.categories.size(); ++c) {
    log_frequencies_.push_back(log_frequencies(
        training.x.col(shape.features + static_cast<Eigen::Index>(c)), shape.categories[c]));
  }
  if (shape.features == 0) return;
  const Eigen::Index most =
      model == SimpleModel::gaussian
          ? kPlaces
          : std::clamp<Eigen::Index>(kPlacedRows / training.size(), 1, kPlaces);
  const Eigen::Index places = training.cells.open() > 0 ? most : 1;
  std::vector<std::size_t> rows(static_cast<std::size_t>(training.size()));
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  const Matrix<double> points = even_points(places, training.cells.open(), 0);
  Matrix<double> x = training.x.replicate(places, 1);
  for (Eigen::Index p = 0; p < places && training.cells.open() > 0; ++p) {
    training.cells.place(rows, points.row(p).replicate(training.size(), 1),
                         x.middleRows(p * training.size(), training.size()));
  }
  const Matrix<double> numbers = x.leftCols(shape.features);
  const Matrix<double> conditions = given(x, training.context.replicate(places, 1));
  if (model == SimpleModel::gaussian) {
    numbers_.emplace<GaussianBaseline>(numbers, conditions);
    return;
  }
  std::vector<std::size_t> same;
  for (Eigen::Index p = 0; p < places; ++p) same.insert(same.end(), rows.begin(), rows.end());
  numbers_.emplace<ResidualBaseline>(
      model == SimpleModel::mixture ? ResidualDensity::mixture : ResidualDensity::kernel, numbers,
      conditions, same, seed);
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
  if (shape_.features == 0) return result;
  const auto numbers = x.leftCols(shape_.features);
  const Matrix<double> conditions = given(x, context);
  if (const auto* gaussian = std::get_if<GaussianBaseline>(&numbers_)) {
    result += gaussian->log_prob(numbers, conditions);
  } else {
    result += std::get<ResidualBaseline>(numbers_).log_prob(numbers, conditions);
  }
  return result;
}

Vector<double> TableBaseline::log_prob(const EncodedRows& rows) const {
  return score_cells(rows, [&](const auto& x, const auto& c) { return log_density(x, c); })
      .log_prob;
}

}  // namespace jeffreys

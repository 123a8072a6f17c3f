#include "fit/table_baseline.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fit/gap_fills.h"
#include "fit/gap_scores.h"

namespace jeffreys {
namespace {

// Half a row is added to each class, so that none is impossible.
Vector<double> log_shares(const Vector<double>& codes, Eigen::Index classes,
                          const Vector<double>& weights) {
  Vector<double> counts = Vector<double>::Constant(classes, 0.5);
  for (Eigen::Index i = 0; i < codes.size(); ++i) {
    const auto place = static_cast<Eigen::Index>(codes(i));
    if (place < classes) counts(place) += weights.size() > 0 ? weights(i) / weights.mean() : 1;
  }
  return (counts / counts.sum()).array().log();
}

}  // namespace

EncodedRows spread_over_cells(const EncodedRows& rows, std::uint64_t seed, Eigen::Index places) {
  if (rows.cells.open() == 0) return rows;
  std::vector<std::size_t> repeated;
  for (Eigen::Index p = 0; p < places; ++p) {
    for (Eigen::Index r = 0; r < rows.size(); ++r) repeated.push_back(static_cast<std::size_t>(r));
  }
  EncodedRows result = rows.take(repeated);
  rows.cells.place(repeated, random_points(result.size(), rows.cells.open(), seed, 0), result.x);
  return result;
}

Eigen::Index places_of_many(const EncodedRows& rows) {
  constexpr Eigen::Index kPlacedRows = 4000;
  if (rows.cells.open() == 0 || rows.size() == 0) return 1;
  return std::clamp<Eigen::Index>(kPlacedRows / rows.size(), 1, kPlacesOfACell);
}

TableBaseline::TableBaseline(const RowShape& shape, const EncodedRows& rows, SimpleModel model,
                             std::uint64_t seed, const std::function<void()>& on_step)
    : shape_(shape), training_(with_gaps_filled(shape, rows, 0)) {
  const EncodedRows& training = training_;
  for (std::size_t c = 0; c < shape.categories.size(); ++c) {
    log_frequencies_.push_back(
        log_shares(training.x.col(shape.features + static_cast<Eigen::Index>(c)),
                   shape.categories[c], training.weights));
  }
  if (shape.features == 0) return;
  const EncodedRows spread = spread_over_cells(
      training, seed, model == SimpleModel::gaussian ? kPlacesOfACell : places_of_many(training));
  const Matrix<double> numbers = spread.x.leftCols(shape.features);
  const Matrix<double> conditions = given(spread.x, spread.context);
  if (model == SimpleModel::gaussian) {
    numbers_.emplace<GaussianBaseline>(numbers, conditions, spread.weights);
    return;
  }
  std::vector<std::size_t> same(static_cast<std::size_t>(spread.size()));
  for (std::size_t i = 0; i < same.size(); ++i) {
    same[i] = i % static_cast<std::size_t>(training.size());
  }
  numbers_.emplace<ResidualBaseline>(
      model == SimpleModel::mixture ? ResidualDensity::mixture : ResidualDensity::kernel, numbers,
      conditions, same, seed, on_step);
}

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
  return score_rows(
             rows, [&](const auto& x, const auto& c) { return log_density(x, c); },
             [&] { return GapMixture(shape_, training_.x, training_.context, {}, 0); })
      .log_prob;
}

}  // namespace jeffreys

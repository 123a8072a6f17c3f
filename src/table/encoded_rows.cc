#include "jeffreys/table/encoded_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/random/sobol.hpp>
#include <cmath>
#include <stdexcept>

#include "jeffreys/base/random_purpose.h"
#include "kernels/random.h"
#include "table/column_map.h"

namespace jeffreys {
namespace {

std::vector<double> chosen(const std::vector<double>& values, std::span<const std::size_t> rows) {
  std::vector<double> result;
  if (values.empty()) return result;
  result.reserve(rows.size());
  for (const std::size_t row : rows) result.push_back(values[row]);
  return result;
}

}  // namespace

void Cells::add(Eigen::Index feature, const ColumnInfo& info, std::vector<double> values,
                std::vector<double> zeros) {
  features_.push_back({feature, info, std::move(values), std::move(zeros)});
}

void Cells::place(std::span<const std::size_t> rows, const MatrixView<double>& places,
                  Eigen::Ref<Matrix<double>> x, Vector<double>* log_jacobian) const {
  if (places.cols() != open() || places.rows() != static_cast<Eigen::Index>(rows.size())) {
    throw std::invalid_argument(fmt::format("places: expected {} rows of {} numbers, got {} of {}",
                                            rows.size(), open(), places.rows(), places.cols()));
  }
  if (log_jacobian != nullptr) *log_jacobian = log_jacobian_(rows);
  for (std::size_t f = 0; f < features_.size(); ++f) {
    const Feature& feature = features_[f];
    const FeatureEncoder encode(feature.info);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto row = static_cast<Eigen::Index>(i);
      if (std::isnan(feature.values[rows[i]])) continue;
      const Origin origin{.zero = feature.zeros.empty() ? 0 : feature.zeros[rows[i]]};
      const FeatureEncoder::Encoded number =
          encode(feature.values[rows[i]], places(row, static_cast<Eigen::Index>(f)), origin);
      x(row, feature.place) = number.x;
      if (log_jacobian != nullptr) (*log_jacobian)(row) += number.log_slope;
    }
  }
}

Cells Cells::take(std::span<const std::size_t> rows) const {
  Cells part(log_jacobian_(rows));
  for (const Feature& feature : features_) {
    part.add(feature.place, feature.info, chosen(feature.values, rows),
             chosen(feature.zeros, rows));
  }
  return part;
}

EncodedRows EncodedRows::take(std::span<const std::size_t> rows) const {
  EncodedRows part{x(rows, Eigen::all), context(rows, Eigen::all), log_jacobian(rows),
                   cells.take(rows)};
  if (gaps.size() > 0) part.gaps = gaps(rows, Eigen::all);
  if (!part.gaps.any()) part.gaps.resize(0, 0);
  if (weights.size() > 0) part.weights = weights(rows);
  return part;
}

Matrix<double> random_points(Eigen::Index count, Eigen::Index dimensions, std::uint64_t seed,
                             std::uint64_t iteration) {
  Matrix<double> points(count, dimensions);
  kernels::fill_uniforms(kernels::RandomArguments<double>{
      .key = {.seed = seed, .purpose = kCellPlaces, .iteration = iteration},
      .first_row = 0,
      .rows = static_cast<std::size_t>(count),
      .columns = static_cast<std::size_t>(dimensions),
      .output = points.data()});
  return points;
}

// Sobol's points, each set with a shift of its own around the cube.
Matrix<double> even_points(Eigen::Index count, Eigen::Index dimensions, int turn) {
  Matrix<double> points(count, dimensions);
  if (points.size() == 0) return points;
  constexpr Eigen::Index kMostDimensions = 1000;
  if (dimensions > kMostDimensions) {
    return random_points(count, dimensions, 0, ~static_cast<std::uint64_t>(turn));
  }
  boost::random::sobol sequence(static_cast<std::size_t>(dimensions));
  const auto range = static_cast<double>(boost::random::sobol::max());
  std::vector<double> shift(static_cast<std::size_t>(dimensions));
  kernels::fill_uniforms(kernels::RandomArguments<double>{
      .key = {.seed = 0, .purpose = kCellPoints, .iteration = static_cast<std::uint64_t>(turn)},
      .first_row = 0,
      .rows = 1,
      .columns = shift.size(),
      .output = shift.data()});
  for (Eigen::Index i = 0; i < count; ++i) {
    for (Eigen::Index j = 0; j < dimensions; ++j) {
      const double place =
          static_cast<double>(sequence()) / range + shift[static_cast<std::size_t>(j)];
      points(i, j) = std::clamp(place - std::floor(place), 0x1p-40, 1 - 0x1p-40);
    }
  }
  return points;
}

}  // namespace jeffreys

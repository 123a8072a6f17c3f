#include "fit/closest_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace jeffreys {
namespace {

constexpr double kSame = 1e-6;        // of numbers that passed through a file
constexpr double kLowest = 0.05;      // share of the real rows that are called close
constexpr Eigen::Index kBlock = 256;  // rows whose distances are in memory at a time

// Numbers and conditions as they are; a category as so many columns that another label is at a
// distance of 1.
Matrix<double> points_of(const Schema& schema, const EncodedRows& rows) {
  const auto numbers = static_cast<Eigen::Index>(schema.continuous());
  Eigen::Index classes = 0;
  for (const std::size_t count : schema.categories())
    classes += static_cast<Eigen::Index>(count) + 1;
  Matrix<double> points =
      Matrix<double>::Zero(rows.size(), numbers + classes + rows.context.cols());
  points.leftCols(numbers) = rows.x.leftCols(numbers);
  Eigen::Index first = numbers;
  for (std::size_t c = 0; c < schema.categories().size(); ++c) {
    for (Eigen::Index r = 0; r < rows.size(); ++r) {
      const auto code =
          static_cast<Eigen::Index>(rows.x(r, numbers + static_cast<Eigen::Index>(c)));
      points(r, first + code) = std::sqrt(0.5);
    }
    first += static_cast<Eigen::Index>(schema.categories()[c]) + 1;
  }
  if (rows.context.cols() > 0) points.rightCols(rows.context.cols()) = rows.context;
  return points;
}

struct Nearest {
  std::vector<double> distance;
  std::vector<std::size_t> row;
};

// others: the same rows; each is then compared with all but itself.
Nearest nearest_of(const Matrix<double>& points, const Matrix<double>& others, bool same) {
  const Eigen::RowVectorXd norms = others.rowwise().squaredNorm().transpose();
  Nearest nearest;
  for (Eigen::Index from = 0; from < points.rows(); from += kBlock) {
    const auto rows = points.middleRows(from, std::min(kBlock, points.rows() - from));
    Matrix<double> squares = (-2 * rows * others.transpose()).rowwise() + norms;
    for (Eigen::Index i = 0; i < rows.rows(); ++i) {
      if (same) squares(i, from + i) = std::numeric_limits<double>::infinity();
      Eigen::Index place = 0;
      squares.row(i).minCoeff(&place);
      // The difference of large squares is not exact.
      nearest.distance.push_back((rows.row(i) - others.row(place)).norm());
      nearest.row.push_back(static_cast<std::size_t>(place));
    }
  }
  return nearest;
}

std::size_t count_below(const std::vector<double>& distances, double limit) {
  return static_cast<std::size_t>(
      std::count_if(distances.begin(), distances.end(), [&](double d) { return d < limit; }));
}

double log_choose(double n, double k) {
  return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
}

// Where chance decides which of the rows below the limit, copies not counted, are synthetic.
double chance_below(const ClosestRows& closest, double limit) {
  const std::size_t copies = closest.copies.size();
  const std::size_t synthetic = count_below(closest.synthetic, limit) - copies;
  const std::size_t real = count_below(closest.real, limit) - closest.real_copies;
  return hypergeometric_tail(synthetic, synthetic + real, closest.synthetic.size() - copies,
                             closest.real.size() - closest.real_copies);
}

}  // namespace

double hypergeometric_tail(std::size_t found, std::size_t drawn, std::size_t marked,
                           std::size_t others) {
  const auto m = static_cast<double>(marked);
  const auto o = static_cast<double>(others);
  const auto n = static_cast<double>(drawn);
  double sum = 0;
  for (std::size_t k = found; k <= std::min(drawn, marked); ++k) {
    if (drawn - k > others) continue;
    const auto x = static_cast<double>(k);
    sum += std::exp(log_choose(m, x) + log_choose(o, n - x) - log_choose(m + o, n));
  }
  return std::min(sum, 1.0);
}

ClosestRows closest_rows(const Schema& schema, const Schema::Encoded& real,
                         const Schema::Encoded& synthetic, const Schema::Encoded& training) {
  const Matrix<double> learned = points_of(schema, training);
  const Nearest of_synthetic = nearest_of(points_of(schema, synthetic), learned, false);
  const Nearest of_real = nearest_of(points_of(schema, real), learned, &real == &training);
  ClosestRows result{.synthetic = of_synthetic.distance, .real = of_real.distance};
  for (std::size_t i = 0; i < of_synthetic.row.size(); ++i) {
    if (of_synthetic.distance[i] < kSame) {
      result.copies.push_back({synthetic.rows[i], training.rows[of_synthetic.row[i]]});
    }
  }
  result.real_copies = count_below(result.real, kSame);
  // Rows that come twice are counted as such. Of the others, new ones say how close is usual.
  std::vector<double> sorted = result.real;
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(result.real_copies));
  if (sorted.empty()) return result;
  result.limit = sorted[static_cast<std::size_t>(kLowest * static_cast<double>(sorted.size()))];
  result.too_close = count_below(result.synthetic, result.limit) - result.copies.size();
  result.p_value = std::min(
      1.0, 2 * std::min(chance_below(result, result.limit), chance_below(result, sorted.front())));
  return result;
}

bool has_copies(const Schema& schema, const ClosestRows& closest) {
  if (closest.p_value < kUnlikely) return true;
  if (closest.copies.empty()) return false;
  // Numbers that are not rounded do not come twice.
  const bool fine =
      std::any_of(schema.columns().begin(), schema.columns().end(), [](const ColumnInfo& info) {
        return info.role == ColumnRole::feature && info.kind == ColumnKind::numeric &&
               info.resolution == 0 && info.atoms.empty();
      });
  const std::size_t all = closest.copies.size() + closest.real_copies;
  return fine || hypergeometric_tail(closest.copies.size(), all, closest.synthetic.size(),
                                     closest.real.size()) < kUnlikely;
}

}  // namespace jeffreys

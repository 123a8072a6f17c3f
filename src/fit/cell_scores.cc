#include "fit/cell_scores.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

namespace jeffreys {
namespace {

// Sets of points, by whose differences the error is known.
constexpr int kTurns = 4;
constexpr Eigen::Index kPoints = 64;  // of a set
// Where few features are open more points help, and are cheap enough.
constexpr Eigen::Index kFewOpen = 3;
constexpr Eigen::Index kMostPoints = 1024;
constexpr double kEnough = 0.01;  // nats
// Points that are evaluated at once: bounds the memory.
constexpr Eigen::Index kPointsAtOnce = 1 << 16;

// The context of chosen rows, each as often as it has points. One row may serve all.
Matrix<double> repeated_context(const Matrix<double>& context,
                                const std::vector<std::size_t>& repeated) {
  if (context.rows() <= 1 || context.cols() == 0) return context;
  return context(repeated, Eigen::all);
}

class CellScores {
 public:
  CellScores(const EncodedRows& rows, const RowLogDensity& log_density)
      : rows_(rows),
        log_density_(log_density),
        scores_{Vector<double>(rows.size()), Vector<double>::Zero(rows.size())} {}

  RowScores compute() {
    std::vector<std::size_t> open(static_cast<std::size_t>(rows_.size()));
    std::iota(open.begin(), open.end(), std::size_t{0});
    const Eigen::Index most = rows_.cells.open() <= kFewOpen ? kMostPoints : kPoints;
    for (Eigen::Index points = kPoints; points <= most && !open.empty(); points *= 4) {
      score(open, points);
      std::erase_if(open, [&](std::size_t row) {
        return !(scores_.error(static_cast<Eigen::Index>(row)) > kEnough);
      });
    }
    return std::move(scores_);
  }

 private:
  void score(const std::vector<std::size_t>& rows, Eigen::Index points) {
    const auto at_once = static_cast<std::size_t>(kPointsAtOnce / points);
    std::array<Matrix<double>, kTurns> sets;
    for (int turn = 0; turn < kTurns; ++turn) {
      sets[static_cast<std::size_t>(turn)] = even_points(points, rows_.cells.open(), turn);
    }
    for (std::size_t first = 0; first < rows.size(); first += at_once) {
      const std::size_t count = std::min(at_once, rows.size() - first);
      const std::span<const std::size_t> part(rows.data() + first, count);
      Matrix<double> means(static_cast<Eigen::Index>(count), kTurns);  // logarithms
      for (int turn = 0; turn < kTurns; ++turn) {
        means.col(turn) = log_means(part, sets[static_cast<std::size_t>(turn)]);
      }
      for (std::size_t i = 0; i < count; ++i) {
        finish(means.row(static_cast<Eigen::Index>(i)), static_cast<Eigen::Index>(part[i]));
      }
    }
  }

  // The logarithm of each row's mean density over the points.
  [[nodiscard]] Vector<double> log_means(std::span<const std::size_t> rows,
                                         const Matrix<double>& points) const {
    const Eigen::Index each = points.rows();
    std::vector<std::size_t> repeated;
    repeated.reserve(rows.size() * static_cast<std::size_t>(each));
    for (const std::size_t row : rows) {
      repeated.insert(repeated.end(), static_cast<std::size_t>(each), row);
    }
    Matrix<double> x = rows_.x(repeated, Eigen::all);
    Vector<double> log_jacobian;
    rows_.cells.place(repeated, points.replicate(static_cast<Eigen::Index>(rows.size()), 1), x,
                      &log_jacobian);
    const Vector<double> values =
        log_density_(x, repeated_context(rows_.context, repeated)) + log_jacobian;
    Vector<double> result(static_cast<Eigen::Index>(rows.size()));
    for (Eigen::Index i = 0; i < result.size(); ++i) {
      const auto own = values.segment(i * each, each).array();
      const double most = own.maxCoeff();
      result(i) = std::isfinite(most) ? most + std::log((own - most).exp().mean()) : most;
    }
    return result;
  }

  void finish(const Eigen::RowVectorXd& log_means, Eigen::Index row) {
    const double most = log_means.maxCoeff();
    scores_.log_prob(row) = most;
    if (!std::isfinite(most)) return;
    const Eigen::ArrayXd means = (log_means.array() - most).exp();
    const double mean = means.mean();
    scores_.log_prob(row) = most + std::log(mean);
    const double variance = (means - mean).square().sum() / (kTurns - 1);
    scores_.error(row) = std::sqrt(variance / kTurns) / mean;
  }

  const EncodedRows& rows_;
  const RowLogDensity& log_density_;
  RowScores scores_;
};

}  // namespace

RowScores score_cells(const EncodedRows& rows, const RowLogDensity& log_density) {
  if (rows.cells.open() > 0) return CellScores(rows, log_density).compute();
  return {log_density(rows.x, rows.context) + rows.log_jacobian, Vector<double>::Zero(rows.size())};
}

}  // namespace jeffreys

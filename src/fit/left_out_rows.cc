#include "fit/left_out_rows.h"

#include <algorithm>
#include <cmath>

#include "fit/gap_scores.h"
#include "jeffreys/evaluate/stacking.h"

namespace jeffreys {
namespace {

// Values in the gaps of a row; fewer where there are so many rows that their errors average out.
constexpr Eigen::Index kMostPoints = 256;
constexpr Eigen::Index kFewestPoints = 32;
constexpr Eigen::Index kPointsInAll = 1 << 18;

double log_mean(const Eigen::ArrayXd& values) {
  const double most = values.maxCoeff();
  return std::isfinite(most) ? most + std::log((values - most).exp().mean()) : most;
}

}  // namespace

LeftOutRows::LeftOutRows(const PreparedTable& table, const MemberParts& parts, int kinds,
                         std::uint64_t seed, std::size_t threads)
    : schema_(table.schema), rows_(table.training), parts_(parts), kinds_(kinds) {
  if (threads > 1) pool_ = std::make_shared<ThreadPool>(threads);
  if (rows_.gaps.size() == 0) return;
  std::vector<std::size_t> open;
  place_.assign(static_cast<std::size_t>(rows_.size()), -1);
  for (Eigen::Index row = 0; row < rows_.size(); ++row) {
    if (!rows_.has_gaps(row)) continue;
    place_[static_cast<std::size_t>(row)] = open_rows_++;
    open.push_back(static_cast<std::size_t>(row));
  }
  const Eigen::Index points = std::clamp(kPointsInAll / open_rows_, kFewestPoints, kMostPoints);
  points_ = GapFills(row_shape(schema_), rows_, seed).held_out(rows_.take(open), points);
}

Vector<double> LeftOutRows::score(const AnyDensity<float>& density,
                                  const std::vector<std::size_t>& rows) const {
  TabularDensity<float> whole(schema_, density);
  if (pool_) whole.use_threads(pool_);
  std::vector<std::size_t> complete;  // places among `rows`
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    (rows_.has_gaps(static_cast<Eigen::Index>(rows[i])) ? open : complete).push_back(i);
  }
  const auto chosen = [&](const std::vector<std::size_t>& places) {
    std::vector<std::size_t> own;
    for (const std::size_t place : places) own.push_back(rows[place]);
    return own;
  };
  Vector<double> result(std::ssize(rows));
  if (!complete.empty()) {
    result(complete) = whole.score(rows_.take(chosen(complete)), From::main).log_prob;
  }
  if (!open.empty()) result(open) = score_open(whole, chosen(open));
  return result;
}

Vector<double> LeftOutRows::score_open(const TabularDensity<float>& density,
                                       const std::vector<std::size_t>& rows) const {
  const Eigen::Index points = points_.rows.size() / open_rows_;
  std::vector<Eigen::Index> all;  // those of a row follow each other
  for (const std::size_t row : rows) {
    for (Eigen::Index p = 0; p < points; ++p) all.push_back(place_[row] + p * open_rows_);
  }
  const Matrix<double> context = points_.rows.context.cols() > 0
                                     ? Matrix<double>(points_.rows.context(all, Eigen::all))
                                     : Matrix<double>(1, 0);
  Vector<double> values =
      density.log_prob(Matrix<double>(points_.rows.x(all, Eigen::all)), context, From::main) +
      points_.log_weights(all);
  // A point so far out that its density is not a number counts as nothing.
  for (double& value : values) value = std::isnan(value) ? -INFINITY : value;
  Vector<double> result(std::ssize(rows));
  for (Eigen::Index i = 0; i < result.size(); ++i) {
    result(i) = log_mean(values.segment(i * points, points).array()) +
                rows_.log_jacobian(static_cast<Eigen::Index>(rows[static_cast<std::size_t>(i)]));
  }
  return result;
}

Matrix<double> LeftOutRows::scores_of(const std::vector<AnyDensity<float>>& by_member) const {
  Matrix<double> result(rows_.size(), parts_.left_out_by());
  for (int m = 0; m < parts_.members(); ++m) {
    const std::vector<std::size_t> rows = parts_.split(m).validation;
    const Vector<double> scores = score(by_member[static_cast<std::size_t>(m)], rows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto part = static_cast<int>(parts_.part()[rows[i]]);
      const int place = (part + parts_.members() - m) % parts_.members();
      result(static_cast<Eigen::Index>(rows[i]), place) = scores(static_cast<Eigen::Index>(i));
    }
  }
  return result;
}

template <typename Counts>
double LeftOutRows::mean_where(const Vector<double>& values, const Counts& counts) const {
  double sum = 0;
  double weight = 0;
  for (Eigen::Index i = 0; i < values.size(); ++i) {
    if (!counts(static_cast<int>(parts_.part()[static_cast<std::size_t>(i)]))) continue;
    const double own = rows_.weights.size() > 0 ? rows_.weights(i) : 1;
    sum += own * values(i);
    weight += own;
  }
  return weight > 0 ? sum / weight : 0;
}

double LeftOutRows::optimism_of(const Matrix<double>& scores) const {
  if (scores.cols() < 2) return 0;
  const Vector<double> gain = scores.col(0) - scores.rightCols(scores.cols() - 1).rowwise().mean();
  if (!gain.allFinite()) return 0;
  // Of two kinds that take turns, each row has stopped one and not the other: in the mean over both
  // the difference between the kinds cancels.
  double mean = 0;
  for (int kind = 0; kind < kinds_; ++kind) {
    mean += mean_where(gain, [&](int part) { return kind_of(part) == kind; }) / kinds_;
  }
  return std::max(mean, 0.0);
}

Vector<double> LeftOutRows::mixed_fairly(Matrix<double> scores, double optimism,
                                         std::optional<int> kind) const {
  scores.col(0).array() -= optimism;
  Vector<double> result(scores.rows());
  for (Eigen::Index i = 0; i < scores.rows(); ++i) {
    std::vector<double> own;
    const auto part = static_cast<int>(parts_.part()[static_cast<std::size_t>(i)]);
    const std::vector<int> members = parts_.leaving_out(part);
    for (std::size_t k = 0; k < members.size(); ++k) {
      if (!kind || kind_of(members[k]) == *kind) {
        own.push_back(scores(i, static_cast<Eigen::Index>(k)));
      }
    }
    const std::vector<double> even(own.size(), 1.0 / static_cast<double>(own.size()));
    result(i) =
        mixed_log_prob(Eigen::Map<const Matrix<double>>(own.data(), 1, std::ssize(own)), even)(0);
  }
  return result;
}

}  // namespace jeffreys

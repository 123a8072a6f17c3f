#include "fit/gap_scores.h"

#include <cmath>
#include <numeric>
#include <utility>

#include "base/normal_tail.h"
#include "jeffreys/base/random_purpose.h"
#include "kernels/random.h"

namespace jeffreys {
namespace {

constexpr Eigen::Index kFirstGapPoints = 256;
constexpr Eigen::Index kMostGapPoints = 4096;
constexpr double kEnoughPrecision = 0.05;  // nats
constexpr Eigen::Index kMixtureSamples = 4096;
// Dozens of deviations from all rows; further out differences are lost in rounding.
constexpr double kLeastLogWeight = -1000;

double normal_quantile(double p) {
  return p < 0.5 ? -upper_tail_quantile(std::log(p)) : upper_tail_quantile(std::log1p(-p));
}

Matrix<double> uniform_points(Eigen::Index rows, Eigen::Index columns, const RandomStream& stream,
                              std::uint16_t purpose) {
  Matrix<double> numbers(rows, columns);
  kernels::fill_uniforms(kernels::RandomArguments<double>{{stream.seed, purpose, stream.iteration},
                                                          0,
                                                          static_cast<std::size_t>(rows),
                                                          static_cast<std::size_t>(columns),
                                                          numbers.data()});
  return numbers;
}

// A choice, classes, numbers, then places in cells.
struct PointSet {
  GapNoise noise;
  Matrix<double> places;
};

PointSet make_points(const GapConditional& conditional, Eigen::Index open, Eigen::Index points,
                     const std::optional<RandomStream>& stream) {
  const Eigen::Index classes = conditional.classes();
  const Eigen::Index numbers = conditional.numbers();
  const Eigen::Index dimensions = 1 + classes + numbers + open;
  const Matrix<double> cube = stream ? uniform_points(points, dimensions, *stream, stream->purpose)
                                     : even_points(points, dimensions, 0);
  return {{cube.col(0), cube.middleCols(1 + classes, numbers).unaryExpr(&normal_quantile),
           cube.middleCols(1, classes)},
          cube.rightCols(open)};
}

Matrix<double> context_of_row(const EncodedRows& rows, Eigen::Index row) {
  if (rows.context.cols() == 0) return Matrix<double>(1, 0);
  return rows.context.row(rows.context.rows() == 1 ? 0 : row);
}

}  // namespace

double Completions::log_mean() const {
  const double most = log_weights.maxCoeff();
  return std::isfinite(most) ? most + std::log((log_weights.array() - most).exp().mean()) : most;
}

double Completions::effective_samples() const {
  const double most = log_weights.maxCoeff();
  if (!(most > kLeastLogWeight)) return 0;
  const Eigen::ArrayXd weights = (log_weights.array() - most).exp();
  return weights.sum() * weights.sum() / weights.square().sum();
}

double Completions::error() const {
  const double effective = effective_samples();
  return std::sqrt(std::max(1 / effective - 1 / static_cast<double>(log_weights.size()), 0.0));
}

GapSampler::GapSampler(GapMixture mixture, const RowLogDensity& log_density)
    : mixture_(std::move(mixture)), log_density_(log_density) {}

Completions GapSampler::complete(const EncodedRows& rows, Eigen::Index row, Eigen::Index points,
                                 std::optional<RandomStream> stream) const {
  const Eigen::Array<bool, 1, -1> gaps =
      rows.gaps.size() > 0 ? Eigen::Array<bool, 1, -1>(rows.gaps.row(row))
                           : Eigen::Array<bool, 1, -1>::Constant(rows.x.cols(), false);
  const GapConditional conditional(mixture_, gaps);
  const Eigen::Index open = rows.cells.open();
  const PointSet set = make_points(conditional, open, points, stream);
  Completions result{rows.x.row(row).replicate(points, 1), {}};
  Vector<double> log_jacobian = Vector<double>::Constant(points, rows.log_jacobian(row));
  if (open > 0) {
    const std::vector<std::size_t> own(static_cast<std::size_t>(points),
                                       static_cast<std::size_t>(row));
    rows.cells.place(own, set.places, result.x, &log_jacobian);
  }
  const Matrix<double> context = context_of_row(rows, row);
  const Vector<double> log_proposal = conditional.draw(set.noise, context, open == 0, result.x);
  result.log_weights = log_density_(result.x, context) + log_jacobian - log_proposal;
  // A proposal so far out that its density is not a number counts as nothing.
  result.log_weights = result.log_weights.unaryExpr(
      [](double value) { return std::isnan(value) ? -INFINITY : value; });
  return result;
}

RowScores GapSampler::score(const EncodedRows& rows) const {
  RowScores scores{Vector<double>(rows.size()), Vector<double>(rows.size())};
  for (Eigen::Index row = 0; row < rows.size(); ++row) {
    for (Eigen::Index points = kFirstGapPoints; points <= kMostGapPoints; points *= 4) {
      const Completions completions = complete(rows, row, points);
      scores.log_prob(row) = completions.log_mean();
      scores.error(row) = completions.error();
      if (!(scores.error(row) > kEnoughPrecision)) break;
    }
  }
  return scores;
}

RowScores score_rows(const EncodedRows& rows, const RowLogDensity& log_density,
                     const std::function<GapMixture()>& mixture) {
  if (rows.gaps.size() == 0) return score_cells(rows, log_density);
  std::vector<std::size_t> whole;
  std::vector<std::size_t> with_gaps;
  for (Eigen::Index row = 0; row < rows.size(); ++row) {
    (rows.has_gaps(row) ? with_gaps : whole).push_back(static_cast<std::size_t>(row));
  }
  RowScores scores{Vector<double>(rows.size()), Vector<double>(rows.size())};
  const auto put = [&](const std::vector<std::size_t>& places, const RowScores& part) {
    scores.log_prob(places) = part.log_prob;
    scores.error(places) = part.error;
  };
  if (!whole.empty()) put(whole, score_cells(rows.take(whole), log_density));
  if (!with_gaps.empty()) {
    put(with_gaps, GapSampler(mixture(), log_density).score(rows.take(with_gaps)));
  }
  return scores;
}

template <typename T>
GapMixture mixture_of_samples(const Density<T>& model, const RowShape& shape,
                              const Matrix<double>& context) {
  Matrix<double> given(kMixtureSamples, context.cols());
  for (Eigen::Index i = 0; i < given.rows() && context.cols() > 0; ++i) {
    given.row(i) = context.row(i % context.rows());
  }
  const Matrix<T> c = context.cols() > 0 ? Matrix<T>(given.cast<T>()) : Matrix<T>();
  const Samples<T> samples = model.sample(kMixtureSamples, c, {0, kGapMixtureSamples, 0});
  return {shape, samples.x.template cast<double>(), given, {}, 0};
}

template GapMixture mixture_of_samples(const Density<float>&, const RowShape&,
                                       const Matrix<double>&);
template GapMixture mixture_of_samples(const Density<double>&, const RowShape&,
                                       const Matrix<double>&);

std::vector<std::size_t> complete_rows(const EncodedRows& rows) {
  std::vector<std::size_t> whole;
  for (Eigen::Index row = 0; row < rows.size(); ++row) {
    if (!rows.has_gaps(row)) whole.push_back(static_cast<std::size_t>(row));
  }
  return whole;
}

}  // namespace jeffreys

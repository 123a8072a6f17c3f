#include "fit/given_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "kernels/random.h"

namespace jeffreys {
namespace {

constexpr Eigen::Index kMostCompletions = 1 << 18;

template <typename T>
const TabularDensity<T>& without_prior(const TabularDensity<T>& density) {
  if (!density.schema().folds()) return density;
  throw std::invalid_argument(
      "this is a posterior, whose parameters have a prior: give its outcomes, as `sbi sample` "
      "does");
}

}  // namespace

void require_few_open(const EncodedRows& rows) {
  constexpr Eigen::Index kMostOpen = 200;
  for (Eigen::Index row = 0; row < rows.gaps.rows(); ++row) {
    const Eigen::Index open = rows.gaps.row(row).count();
    if (open <= kMostOpen) continue;
    throw std::invalid_argument(
        fmt::format("{} columns are not given, and at most {} can be drawn given others: give more "
                    "of them, or fit a model with --condition",
                    open, kMostOpen));
  }
}

template <typename T>
GivenRows<T>::GivenRows(const TabularDensity<T>& density, const EncodedRows& rows, From from)
    : rows_((require_few_open(rows), rows)),
      samples_from_(from == From::main           ? &density.main()
                    : density.proxy() != nullptr ? density.proxy()->as_density()
                                                 : nullptr),
      log_density_([&density = without_prior(density), from](const auto& x, const auto& c) {
        return density.log_unnormalized(x, c, from);
      }),
      sampler_(mixture_of_samples<T>(density.main(), row_shape(density.schema()), rows.context),
               log_density_) {}

template <typename T>
std::optional<Completions> GivenRows<T>::complete(Eigen::Index row, double effective_samples,
                                                  Eigen::Index first_points,
                                                  const RandomStream& stream) const {
  if (rows_.says_nothing(row) && samples_from_ != nullptr) {
    return samples(row, first_points, stream);
  }
  for (Eigen::Index points = first_points; points <= kMostCompletions; points *= 4) {
    Completions found = sampler_.complete(rows_, row, points, stream);
    const double effective = found.effective_samples();
    if (effective >= effective_samples) return found;
    // A few that carry everything will not become many.
    constexpr double kHopeless = 3;
    if (points > first_points && effective < kHopeless) break;
  }
  return std::nullopt;
}

template <typename T>
Completions GivenRows<T>::samples(Eigen::Index row, Eigen::Index points,
                                  const RandomStream& stream) const {
  Matrix<T> context(rows_.context.cols() > 0 ? points : 0, rows_.context.cols());
  if (context.rows() > 0) context.rowwise() = rows_.context.row(row).template cast<T>();
  const Samples<T> samples = samples_from_->sample(points, context, stream);
  return {samples.x.template cast<double>(), Vector<double>::Zero(points)};
}

template <typename T>
Matrix<double> GivenRows<T>::draw(const Completions& completions, Eigen::Index count,
                                  const RandomStream& stream) {
  const Eigen::ArrayXd weights =
      (completions.log_weights.array() - completions.log_weights.maxCoeff()).exp();
  double start = 0;
  kernels::fill_uniforms(kernels::RandomArguments<double>{
      {stream.seed, stream.purpose, stream.iteration}, 0, 1, 1, &start});
  // Even steps through the weights, one after the other.
  const double step = weights.sum() / static_cast<double>(count);
  Matrix<double> x(count, completions.x.cols());
  Eigen::Index place = 0;
  double passed = weights(0);
  for (Eigen::Index i = 0; i < count; ++i) {
    const double wanted = (static_cast<double>(i) + start) * step;
    while (passed <= wanted && place + 1 < weights.size()) passed += weights(++place);
    x.row(i) = completions.x.row(place);
  }
  return x;
}

template class GivenRows<float>;
template class GivenRows<double>;

}  // namespace jeffreys

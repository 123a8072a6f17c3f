#include "train/warm_start.h"

#include <cmath>

#include "base/stopwatch.h"
#include "jeffreys/base/random_purpose.h"

namespace jeffreys {

template <typename T>
double warm_start(const Density<T>& main, UnnormalizedDensity<T>& proxy, ModelUpdate<T>& update,
                  const MatrixView<T>& context, Eigen::Index rows, const TrainOptions& options) {
  double loss = 0;
  Samples<T> samples;
  const Stopwatch watch;
  for (std::int64_t i = 1; i <= options.warm_start; ++i) {
    if (options.time_limit > 0 && watch.read() >= options.time_limit) break;
    const Eigen::Index first =
        context.cols() > 0 ? (i - 1) * rows % (context.rows() - rows + 1) : 0;
    const Matrix<T> c = context.cols() > 0 ? context.middleRows(first, rows).eval() : Matrix<T>();
    main.sample(rows, c, {options.seed, kWarmStart, static_cast<std::uint64_t>(i)}, samples);
    proxy.advance_state();
    const auto weights = [&](Eigen::Index row, std::span<const T> f, std::span<T> out) {
      for (std::size_t k = 0; k < out.size(); ++k) {
        const T log_p = samples.log_prob(row + static_cast<Eigen::Index>(k));
        out[k] = 2 * (f[k] - log_p) / static_cast<T>(rows);
      }
    };
    const Vector<T> f =
        proxy.add_scores(samples.x, c, WeightFunction<T>(weights), update.clear_gradient());
    loss = (f - samples.log_prob).template cast<double>().squaredNorm() / static_cast<double>(rows);
    const double norm = update.gradient_norm();
    if (std::isfinite(norm)) update.apply(options.learning_rate.proxy, norm);
  }
  return loss;
}

template double warm_start(const Density<float>&, UnnormalizedDensity<float>&, ModelUpdate<float>&,
                           const MatrixView<float>&, Eigen::Index, const TrainOptions&);
template double warm_start(const Density<double>&, UnnormalizedDensity<double>&,
                           ModelUpdate<double>&, const MatrixView<double>&, Eigen::Index,
                           const TrainOptions&);

}  // namespace jeffreys

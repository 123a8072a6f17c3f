#include "jeffreys/model/independence_metropolis.h"

#include <cmath>
#include <stdexcept>
#include <vector>

#include "jeffreys/base/random_purpose.h"
#include "kernels/random.h"
#include "model/wide_noise.h"

namespace jeffreys {
namespace {

// The first proposal of a chain is never a wide one.
constexpr int kWideEvery = 4;

}  // namespace

template <typename T>
MetropolisResult<T> independence_metropolis(const UnnormalizedDensity<T>& target,
                                            const Density<T>& proposal, Eigen::Index rows,
                                            const MatrixView<T>& context, int proposals,
                                            const RandomStream& stream) {
  if (proposals < 1 || proposals >= 1 << 28) {
    throw std::invalid_argument("proposals: expected 1 to 2^28 - 1");
  }
  MetropolisResult<T> result;
  const WideNoise wide(proposal.noise_features());
  Vector<double> log_weight;   // of each chain's state
  Vector<double> wide_weight;  // the same for proposals from wide noise
  Samples<T> drawn;
  Matrix<T> noise(rows, proposal.noise_features());
  std::vector<double> uniforms(static_cast<std::size_t>(rows));
  std::int64_t accepted = 0;
  for (int step = 0; step <= proposals; ++step) {
    // 2^28 proposals in the lower bits, the stream's own iteration above them.
    const RandomStream own{stream.seed, stream.purpose,
                           (stream.iteration << 28) | static_cast<std::uint64_t>(step)};
    const bool from_wide = step % kWideEvery == kWideEvery - 1;
    kernels::fill_normals(kernels::RandomArguments<T>{{own.seed, own.purpose, own.iteration},
                                                      0,
                                                      static_cast<std::size_t>(rows),
                                                      static_cast<std::size_t>(noise.cols()),
                                                      noise.data()});
    if (from_wide) noise *= static_cast<T>(wide.scale);
    proposal.sample_from_noise(noise, context, drawn);
    const Vector<T> f = target.log_unnormalized(drawn.x, context);
    const Vector<double> proposed = (f - drawn.log_prob).template cast<double>();
    const Vector<double> wide_proposed =
        proposed - noise.template cast<double>().rowwise().squaredNorm().unaryExpr(
                       [&](double square) { return wide.log_ratio(square); });
    if (step == 0) {
      result.x = drawn.x;
      result.log_unnormalized = f;
      log_weight = proposed;
      wide_weight = wide_proposed;
      continue;
    }
    kernels::fill_uniforms(kernels::RandomArguments<double>{
        {own.seed, kMetropolis, own.iteration}, 0, uniforms.size(), 1, uniforms.data()});
    for (Eigen::Index i = 0; i < rows; ++i) {
      const double log_ratio =
          from_wide ? wide_proposed(i) - wide_weight(i) : proposed(i) - log_weight(i);
      // A state that is not finite (the first one may be) is left at once.
      const bool move = std::log(uniforms[static_cast<std::size_t>(i)]) < log_ratio ||
                        (std::isnan(log_weight(i)) && std::isfinite(proposed(i)));
      if (!move) continue;
      if (!from_wide) ++accepted;
      result.x.row(i) = drawn.x.row(i);
      result.log_unnormalized(i) = f(i);
      log_weight(i) = proposed(i);
      wide_weight(i) = wide_proposed(i);
    }
  }
  if (rows > 0) {
    const int plain = proposals - (proposals + 1) / kWideEvery;
    result.acceptance_rate = static_cast<double>(accepted) / static_cast<double>(rows) / plain;
  }
  return result;
}

template MetropolisResult<float> independence_metropolis(const UnnormalizedDensity<float>&,
                                                         const Density<float>&, Eigen::Index,
                                                         const MatrixView<float>&, int,
                                                         const RandomStream&);
template MetropolisResult<double> independence_metropolis(const UnnormalizedDensity<double>&,
                                                          const Density<double>&, Eigen::Index,
                                                          const MatrixView<double>&, int,
                                                          const RandomStream&);

}  // namespace jeffreys

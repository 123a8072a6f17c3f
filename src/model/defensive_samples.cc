#include "jeffreys/model/defensive_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "kernels/random.h"
#include "model/wide_noise.h"

namespace jeffreys {

template <typename T>
DefensiveSamples<T> defensive_samples(const Density<T>& density, Eigen::Index each,
                                      const MatrixView<T>& context, const RandomStream& stream) {
  if (each < 2 || each % 2 != 0) {
    throw std::invalid_argument(
        fmt::format("each: expected an even number from 2 on, got {}", each));
  }
  const Eigen::Index features = density.noise_features();
  const Eigen::Index conditions = density.context_features() > 0 ? context.rows() : 1;
  const WideNoise wide(features);
  // The same noise for every condition: what is estimated for one then does not depend on where it
  // stands among others.
  Matrix<T> own(each, features);
  kernels::fill_normals(kernels::RandomArguments<T>{{stream.seed, stream.purpose, stream.iteration},
                                                    0,
                                                    static_cast<std::size_t>(each),
                                                    static_cast<std::size_t>(features),
                                                    own.data()});
  own.bottomRows(each / 2) *= static_cast<T>(wide.scale);
  Matrix<T> noise(each * conditions, features);
  for (Eigen::Index m = 0; m < each; ++m) {
    noise.middleRows(m * conditions, conditions).rowwise() = own.row(m);
  }
  const Vector<double> squares = noise.template cast<double>().rowwise().squaredNorm();
  Samples<T> samples = density.sample_from_noise(noise, context);
  DefensiveSamples<T> result{std::move(samples.x), samples.log_prob.template cast<double>(), {}};
  result.log_mixture = result.log_prob + squares.unaryExpr([&](double square) {
    const double r = wide.log_ratio(square);
    return std::max(r, 0.0) + std::log1p(std::exp(-std::abs(r))) - std::log(2.0);
  });
  return result;
}

template DefensiveSamples<float> defensive_samples(const Density<float>&, Eigen::Index,
                                                   const MatrixView<float>&, const RandomStream&);
template DefensiveSamples<double> defensive_samples(const Density<double>&, Eigen::Index,
                                                    const MatrixView<double>&, const RandomStream&);

}  // namespace jeffreys

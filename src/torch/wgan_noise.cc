#include "torch/wgan_noise.h"

#include <algorithm>

#include "jeffreys/base/random_purpose.h"
#include "kernels/random.h"

namespace jeffreys {
namespace {

using kernels::RandomArguments;
using kernels::RandomKey;

std::size_t size_of(Eigen::Index value) { return static_cast<std::size_t>(value); }

template <typename T>
Matrix<T> normals(const RandomKey& key, Eigen::Index rows, Eigen::Index columns) {
  Matrix<T> result(rows, columns);
  kernels::fill_normals(RandomArguments<T>{key, 0, size_of(rows), size_of(columns), result.data()});
  return result;
}

template <typename T>
Vector<T> uniforms(const RandomKey& key, Eigen::Index rows) {
  Vector<T> result(rows);
  kernels::fill_uniforms(RandomArguments<T>{key, 0, size_of(rows), 1, result.data()});
  return result;
}

std::vector<Eigen::Index> batch_rows(const RandomKey& key, Eigen::Index batch,
                                     Eigen::Index data_rows) {
  std::vector<Eigen::Index> rows;
  for (const double u : uniforms<double>(key, batch)) {
    const auto row = static_cast<Eigen::Index>(u * static_cast<double>(data_rows));
    rows.push_back(std::min(row, data_rows - 1));
  }
  return rows;
}

}  // namespace

template <typename T>
WganNoise<T> draw_wgan_noise(const WganOptions& options, Eigen::Index data_rows,
                             Eigen::Index features, std::int64_t iteration) {
  const Eigen::Index batch = options.batch_size > 0 ? options.batch_size : data_rows;
  WganNoise<T> noise;
  for (int k = 0; k < options.critic_steps; ++k) {
    const auto step = static_cast<std::uint64_t>(iteration * options.critic_steps + k);
    CriticNoise<T> critic{
        .rows = {},
        .normals = normals<T>({options.seed, kCriticNoise, step}, batch, features),
        .mixing = uniforms<T>({options.seed, kMixing, step}, batch)};
    if (options.batch_size > 0) {
      critic.rows = batch_rows({options.seed, kCriticRows, step}, batch, data_rows);
    }
    noise.critic.push_back(std::move(critic));
  }
  noise.generator = normals<T>(
      {options.seed, kGeneratorNoise, static_cast<std::uint64_t>(iteration)}, batch, features);
  return noise;
}

template WganNoise<float> draw_wgan_noise(const WganOptions&, Eigen::Index, Eigen::Index,
                                          std::int64_t);
template WganNoise<double> draw_wgan_noise(const WganOptions&, Eigen::Index, Eigen::Index,
                                           std::int64_t);

}  // namespace jeffreys

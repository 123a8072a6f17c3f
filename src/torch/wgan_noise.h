// The random numbers of one WGAN iteration: drawn, or given by a test.
#pragma once

#include <cstdint>
#include <vector>

#include "jeffreys/base/matrix.h"
#include "jeffreys/torch/wgan.h"

namespace jeffreys {

template <typename T>
struct CriticNoise {
  std::vector<Eigen::Index> rows;  // of the data; empty: all
  Matrix<T> normals;               // [batch, features]: base noise of the samples
  Vector<T> mixing;                // [batch]: u in mid = u x + (1 - u) y
};

template <typename T>
struct WganNoise {
  std::vector<CriticNoise<T>> critic;  // [critic_steps]
  Matrix<T> generator;                 // [batch, features]
};

// iteration counts from 0.
template <typename T>
WganNoise<T> draw_wgan_noise(const WganOptions& options, Eigen::Index data_rows,
                             Eigen::Index features, std::int64_t iteration);

}  // namespace jeffreys

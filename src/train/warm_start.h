// Brings f close to log p before training begins ("Training in high dimensions").
#pragma once

#include <cstdint>

#include "jeffreys/model/density.h"
#include "jeffreys/train/model_update.h"
#include "jeffreys/train/options.h"

namespace jeffreys {

// `iterations` steps that minimise the mean squared difference of f / T and log p on fresh samples
// of the main model, or as many as the time limit allows. Contexts of the samples are rows of
// `context` in turn. Returns the last step's mean squared difference.
template <typename T>
double warm_start(const Density<T>& main, UnnormalizedDensity<T>& proxy, ModelUpdate<T>& update,
                  const MatrixView<T>& context, Eigen::Index rows, const TrainOptions& options);

}  // namespace jeffreys

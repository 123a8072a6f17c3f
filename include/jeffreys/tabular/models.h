// The models that settings ask for.
#pragma once

#include "jeffreys/model/model_file.h"
#include "jeffreys/tabular/fit_options.h"

namespace jeffreys {

[[nodiscard]] SplineFlow<float> make_main_model(const FitOptions& options, Eigen::Index features,
                                                Eigen::Index context_features);

// Its weights are drawn with another seed than the main model's: two equal flows would stay equal
// for a while.
[[nodiscard]] AnyModel<float> make_proxy_model(const FitOptions& options, Eigen::Index features,
                                               Eigen::Index context_features);

}  // namespace jeffreys

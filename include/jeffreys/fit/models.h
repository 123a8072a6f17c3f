// The models that settings ask for, by name.
#pragma once

#include <string>
#include <vector>

#include "jeffreys/fit/fit_options.h"
#include "jeffreys/model/any_model.h"

namespace jeffreys {

struct ModelChoiceInfo {
  std::string name;
  std::string description;
};
[[nodiscard]] std::vector<ModelChoiceInfo> model_choices();

// Throws std::invalid_argument where the main model would be one that cannot be sampled.
[[nodiscard]] AnyDensity<float> make_main_model(const FitOptions& options, Eigen::Index features,
                                                Eigen::Index context_features);

// The proxy's weights are drawn with another seed than the main model's, because two equal flows
// would stay nearly equal for a while.
[[nodiscard]] AnyModel<float> make_proxy_model(const FitOptions& options, Eigen::Index features,
                                               Eigen::Index context_features);

}  // namespace jeffreys

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

// What a row consists of.
struct RowShape {
  Eigen::Index features = 0;  // continuous numbers
  Eigen::Index context_features = 0;
  std::vector<Eigen::Index> categories = {};  // the number of classes of each
};
[[nodiscard]] RowShape row_shape(const Schema& schema);

// Rows with categories have models of both (jeffreys/model/mixed_density.h). Throws
// std::invalid_argument where the main model would be one that cannot be sampled.
[[nodiscard]] AnyDensity<float> make_main_model(const FitOptions& options, const RowShape& shape);

// The proxy's weights are drawn with another seed than the main model's, because two equal flows
// would stay nearly equal for a while.
[[nodiscard]] AnyModel<float> make_proxy_model(const FitOptions& options, const RowShape& shape);

// Lets a fresh model begin at what training rows [rows, features] say at a glance: the frequencies
// of classes, and the affine transform of a flow at their means and shrunk covariance (as
// GaussianBaseline has it), so that its splines see numbers without correlations.
void start_at_rows(UnnormalizedDensity<float>& model, const MatrixView<double>& x);

}  // namespace jeffreys

#include "fit/simple_models.h"

#include <Eigen/Dense>
#include <cmath>

#include "fit/table_baseline.h"
#include "jeffreys/evaluate/mixture_baseline.h"
#include "jeffreys/model/gaussian_mixture.h"
#include "jeffreys/model/mixed_density.h"

namespace jeffreys {
namespace {

// A single Gaussian whose mean is linear in its context.
std::unique_ptr<GaussianMixture<float>> linear_gaussian(const GaussianBaseline& baseline) {
  const Matrix<double>& coefficients = baseline.coefficients();
  const Eigen::Index features = coefficients.cols();
  const Eigen::Index context = coefficients.rows() - 1;
  auto model = std::make_unique<GaussianMixture<float>>(
      GaussianMixtureOptions{.features = features, .context_features = context, .components = 1});
  const Matrix<double> inverse = baseline.factor().triangularView<Eigen::Lower>().solve(
      Matrix<double>::Identity(features, features));
  const ParameterLayout& layout = model->layout();
  model->edit_parameters([&](std::span<float> parameters) {
    float* mean = parameters.data() + layout.find("means").offset;
    float* log_diagonal = parameters.data() + layout.find("log_diagonals").offset;
    float* below = parameters.data() + layout.find("lower").offset;
    float* slope = parameters.data() + layout.find("mean_slopes").offset;
    for (Eigen::Index i = 0; i < features; ++i) {
      *mean++ = static_cast<float>(coefficients(0, i));
      *log_diagonal++ = static_cast<float>(std::log(inverse(i, i)));
      for (Eigen::Index j = 0; j < i; ++j) *below++ = static_cast<float>(inverse(i, j));
      for (Eigen::Index c = 0; c < context; ++c) {
        *slope++ = static_cast<float>(coefficients(1 + c, i));
      }
    }
  });
  return model;
}

}  // namespace

AnyDensity<float> gaussian_model(const RowShape& shape, const EncodedRows& training) {
  const TableBaseline baseline(shape, training);
  std::unique_ptr<GaussianMixture<float>> numbers;
  if (shape.features > 0) numbers = linear_gaussian(baseline.gaussian());
  if (shape.categories.empty()) return AnyDensity<float>(std::move(numbers));
  auto mixed = std::make_unique<MixedDensity<float>>(
      MixedDensityOptions{.features = shape.features,
                          .categories = shape.categories,
                          .context_features = shape.context_features,
                          .hidden = {}},
      std::move(numbers));
  mixed->set_frequencies(training.x.cast<float>());
  return AnyDensity<float>(std::move(mixed));
}

std::optional<AnyDensity<float>> mixture_model(const RowShape& shape, const EncodedRows& training,
                                               const EncodedRows& validation, std::uint64_t seed,
                                               const std::function<void()>& on_step) {
  if (!shape.categories.empty() || shape.context_features > 0) return {};
  const MixtureBaseline mixture(spread_over_cells(training, 2 * seed).x,
                                spread_over_cells(validation, 2 * seed + 1).x,
                                {.seed = seed, .on_step = on_step});
  std::vector<GaussianComponent> components;
  for (const MixtureComponent& part : mixture.components()) {
    components.push_back({part.weight, part.mean, part.factor});
  }
  return AnyDensity<float>(GaussianMixture<float>(components));
}

}  // namespace jeffreys

#include "fit/simple_models.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "fit/gap_fills.h"
#include "fit/table_baseline.h"
#include "jeffreys/evaluate/mixture_baseline.h"
#include "jeffreys/model/density_mixture.h"
#include "jeffreys/model/gaussian_mixture.h"
#include "jeffreys/model/mixed_density.h"

namespace jeffreys {
namespace {

// Gaussians around a mean that is linear in the context: coefficients [1 + context, features].
std::unique_ptr<GaussianMixture<float>> linear_mixture(std::vector<GaussianComponent> residuals,
                                                       const Matrix<double>& coefficients) {
  for (GaussianComponent& part : residuals) part.mean += coefficients.row(0).transpose();
  const GaussianMixture<float> plain(residuals);
  GaussianMixtureOptions options = plain.options();
  options.context_features = coefficients.rows() - 1;
  auto model = std::make_unique<GaussianMixture<float>>(options);
  const ParameterLayout& layout = model->layout();
  model->edit_parameters([&](std::span<float> parameters) {
    std::fill(parameters.begin(), parameters.end(), 0.0F);
    for (const char* name : {"logits", "means", "log_diagonals", "lower"}) {
      const ParameterBlock& from = plain.layout().find(name);
      const ParameterBlock& to = layout.find(name);
      std::copy_n(plain.parameters().data() + from.offset, from.size,
                  parameters.data() + to.offset);
    }
    float* slope = parameters.data() + layout.find("mean_slopes").offset;
    for (std::size_t k = 0; k < residuals.size(); ++k) {
      for (Eigen::Index i = 0; i < coefficients.cols(); ++i) {
        for (Eigen::Index c = 1; c < coefficients.rows(); ++c) {
          *slope++ = static_cast<float>(coefficients(c, i));
        }
      }
    }
  });
  return model;
}

// A density of numbers given classes and context, times probabilities of the classes, each category
// for itself.
AnyDensity<float> with_classes(const RowShape& shape,
                               const std::vector<Vector<double>>& log_probabilities,
                               std::unique_ptr<GaussianMixture<float>> numbers) {
  if (shape.categories.empty()) return AnyDensity<float>(std::move(numbers));
  auto mixed = std::make_unique<MixedDensity<float>>(
      MixedDensityOptions{.features = shape.features,
                          .categories = shape.categories,
                          .context_features = shape.context_features,
                          .hidden = {}},
      std::move(numbers));
  const std::size_t first = mixed->layout().find("categories.logits.bias").offset;
  mixed->edit_parameters([&](std::span<float> parameters) {
    float* bias = parameters.data() + first;
    for (const Vector<double>& own : log_probabilities) {
      for (const double value : own) *bias++ = static_cast<float>(value);
    }
  });
  return AnyDensity<float>(std::move(mixed));
}

// Both at places of their cells, with their gaps filled as the training rows say.
struct FilledRows {
  EncodedRows training;
  EncodedRows validation;
};

FilledRows filled_rows(const RowShape& shape, EncodedRows training, EncodedRows validation,
                       std::uint64_t seed) {
  if (training.gaps.size() + validation.gaps.size() > 0) {
    const EncodedRows known = training;
    const GapFills fills(shape, known, seed);
    std::vector<std::size_t> all(static_cast<std::size_t>(training.size()));
    std::iota(all.begin(), all.end(), std::size_t{0});
    fills.write(all, training.x);
    if (validation.gaps.size() > 0) validation = fills.held_out(validation, 1).rows;
  }
  return {spread_over_cells(training, 2 * seed, places_of_many(training)),
          spread_over_cells(validation, 2 * seed + 1)};
}

Matrix<double> residuals_of(const RowShape& shape, const TableBaseline& baseline,
                            const EncodedRows& rows) {
  const Matrix<double>& coefficients = baseline.gaussian().coefficients();
  const Matrix<double> given = baseline.given(rows.x, rows.context);
  Matrix<double> apart = rows.x.leftCols(shape.features);
  apart.rowwise() -= coefficients.row(0);
  return apart - given * coefficients.bottomRows(given.cols());
}

}  // namespace

AnyDensity<float> gaussian_model(const RowShape& shape, const EncodedRows& training) {
  const TableBaseline baseline(shape, training);
  std::unique_ptr<GaussianMixture<float>> numbers;
  if (shape.features > 0) {
    const GaussianBaseline& gaussian = baseline.gaussian();
    numbers = linear_mixture({{1, Vector<double>::Zero(shape.features), gaussian.factor()}},
                             gaussian.coefficients());
  }
  return with_classes(shape, baseline.log_frequencies(), std::move(numbers));
}

std::optional<FittedMixture> mixture_model(const RowShape& shape, const EncodedRows& training,
                                           const EncodedRows& validation, std::uint64_t seed,
                                           const std::function<void()>& on_step,
                                           std::size_t components) {
  if (shape.features == 0) return {};
  const FilledRows rows = filled_rows(shape, training, validation, seed);
  const bool depends = !shape.categories.empty() || shape.context_features > 0;
  std::optional<TableBaseline> baseline;
  if (depends) baseline.emplace(shape, training);
  const auto numbers = [&](const EncodedRows& part) {
    return depends ? residuals_of(shape, *baseline, part) : part.x;
  };
  MixtureOptions options{.seed = seed, .on_step = on_step};
  if (components > 0) options.least_components = options.most_components = components;
  const MixtureBaseline mixture(numbers(rows.training), numbers(rows.validation), options,
                                rows.training.weights, rows.validation.weights);
  std::vector<GaussianComponent> parts;
  for (const MixtureComponent& part : mixture.components()) {
    parts.push_back({part.weight, part.mean, part.factor});
  }
  const std::size_t count = parts.size();
  if (!depends) return FittedMixture{AnyDensity<float>(GaussianMixture<float>(parts)), count};
  return FittedMixture{
      with_classes(shape, baseline->log_frequencies(),
                   linear_mixture(std::move(parts), baseline->gaussian().coefficients())),
      count};
}

AnyDensity<float> class_mixture_model(const RowShape& shape, const EncodedRows& training,
                                      std::uint64_t seed) {
  if (shape.context_features > 0) {
    throw std::invalid_argument("class_mixture_model: expected rows without conditions");
  }
  // At one place of its cells each: the mixture holds rows out by their place in the matrix.
  const EncodedRows rows = spread_over_cells(training, seed, 1);
  const GapMixture mixture(shape, rows.x, rows.context, rows.gaps, seed, rows.weights);
  std::vector<GaussianComponent> components;
  for (const GapComponent& part : mixture.components()) {
    components.push_back({std::exp(part.log_weight), part.mean, part.covariance.llt().matrixL()});
  }
  if (shape.categories.empty()) return AnyDensity<float>(GaussianMixture<float>(components));
  const Eigen::Index classes =
      std::accumulate(shape.categories.begin(), shape.categories.end(), Eigen::Index{0});
  std::vector<AnyDensity<float>> parts;
  std::vector<double> weights;
  for (std::size_t k = 0; k < components.size(); ++k) {
    weights.push_back(std::exchange(components[k].weight, 1));
    std::unique_ptr<GaussianMixture<float>> numbers;
    if (shape.features > 0) {
      numbers = linear_mixture({components[k]}, Matrix<double>::Zero(1 + classes, shape.features));
    }
    std::vector<Vector<double>> log_probabilities;
    for (const Vector<double>& own : mixture.components()[k].probabilities) {
      log_probabilities.emplace_back(own.array().log());
    }
    parts.push_back(with_classes(shape, log_probabilities, std::move(numbers)));
  }
  return AnyDensity<float>(DensityMixture<float>(std::move(parts), weights));
}

}  // namespace jeffreys

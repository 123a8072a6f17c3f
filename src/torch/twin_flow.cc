#include "torch/twin_flow.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "torch/twin_mask.h"
#include "torch/twin_spline.h"

namespace jeffreys::twin {
namespace {

using torch::Tensor;

// One row of context counts for all rows.
Tensor rows_of(const Tensor& context, std::int64_t rows) {
  return context.defined() ? context.expand({rows, context.size(1)}) : context;
}

}  // namespace

template <typename T>
FlowTwin::FlowTwin(const SplineFlow<T>& flow)
    : options_(flow.options()), parameters_(flow.layout(), flow.parameters(), true) {
  if (options_.affine || options_.student_t != 0) {
    throw std::invalid_argument(
        "flow: expected splines over a normal base, which alone have a twin");
  }
  const std::vector<std::int64_t> hidden(options_.hidden.begin(), options_.hidden.end());
  masks_.resize(static_cast<std::size_t>(options_.transforms));
  if (options_.features == 1) return;
  for (std::size_t t = 0; t < masks_.size(); ++t) {
    for (const Tensor& mask : autoregressive_masks(options_.orders[t], options_.context_features,
                                                   hidden, 3 * options_.bins - 1)) {
      masks_[t].push_back(mask.to(parameters().scalar_type()));
    }
  }
}

std::vector<FlowTwin::Bound> FlowTwin::bind() const {
  const Parts parts = parameters_.parts();
  std::vector<Bound> result(masks_.size());
  for (std::size_t t = 0; t < result.size(); ++t) {
    const std::string name = fmt::format("transform.transforms.{}", t);
    Bound& bound = result[t];
    bound.feature_at.resize(static_cast<std::size_t>(options_.features));
    for (std::int64_t f = 0; options_.features > 1 && f < options_.features; ++f) {
      const std::int64_t position = options_.orders[t][static_cast<std::size_t>(f)];
      bound.feature_at[static_cast<std::size_t>(position)] = f;
    }
    if (options_.features == 1 && options_.context_features == 0) {
      bound.constant = torch::cat(
          {parts.at(name + ".phi.0"), parts.at(name + ".phi.1"), parts.at(name + ".phi.2")}, 1);
      continue;
    }
    for (std::size_t l = 0; l <= options_.hidden.size(); ++l) {
      const std::string layer = fmt::format("{}.hyper.{}", name, 2 * l);
      const Tensor& weight = parts.at(layer + ".weight");
      bound.weights.push_back(masks_[t].empty() ? weight : weight * masks_[t][l]);
      bound.biases.push_back(parts.at(layer + ".bias"));
    }
  }
  return result;
}

// The activations before the last layer. A single feature sees the context alone.
Tensor FlowTwin::hidden(const Bound& bound, const Tensor& x, const Tensor& context) const {
  Tensor h = options_.features == 1 ? context : context.defined() ? torch::cat({x, context}, 1) : x;
  for (std::size_t l = 0; l < options_.hidden.size(); ++l) {
    h = torch::relu(torch::linear(h, bound.weights[l], bound.biases[l]));
  }
  return h;
}

// [rows, features, 3 bins - 1]
Tensor FlowTwin::raw_splines(const Bound& bound, const Tensor& x, const Tensor& context) const {
  const std::int64_t size = 3 * options_.bins - 1;
  if (bound.constant.defined()) return bound.constant.expand({x.size(0), 1, size});
  return torch::linear(hidden(bound, x, context), bound.weights.back(), bound.biases.back())
      .view({x.size(0), options_.features, size});
}

// Those of the feature at a position, [rows, 3 bins - 1], or [3 bins - 1] if they are constants:
// without a context the first feature sees nothing, and only its bias acts.
Tensor FlowTwin::raw_spline(const Bound& bound, std::size_t position,
                            const std::vector<Tensor>& columns, const Tensor& context) const {
  const std::int64_t size = 3 * options_.bins - 1;
  if (bound.constant.defined()) return bound.constant.squeeze(0);
  const std::int64_t first_row = bound.feature_at[position] * size;
  const Tensor bias = bound.biases.back().narrow(0, first_row, size);
  if (position == 0 && options_.context_features == 0) return bias;
  return torch::linear(hidden(bound, torch::stack(columns, 1), context),
                       bound.weights.back().narrow(0, first_row, size), bias);
}

// Feature by feature in the order of dependence: one pass through the network for each feature that
// sees anything, so a single one in two dimensions.
Tensor FlowTwin::invert(const Bound& bound, const Tensor& z, const Tensor& context) const {
  std::vector<Tensor> columns(bound.feature_at.size(), torch::zeros({z.size(0)}, z.options()));
  for (std::size_t p = 0; p < columns.size(); ++p) {
    const std::int64_t feature = bound.feature_at[p];
    const Knots knots = make_knots(raw_spline(bound, p, columns, context));
    columns[static_cast<std::size_t>(feature)] = spline_inverse(knots, z.select(1, feature));
  }
  return torch::stack(columns, 1);
}

FlowTwin::Noise FlowTwin::forward(const Tensor& x, const Tensor& context) const {
  const Tensor c = rows_of(context, x.size(0));
  Noise noise{x, torch::zeros({x.size(0)}, x.options())};
  for (const Bound& bound : bind()) {
    const SplineValue spline = spline_forward(make_knots(raw_splines(bound, noise.z, c)), noise.z);
    noise = {spline.value, noise.log_determinant + spline.log_slope.sum(1)};
  }
  return noise;
}

Tensor FlowTwin::log_prob(const Tensor& x, const Tensor& context) const {
  const Noise noise = forward(x, context);
  const double normalisation = 0.5 * std::log(2 * std::numbers::pi);
  return noise.log_determinant - (0.5 * noise.z.square() + normalisation).sum(1);
}

Tensor FlowTwin::to_noise(const Tensor& x, const Tensor& context) const {
  return forward(x, context).z;
}

Tensor FlowTwin::sample(const Tensor& noise, const Tensor& context) const {
  const Tensor c = rows_of(context, noise.size(0));
  const std::vector<Bound> transforms = bind();
  Tensor x = noise;
  for (auto bound = transforms.rbegin(); bound != transforms.rend(); ++bound) {
    x = invert(*bound, x, c);
  }
  return x;
}

template FlowTwin::FlowTwin(const SplineFlow<float>&);
template FlowTwin::FlowTwin(const SplineFlow<double>&);

}  // namespace jeffreys::twin

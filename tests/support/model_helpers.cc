#include "support/model_helpers.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "kernels/adamw.h"
#include "kernels/random.h"

namespace jeffreys::testing {

Matrix<double> normals(Eigen::Index rows, Eigen::Index columns, std::uint64_t seed) {
  Matrix<double> result(rows, columns);
  kernels::fill_normals(kernels::RandomArguments<double>{{seed, 1, 0},
                                                         0,
                                                         static_cast<std::size_t>(rows),
                                                         static_cast<std::size_t>(columns),
                                                         result.data()});
  return result;
}

Matrix<double> correlated_rows(Eigen::Index rows, Eigen::Index features, std::uint64_t seed) {
  const Matrix<double> z = normals(rows, features, seed);
  Matrix<double> x(rows, features);
  x.col(0) = 0.4 * z.col(0).array() + z.col(0).array().sign();
  for (Eigen::Index f = 1; f < features; ++f) {
    const auto before = x.col(f - 1).array();
    x.col(f) = 0.6 * z.col(f).array() + 0.5 * (2 * before).tanh() +
               0.3 * z.col(f).array().square() * (before > 0).cast<double>();
  }
  for (Eigen::Index f = 0; f < features; ++f) {
    x.col(f).array() -= x.col(f).mean();
    x.col(f) /= std::sqrt(x.col(f).squaredNorm() / static_cast<double>(rows));
  }
  return x;
}

template <typename T>
std::vector<std::uint8_t> used_parameters(const SplineFlow<T>& flow) {
  std::vector<std::uint8_t> used(flow.layout().size(), 1);
  for (const ParameterBlock& block : flow.layout().blocks()) {
    const std::vector<std::uint8_t> mask = flow.mask(block);
    std::copy(mask.begin(), mask.end(), used.begin() + static_cast<std::ptrdiff_t>(block.offset));
  }
  return used;
}

template <typename T>
void scale_parameters(UnnormalizedDensity<T>& model, double factor) {
  model.edit_parameters([&](std::span<T> parameters) {
    for (T& parameter : parameters) parameter *= static_cast<T>(factor);
  });
}

template <typename T>
void add_parameter_noise(UnnormalizedDensity<T>& model, double deviation, std::uint64_t seed) {
  std::vector<std::uint8_t> used(model.layout().size(), 1);
  if (const auto* flow = dynamic_cast<const SplineFlow<T>*>(&model)) used = used_parameters(*flow);
  const Matrix<double> noise = normals(1, static_cast<Eigen::Index>(used.size()), seed);
  model.edit_parameters([&](std::span<T> parameters) {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (used[i]) parameters[i] += static_cast<T>(deviation * noise.data()[i]);
    }
  });
}

template <typename T>
void make_extreme(UnnormalizedDensity<T>& model) {
  scale_parameters(model, 8.0);
}

template <typename T>
SplineFlow<double> in_double(const SplineFlow<T>& flow) {
  SplineFlow<double> result(flow.options());
  result.edit_parameters([&](std::span<double> parameters) {
    std::copy(flow.parameters().begin(), flow.parameters().end(), parameters.begin());
  });
  return result;
}

template <typename T>
SplineFlow<T> single_transform(const SplineFlow<T>& flow, Eigen::Index t) {
  SplineFlowOptions options = flow.options();
  options.transforms = 1;
  options.orders = {flow.options().orders[static_cast<std::size_t>(t)]};
  SplineFlow<T> result(options);
  const std::string prefix = "transform.transforms.";
  result.edit_parameters([&](std::span<T> parameters) {
    for (const ParameterBlock& block : result.layout().blocks()) {
      if (!block.name.starts_with(prefix + "0.")) throw std::logic_error("block " + block.name);
      const ParameterBlock& from =
          flow.layout().find(prefix + std::to_string(t) + block.name.substr(prefix.size() + 1));
      std::copy_n(flow.parameters().begin() + static_cast<std::ptrdiff_t>(from.offset), from.size,
                  parameters.begin() + static_cast<std::ptrdiff_t>(block.offset));
    }
  });
  return result;
}

template <typename T>
double train(SplineFlow<T>& flow, const Matrix<T>& data, int steps, double learning_rate,
             const Matrix<T>& context) {
  const std::size_t size = flow.layout().size();
  const Vector<T> weights =
      Vector<T>::Constant(data.rows(), static_cast<T>(-1.0 / static_cast<double>(data.rows())));
  std::vector<T> second_moment(size, T(0));
  double mean = 0;
  for (int step = 1; step <= steps; ++step) {
    std::vector<T> gradient(size, T(0));
    mean = flow.add_scores(data, context, weights, gradient).template cast<double>().mean();
    flow.edit_parameters([&](std::span<T> parameters) {
      kernels::adamw(kernels::AdamWArguments<T>{.size = size,
                                                .parameters = parameters.data(),
                                                .gradient = gradient.data(),
                                                .first_moment = nullptr,
                                                .second_moment = second_moment.data(),
                                                .learning_rate = learning_rate,
                                                .beta1 = 0.0,
                                                .beta2 = 0.9,
                                                .weight_decay = 1e-2,
                                                .step = static_cast<std::size_t>(step)});
    });
  }
  return mean;
}

template std::vector<std::uint8_t> used_parameters(const SplineFlow<float>&);
template std::vector<std::uint8_t> used_parameters(const SplineFlow<double>&);
template void scale_parameters(UnnormalizedDensity<float>&, double);
template void scale_parameters(UnnormalizedDensity<double>&, double);
template void add_parameter_noise(UnnormalizedDensity<float>&, double, std::uint64_t);
template void add_parameter_noise(UnnormalizedDensity<double>&, double, std::uint64_t);
template void make_extreme(UnnormalizedDensity<float>&);
template void make_extreme(UnnormalizedDensity<double>&);
template SplineFlow<double> in_double(const SplineFlow<float>&);
template SplineFlow<double> in_double(const SplineFlow<double>&);
template SplineFlow<float> single_transform(const SplineFlow<float>&, Eigen::Index);
template SplineFlow<double> single_transform(const SplineFlow<double>&, Eigen::Index);
template double train(SplineFlow<float>&, const Matrix<float>&, int, double, const Matrix<float>&);
template double train(SplineFlow<double>&, const Matrix<double>&, int, double,
                      const Matrix<double>&);

}  // namespace jeffreys::testing

// A linear regression on conditions whose residuals have a density of their own, a mixture of
// Gaussians or kernels, chosen by cross-validation. Without conditions it is that density.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <variant>

#include "jeffreys/evaluate/kernel_baseline.h"
#include "jeffreys/evaluate/mixture_baseline.h"

namespace jeffreys {

enum class ResidualDensity { mixture, kernel };

class ResidualBaseline {
 public:
  // x [rows, features], context [rows, any number of columns]. Rows with the same number in `same`
  // are judged together, as one row at several places of its cells is. on_step is called between
  // the steps of the fit; what it throws ends it.
  ResidualBaseline(ResidualDensity kind, const MatrixView<double>& x,
                   const MatrixView<double>& context, std::span<const std::size_t> same,
                   std::uint64_t seed, const std::function<void()>& on_step = {});

  [[nodiscard]] Vector<double> log_prob(const MatrixView<double>& x,
                                        const MatrixView<double>& context) const;

 private:
  [[nodiscard]] Matrix<double> residuals(const MatrixView<double>& x,
                                         const MatrixView<double>& context) const;

  Matrix<double> coefficients_;  // [1 + context, features]; empty without conditions
  std::variant<MixtureBaseline, KernelBaseline> density_;
};

}  // namespace jeffreys

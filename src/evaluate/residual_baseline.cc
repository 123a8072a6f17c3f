#include "jeffreys/evaluate/residual_baseline.h"

#include <Eigen/Cholesky>
#include <algorithm>

#include "jeffreys/table/split.h"

namespace jeffreys {
namespace {

constexpr std::size_t kFolds = 5;
// Of the mean square of a column: for columns that repeat one another, and for classes of few rows.
constexpr double kLeastRidge = 1e-6;

Matrix<double> design_of(const MatrixView<double>& context, Eigen::Index rows) {
  Matrix<double> design(rows, 1 + context.cols());
  design.col(0).setOnes();
  // One row may serve all.
  for (Eigen::Index r = 0; r < rows; ++r) {
    design.row(r).tail(context.cols()) = context.row(context.rows() == 1 ? 0 : r);
  }
  return design;
}

Matrix<double> regression(const MatrixView<double>& x, const MatrixView<double>& context) {
  if (context.cols() == 0) return {};
  const Matrix<double> design = design_of(context, x.rows());
  Matrix<double> gram = design.transpose() * design;
  gram.diagonal().array() += kLeastRidge * gram.diagonal().mean();
  return gram.llt().solve(design.transpose() * x);
}

// The part of each row, so that rows with the same number are in one.
std::vector<std::size_t> folds_of(std::span<const std::size_t> same, std::uint64_t seed) {
  const std::size_t different = *std::max_element(same.begin(), same.end()) + 1;
  const std::vector<std::size_t> parts = random_parts(different, std::min(kFolds, different), seed);
  std::vector<std::size_t> result;
  for (const std::size_t number : same) result.push_back(parts[number]);
  return result;
}

std::variant<MixtureBaseline, KernelBaseline> density_of(ResidualDensity kind,
                                                         const Matrix<double>& x,
                                                         std::span<const std::size_t> same,
                                                         std::uint64_t seed,
                                                         const std::function<void()>& on_step) {
  if (kind == ResidualDensity::kernel) return KernelBaseline(x, same, on_step);
  return MixtureBaseline(x, folds_of(same, seed), {.seed = seed, .on_step = on_step});
}

}  // namespace

ResidualBaseline::ResidualBaseline(ResidualDensity kind, const MatrixView<double>& x,
                                   const MatrixView<double>& context,
                                   std::span<const std::size_t> same, std::uint64_t seed,
                                   const std::function<void()>& on_step)
    : coefficients_(regression(x, context)),
      density_(density_of(kind, residuals(x, context), same, seed, on_step)) {}

Matrix<double> ResidualBaseline::residuals(const MatrixView<double>& x,
                                           const MatrixView<double>& context) const {
  if (coefficients_.size() == 0) return x;
  return x - design_of(context, x.rows()) * coefficients_;
}

Vector<double> ResidualBaseline::log_prob(const MatrixView<double>& x,
                                          const MatrixView<double>& context) const {
  return std::visit([&](const auto& density) { return density.log_prob(residuals(x, context)); },
                    density_);
}

}  // namespace jeffreys

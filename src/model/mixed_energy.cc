#include <fmt/format.h>

#include <limits>
#include <stdexcept>

#include "base/checks.h"
#include "jeffreys/model/mixed_density.h"
#include "model/category_columns.h"
#include "model/mixed_architecture.h"
#include "model/row_parts.h"

namespace jeffreys {
namespace {

constexpr const char* kEnergy = "energy";

}  // namespace

void MixedEnergyOptions::validate() const {
  check_between("MixedEnergyOptions.features", features, 0, kMostUnits);
  check_categories("MixedEnergyOptions.categories", categories);
}

Eigen::Index MixedEnergyOptions::inner_features() const {
  return features + CategoryColumns(categories).classes();
}

template <typename T>
ModelKind<T> mixed_energy_kind() {
  return {.name = MixedEnergyOptions::kModelName,
          .least_parameters =
              [](const std::string& text) {
                const auto own = read_nested_architecture<MixedEnergyOptions>(text, kEnergy);
                return inner_kind<T>(kEnergy, own.inner).least_parameters(own.inner.dump());
              },
          .make = [](const std::string& text) -> std::unique_ptr<UnnormalizedDensity<T>> {
            const auto own = read_nested_architecture<MixedEnergyOptions>(text, kEnergy);
            return std::make_unique<MixedEnergy<T>>(
                own.options, inner_kind<T>(kEnergy, own.inner).make(own.inner.dump()));
          }};
}

template <typename T>
MixedEnergy<T>::MixedEnergy(const MixedEnergyOptions& options,
                            std::unique_ptr<UnnormalizedDensity<T>> energy)
    : options_(options), energy_(std::move(energy)) {
  options_.validate();
  columns_ = std::make_shared<const CategoryColumns>(options_.categories);
  refuse_mixed(kEnergy, nlohmann::json::parse(energy_->architecture()));
  if (energy_->features() != options_.inner_features()) {
    throw std::invalid_argument(fmt::format("energy: expected a model of {} features, got {}",
                                            options_.inner_features(), energy_->features()));
  }
}

template <typename T>
std::string MixedEnergy<T>::architecture() const {
  return write_nested_architecture(options_, kEnergy, energy_->architecture());
}

template <typename T>
std::unique_ptr<UnnormalizedDensity<T>> MixedEnergy<T>::clone() const {
  return std::make_unique<MixedEnergy>(*this);
}

template <typename T>
Eigen::Index MixedEnergy<T>::features() const {
  return options_.features + columns_->count();
}

template <typename T>
void MixedEnergy<T>::use_threads(std::shared_ptr<ThreadPool> pool) {
  energy_->use_threads(pool);
  UnnormalizedDensity<T>::use_threads(std::move(pool));
}

template <typename T>
Matrix<T> MixedEnergy<T>::inner_rows(const MatrixView<T>& x) const {
  check_columns("x", x.cols(), features());
  Matrix<T> rows(x.rows(), options_.inner_features());
  rows.leftCols(options_.features) = x.leftCols(options_.features);
  columns_->template write_one_hots<T>(columns_->template read<T>(x.rightCols(columns_->count())),
                                       std::numeric_limits<T>::quiet_NaN(),
                                       rows.rightCols(columns_->classes()));
  return rows;
}

template <typename T>
Vector<T> MixedEnergy<T>::log_unnormalized(const MatrixView<T>& x,
                                           const MatrixView<T>& context) const {
  check_context<T>(context, x.rows(), context_features());
  Vector<T> result(x.rows());
  for_parts(x.rows(), [&](Eigen::Index first, Eigen::Index rows) {
    result.segment(first, rows) = energy_->log_unnormalized(
        inner_rows(x.middleRows(first, rows)), context_of_part<T>(context, first, rows));
  });
  return result;
}

template <typename T>
Vector<T> MixedEnergy<T>::add_scores(const MatrixView<T>& x, const MatrixView<T>& context,
                                     const WeightFunction<T>& weights,
                                     std::span<T> gradient) const {
  return energy_->add_scores(inner_rows(x), context, weights, gradient);
}

template <typename T>
Vector<T> MixedEnergy<T>::add_scores_of_batch(const MatrixView<T>& x, const MatrixView<T>& context,
                                              const BatchWeightFunction<T>& weights,
                                              std::span<T> gradient) const {
  return energy_->add_scores_of_batch(inner_rows(x), context, weights, gradient);
}

template class MixedEnergy<float>;
template class MixedEnergy<double>;
template ModelKind<float> mixed_energy_kind();
template ModelKind<double> mixed_energy_kind();

}  // namespace jeffreys

#include "jeffreys/sbi/posterior.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "base/checks.h"

namespace jeffreys {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// The models compute in float, which overflows beyond: no square, no product with a weight.
constexpr double kFarthest = 1e18;  // in standardised units

void require(bool condition, const std::string& problem) {
  if (!condition) throw std::invalid_argument(problem);
}

// Whether the schema's coordinates are those of the prior's distributions, or of none if there is
// no prior.
bool has_coordinates_of(const Schema& schema, const Prior* prior) {
  std::map<std::string, Distribution> expected;
  if (prior != nullptr) expected = prior->distributions();
  std::map<std::string, Distribution> found;
  for (const ColumnInfo& info : schema.columns()) {
    if (info.distribution) found.emplace(info.name, *info.distribution);
  }
  return found == expected;
}

}  // namespace

Posterior::Posterior(TabularDensity<float> density, std::optional<Prior> prior)
    : density_(std::move(density)), prior_(std::move(prior)) {
  require(density_.schema().context_features() > 0,
          "density: expected conditions, which are the outcomes, got none");
  require(!prior_ || prior_->names() == parameter_names(),
          "prior: expected the density's features as its parameters, in their order");
  require(has_coordinates_of(density_.schema(), prior_ ? &*prior_ : nullptr),
          "density: expected a schema with the distributions of exactly this prior");
}

std::vector<std::string> Posterior::parameter_names() const {
  return density_.schema().feature_names();
}

std::vector<std::string> Posterior::outcome_names() const {
  return density_.schema().condition_names();
}

Matrix<double> Posterior::encode(const MatrixView<double>& observed) const {
  const auto outcomes = static_cast<Eigen::Index>(outcome_names().size());
  require(observed.cols() == outcomes,
          fmt::format("observed: expected {} outcomes, got {}", outcomes, observed.cols()));
  require(observed.allFinite(), "observed: expected finite numbers");
  Matrix<double> context =
      density_.schema().encode_conditions(table_from_matrix(observed, outcome_names()));
  require((context.array().abs() < kFarthest).all(),
          fmt::format("observed: expected outcomes within {:.0e} deviations of the training pairs",
                      kFarthest));
  return context;
}

Matrix<double> Posterior::decode(const MatrixView<double>& x,
                                 const MatrixView<double>& context) const {
  const Table table = density_.schema().decode(x, context);
  const std::vector<std::string> names = parameter_names();
  Matrix<double> parameters(x.rows(), static_cast<Eigen::Index>(names.size()));
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::vector<double>& cells = table.find(names[i])->numbers;
    require(static_cast<Eigen::Index>(cells.size()) == x.rows(),
            fmt::format("parameter '{}': expected numbers, got text", names[i]));
    parameters.col(static_cast<Eigen::Index>(i)) =
        Eigen::Map<const Vector<double>>(cells.data(), x.rows());
  }
  return parameters;
}

bool Posterior::inside(const MatrixView<double>& parameters, Eigen::Index row) const {
  const std::span<const double> values(parameters.data() + row * parameters.outerStride(),
                                       static_cast<std::size_t>(parameters.cols()));
  return !prior_ || prior_->contains(values);
}

// These rows of parameters with their outcomes: those of the same row, or the only ones there are.
Table Posterior::pairs(const MatrixView<double>& parameters, const MatrixView<double>& observed,
                       const std::vector<Eigen::Index>& rows) const {
  Table table = table_from_matrix(parameters(rows, Eigen::all), parameter_names());
  const Matrix<double> outcomes =
      observed.rows() == 1
          ? Matrix<double>(observed.replicate(static_cast<Eigen::Index>(rows.size()), 1))
          : Matrix<double>(observed(rows, Eigen::all));
  for (Column& column : table_from_matrix(outcomes, outcome_names()).columns) {
    table.columns.push_back(std::move(column));
  }
  return table;
}

Vector<double> Posterior::log_prob(const MatrixView<double>& parameters,
                                   const MatrixView<double>& observed, std::optional<From> from,
                                   FarObservations far) const {
  const auto dimension = static_cast<Eigen::Index>(parameter_names().size());
  require(parameters.cols() == dimension,
          fmt::format("parameters: expected {} columns, got {}", dimension, parameters.cols()));
  require(
      observed.rows() == 1 || observed.rows() == parameters.rows(),
      fmt::format("observed: expected 1 or {} rows, got {}", parameters.rows(), observed.rows()));
  const From which = from.value_or(density_.chosen());
  const Matrix<double> all_context = encode(observed, far);
  Vector<double> result(parameters.rows());
  std::vector<Eigen::Index> rows;
  for (Eigen::Index r = 0; r < parameters.rows(); ++r) {
    result(r) = parameters.row(r).hasNaN() ? std::nan("") : -kInfinity;
    const bool usable = (parameters.row(r).array().abs() <= kLargestValue).all();
    if (usable && inside(parameters, r)) rows.push_back(r);
  }
  if (rows.empty()) return result;

  Schema::Encoded encoded = density_.schema().encode(pairs(parameters, observed, rows));
  if (observed.rows() == 1) encoded.context = all_context;
  const Vector<double> values = density_.score(encoded, which).log_prob;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto place = static_cast<Eigen::Index>(i);
    if ((encoded.x.row(place).array().abs() > kFarthest).any()) continue;
    result(rows[i]) = values(place);
  }
  return result;
}

}  // namespace jeffreys

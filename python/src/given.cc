// Columns that are given, missing cells, and whether a synthetic table can be published.
#include "jeffreys/fit/given.h"

#include "jeffreys/fit/synthetic_check.h"
#include "python/src/density.h"

namespace jeffreys::python {
namespace {

// given: nothing, a text for each condition column, or a table, with so many rows for each of its.
Matrix<double> read_conditions(const Schema& schema, const py::object& given, Eigen::Index rows) {
  if (given.is_none()) {
    return schema.context_features() > 0
               ? schema.encode_conditions(std::map<std::string, std::string>())
               : Matrix<double>();
  }
  if (py::isinstance<Table>(given)) {
    const Matrix<double> each = schema.encode_conditions(given.cast<const Table&>());
    Matrix<double> repeated(each.rows() * rows, each.cols());
    for (Eigen::Index i = 0; i < each.rows(); ++i) {
      repeated.middleRows(i * rows, rows).rowwise() = each.row(i);
    }
    return repeated;
  }
  return schema.encode_conditions(given.cast<std::map<std::string, std::string>>());
}

// What is given if it is more than conditions.
std::optional<Table> given_features(const Schema& schema, const py::object& given) {
  if (given.is_none()) return {};
  Table table = py::isinstance<Table>(given)
                    ? given.cast<const Table&>()
                    : schema.given_row(given.cast<std::map<std::string, std::string>>());
  return gives_features(table, schema) ? std::optional(std::move(table)) : std::nullopt;
}

py::tuple sample(DensityHandle& self, Eigen::Index rows, std::uint64_t seed,
                 const py::object& given, const std::optional<std::string>& from,
                 std::size_t threads) {
  const auto density = self.with(threads);
  const std::optional<From> speaker = read_from(from);
  if (const auto known = given_features(density->schema(), given)) {
    GivenSamples samples = without_gil([&] {
      return sample_given(*density, *known, rows, seed, speaker.value_or(density->chosen()));
    });
    return py::make_tuple(std::move(samples.table), 1.0);
  }
  const Matrix<double> conditions = read_conditions(density->schema(), given, rows);
  if (py::isinstance<Table>(given)) rows = conditions.rows();
  TableSamples samples =
      without_gil([&] { return density->sample(rows, seed, conditions, speaker); });
  return py::make_tuple(std::move(samples.table), samples.acceptance_rate);
}

py::array_t<double> conditional(DensityHandle& self, const Table& table,
                                const std::vector<std::string>& columns,
                                const std::vector<std::string>& given,
                                const std::optional<std::string>& from, std::size_t threads) {
  const auto density = self.with(threads);
  const From speaker = read_from(from).value_or(density->chosen());
  const TableLogProb scores = without_gil([&] {
    TableLogProb found = log_prob_given(*density, table, columns, given, speaker);
    withhold_uncertain(found);
    return found;
  });
  return by_row(scores.log_prob, scores.rows, table.rows());
}

Fill fill_of(const std::string& name) {
  if (name == "draw") return Fill::draw;
  if (name == "mean") return Fill::mean;
  if (name == "median") return Fill::median;
  throw std::invalid_argument("fill: expected 'draw', 'mean' or 'median', got '" + name + "'");
}

// The copies one after the other, how many cells were filled, and which rows were not.
py::tuple fill_cells(DensityHandle& self, const Table& table, const std::string& fill, int draws,
                     std::uint64_t seed, const std::optional<std::string>& from,
                     std::size_t threads) {
  const auto density = self.with(threads);
  const From speaker = read_from(from).value_or(density->chosen());
  const Fill how = fill_of(fill);
  Imputed filled = without_gil([&] { return impute(*density, table, how, draws, seed, speaker); });
  return py::make_tuple(std::move(filled.table), filled.cells, filled.left);
}

py::list shapes(const std::vector<ShapeDistance>& list) {
  py::list result;
  for (const ShapeDistance& each : list) {
    py::dict shape;
    shape["columns"] = each.columns;
    shape["distance"] = each.distance;
    shape["chance"] = each.chance;
    result.append(shape);
  }
  return result;
}

py::dict synthetic(const DensityHandle& self, const Table& real, const Table& made,
                   const Table* training) {
  SyntheticCheck found =
      without_gil([&] { return check_synthetic(self.get().schema(), real, made, training); });
  py::list copies;
  for (const CopiedRow& copy : found.closest.copies) {
    copies.append(py::make_tuple(copy.synthetic, copy.training));
  }
  py::dict result;
  result["rows"] = found.synthetic_rows;
  result["real_rows"] = found.real_rows;
  result["columns"] = shapes(found.columns);
  result["pairs"] = shapes(found.pairs);
  result["c2st"] = found.classifier.accuracy;
  result["c2st_standard_error"] = found.classifier.standard_error;
  result["copies"] = copies;
  result["real_copies"] = found.closest.real_copies;
  result["too_close"] = found.closest.too_close;
  result["limit"] = found.closest.limit;
  result["p_value"] = found.closest.p_value;
  result["distances"] = to_array(std::move(found.closest.synthetic));
  result["real_distances"] = to_array(std::move(found.closest.real));
  result["copied"] = found.copied;
  result["warnings"] = found.warnings;
  result["verdict"] = found.verdict;
  return result;
}

}  // namespace

void bind_given(py::class_<DensityHandle>& density) {
  density.def("sample", &sample)
      .def("log_prob_given", &conditional)
      .def("impute", &fill_cells)
      .def("check_synthetic", &synthetic);
}

}  // namespace jeffreys::python

// Tables to and from Python: a column is (name, numbers) or (name, codes, labels).
#include <fmt/format.h>

#include "jeffreys/table/table.h"
#include "python/src/binding.h"

namespace jeffreys::python {
namespace {

using Numbers = py::array_t<double, py::array::c_style | py::array::forcecast>;
using Codes = py::array_t<std::int32_t, py::array::c_style | py::array::forcecast>;

template <typename Array>
auto to_vector(const Array& array) {
  using Item = std::remove_cvref_t<decltype(*array.data())>;
  return std::vector<Item>(array.data(), array.data() + array.size());
}

// Messages speak of rows by line() - 1: see module.cc.
void number_rows(Table& table, Eigen::Index first_row = 0) {
  table.anchors = {{0, static_cast<std::size_t>(first_row) + 1}};
}

Table from_columns(const py::list& columns, const std::string& source) {
  Table table{source, {}, {}};
  for (const py::handle& item : columns) {
    const auto parts = item.cast<py::tuple>();
    Column column{.name = parts[0].cast<std::string>()};
    if (parts.size() == 2) {
      column.numbers = to_vector(parts[1].cast<Numbers>());
    } else {
      column.codes = to_vector(parts[1].cast<Codes>());
      column.labels = parts[2].cast<std::vector<std::string>>();
      const auto labels = static_cast<std::int32_t>(column.labels.size());
      for (const std::int32_t code : column.codes) {
        if (code < -1 || code >= labels) throw std::invalid_argument("codes: one has no label");
      }
    }
    if (!table.columns.empty() && column.rows() != table.rows()) {
      throw std::invalid_argument(fmt::format("column '{}' has {} rows, the first column {}",
                                              column.name, column.rows(), table.rows()));
    }
    table.columns.push_back(std::move(column));
  }
  number_rows(table);
  return table;
}

py::list to_columns(Table& table) {
  py::list columns;
  for (Column& column : table.columns) {
    if (column.is_text()) {
      columns.append(py::make_tuple(column.name, to_array(std::move(column.codes)), column.labels));
    } else {
      columns.append(py::make_tuple(column.name, to_array(std::move(column.numbers))));
    }
  }
  table.columns.clear();
  return columns;
}

// Columns of numbers as one array [rows, columns].
py::array_t<double> to_matrix(const Table& table) {
  const auto rows = static_cast<py::ssize_t>(table.rows());
  const auto columns = std::ssize(table.columns);
  py::array_t<double> result({rows, columns});
  double* const out = result.mutable_data();
  for (py::ssize_t j = 0; j < columns; ++j) {
    const Column& column = table.columns[static_cast<std::size_t>(j)];
    if (column.is_text()) throw std::invalid_argument("column '" + column.name + "' has labels");
    for (py::ssize_t i = 0; i < rows; ++i) {
      out[i * columns + j] = column.numbers[static_cast<std::size_t>(i)];
    }
  }
  return result;
}

}  // namespace

Table numbers_table(const MatrixView<double>& values, std::vector<std::string> names,
                    const std::string& source, Eigen::Index first_row) {
  if (names.empty()) {
    for (Eigen::Index i = 0; i < values.cols(); ++i) names.push_back(fmt::format("x{}", i + 1));
  }
  Table table = table_from_matrix(values, names);
  table.source = source;
  number_rows(table, first_row);
  return table;
}

void bind_tables(py::module_& module) {
  py::class_<Table>(module, "Table")
      .def(py::init(&from_columns), py::arg("columns"), py::arg("source"))
      .def(py::init(&numbers_table), py::arg("values"), py::arg("names"), py::arg("source"),
           py::arg("first_row") = 0)
      .def_property_readonly("rows", &Table::rows)
      .def_property_readonly("names",
                             [](const Table& table) {
                               std::vector<std::string> names;
                               for (const Column& column : table.columns) {
                                 names.push_back(column.name);
                               }
                               return names;
                             })
      .def("to_matrix", &to_matrix)
      // Leaves nothing in the table: the arrays take its memory over.
      .def("take_columns", &to_columns);
}

}  // namespace jeffreys::python

// What the sources of the extension module share: how numbers pass between NumPy and Eigen, and
// what each source adds to the module.
#pragma once

#include <pybind11/eigen.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "jeffreys/fit/tabular_density.h"

namespace jeffreys::python {

namespace py = pybind11;

void bind_tables(py::module_& module);
void bind_density(py::module_& module);
void bind_compare(py::module_& module);
void bind_prior(py::module_& module);
void bind_simulate(py::module_& module);
void bind_posterior(py::module_& module);
void bind_diagnostics(py::module_& module);
void bind_models(py::module_& module);
void bind_trainer(py::module_& module);

// An array that takes the vector over.
template <typename T>
py::array_t<T> to_array(std::vector<T> values) {
  auto kept = std::make_unique<std::vector<T>>(std::move(values));
  const auto size = static_cast<py::ssize_t>(kept->size());
  T* const data = kept->data();
  const py::capsule owner(kept.get(), [](void* p) { delete static_cast<std::vector<T>*>(p); });
  static_cast<void>(kept.release());
  return py::array_t<T>({size}, {static_cast<py::ssize_t>(sizeof(T))}, data, owner);
}

// A table of numbers; columns are called x1, x2, ... as in a file, unless they have names. Its
// first row is called by this number in messages.
Table numbers_table(const MatrixView<double>& values, std::vector<std::string> names,
                    const std::string& source, Eigen::Index first_row = 0);

// "main", "proxy" or nothing: the density's own choice. Throws std::invalid_argument for another.
std::optional<From> read_from(const std::optional<std::string>& from);

// A sentence of the library that names options of the program, with the arguments of Python
// instead.
std::string in_python(const std::string& text);

// Calls work() while other Python threads run.
template <typename Work>
auto without_gil(const Work& work) {
  const py::gil_scoped_release released;
  return work();
}

}  // namespace jeffreys::python

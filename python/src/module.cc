#include <fmt/format.h>

#include "jeffreys/base/input_error.h"
#include "jeffreys/version.h"
#include "python/src/binding.h"

namespace jeffreys::python {
namespace {

// What is wrong with a table from memory is in a row, counted from 0 as Python does; its columns
// have names. Files have lines.
std::string message(const InputError& error) {
  const bool from_memory = error.line() > 0 && error.column() == 0 &&
                           (error.file() == "X" || error.file() == "theta and x");
  if (!from_memory) return error.what();
  return fmt::format("{}, row {}: {}", error.file(), error.line() - 1, error.problem());
}

}  // namespace
}  // namespace jeffreys::python

PYBIND11_MODULE(_core, module) {
  using namespace jeffreys::python;
  module.doc() = "The library Jeffreys, as the package jeffreys uses it.";
  module.attr("version") = jeffreys::kVersion;
  // Callers know it as jeffreys.InputError. A wrong argument is one too.
  static PyObject* const input_error = PyErr_NewExceptionWithDoc(
      "jeffreys.InputError", "Data or arguments that cannot be used.", PyExc_ValueError, nullptr);
  module.attr("InputError") = py::reinterpret_borrow<py::object>(input_error);
  py::register_exception_translator([](std::exception_ptr problem) {
    try {
      if (problem) std::rethrow_exception(problem);
    } catch (const jeffreys::InputError& error) {
      PyErr_SetString(input_error, message(error).c_str());
    } catch (const std::invalid_argument& error) {
      PyErr_SetString(input_error, error.what());
    }
  });
  bind_tables(module);
  bind_density(module);
  bind_prior(module);
  bind_simulate(module);
  bind_posterior(module);
  bind_diagnostics(module);
  bind_models(module);
  bind_trainer(module);
}

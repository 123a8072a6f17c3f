#include <fmt/format.h>

#include <algorithm>

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

// The argument that an option of the program is in Python.
std::string argument_of(const std::string& option) {
  if (option == "resume") return "resume=True";
  if (option == "output") return "folder";
  if (option == "seed") return "random_state";
  if (option == "set") return "settings";
  if (option == "bound") return "bounds";
  std::string name = option;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

// What only makes sense to who writes C++.
std::string without_cpp(std::string text) {
  constexpr std::pair<const char*, const char*> kWords[] = {
      {"FarObservations::extrapolate", "extrapolate=True"},
      {"observed: row", "x: row"},
      {"SplineFlowOptions.", ""},
      {"ResidualEnergyOptions.", ""},
      {"FilmEnergyOptions.", ""}};
  for (const auto& [theirs, ours] : kWords) {
    const std::size_t place = text.find(theirs);
    if (place != std::string::npos) text.replace(place, std::string_view(theirs).size(), ours);
  }
  return text;
}

}  // namespace

std::string in_python(const std::string& original) {
  const std::string text = without_cpp(original);
  const auto belongs = [](char c) { return (c >= 'a' && c <= 'z') || c == '-'; };
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const bool begins = text.compare(i, 2, "--") == 0 && i + 2 < text.size() &&
                        belongs(text[i + 2]) && (i == 0 || text[i - 1] == ' ');
    if (!begins) {
      result += text[i++];
      continue;
    }
    std::size_t end = i + 2;
    while (end < text.size() && belongs(text[end])) ++end;
    result += argument_of(text.substr(i + 2, end - i - 2));
    i = end;
  }
  return result;
}

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
      PyErr_SetString(input_error, in_python(message(error)).c_str());
    } catch (const std::invalid_argument& error) {
      PyErr_SetString(input_error, in_python(error.what()).c_str());
    }
  });
  bind_tables(module);
  bind_density(module);
  bind_compare(module);
  bind_prior(module);
  bind_simulate(module);
  bind_posterior(module);
  bind_diagnostics(module);
  bind_models(module);
  bind_trainer(module);
}

#include "jeffreys/sbi/prior.h"

#include "python/src/binding.h"

namespace jeffreys::python {
namespace {

// (name, kind, mean, deviation, lower, upper)
using Description = std::tuple<std::string, std::string, double, double, double, double>;

Prior make_prior(const std::vector<Description>& described) {
  std::vector<Prior::Parameter> parameters;
  for (const auto& [name, kind, mean, deviation, lower, upper] : described) {
    parameters.push_back({name,
                          {.kind = parse_distribution_kind(kind),
                           .mean = mean,
                           .deviation = deviation,
                           .bounds = {lower, upper}}});
  }
  return Prior(std::move(parameters));
}

std::vector<Description> describe_parameters(const Prior& prior) {
  std::vector<Description> described;
  for (const auto& [name, d] : prior.parameters()) {
    described.emplace_back(name, name_of(d.kind), d.mean, d.deviation, d.bounds.lower,
                           d.bounds.upper);
  }
  return described;
}

}  // namespace

void bind_prior(py::module_& module) {
  py::class_<Prior>(module, "Prior")
      .def(py::init(&make_prior))
      .def_static("read", [](const std::string& path) { return Prior::read(path); })
      .def_property_readonly("parameters", &describe_parameters)
      .def_property_readonly("names", &Prior::names)
      .def("to_toml", &Prior::to_toml)
      .def("describe", &Prior::describe)
      .def("sample", &Prior::sample, py::arg("rows"), py::arg("seed"), py::arg("iteration") = 0,
           py::arg("first_row") = 0)
      .def("log_prob", &Prior::log_prob)
      .def("__eq__", [](const Prior& a, const Prior& b) { return a == b; });
}

}  // namespace jeffreys::python

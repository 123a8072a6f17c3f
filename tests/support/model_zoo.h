// Small models of every kind, for laws that hold for all of them.
#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "support/model_helpers.h"

namespace jeffreys::testing {

struct ZooModel {
  std::string name;
  std::function<std::unique_ptr<UnnormalizedDensity<float>>()> make;
};

inline void PrintTo(const ZooModel& model, std::ostream* stream) { *stream << model.name; }

inline ZooModel zoo_flow(const std::string& name, const SplineFlowOptions& options) {
  return {"Flow" + name, [options] {
            auto flow = std::make_unique<SplineFlow<float>>(options);
            add_parameter_noise<float>(*flow, 0.2, 1);
            return flow;
          }};
}

inline ZooModel zoo_residual(const std::string& name, const ResidualEnergyOptions& options) {
  return {"Residual" + name,
          [options] { return std::make_unique<ResidualEnergy<float>>(options); }};
}

inline ZooModel zoo_film(const std::string& name, const FilmEnergyOptions& options) {
  return {"Film" + name, [options] { return std::make_unique<FilmEnergy<float>>(options); }};
}

}  // namespace jeffreys::testing

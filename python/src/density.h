// A fitted density as Python holds it.
#pragma once

#include <tuple>

#include "jeffreys/fit/chosen_settings.h"
#include "python/src/binding.h"
#include "python/src/workers.h"

namespace jeffreys::python {

using DensityHandle = Threaded<TabularDensity<float>>;

// Settings as (key, value, what messages call it).
ChosenSettings chosen_settings(
    const std::vector<std::tuple<std::string, std::string, std::string>>& settings,
    const std::string& preset);

// The records of its training as columns: {"steps": {name: numbers}, "evaluations": ...}.
py::dict training_course(const TabularDensity<float>& density);

}  // namespace jeffreys::python

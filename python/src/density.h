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

SchemaOptions read_columns(const py::dict& given);

// One number for each row of the table, in its order; NaN for rows that have none.
py::array_t<double> by_row(const Vector<double>& values, const std::vector<std::size_t>& rows,
                           std::size_t all);

// The records of its training as columns: {"steps": {name: numbers}, "evaluations": ...}.
py::dict training_course(const TabularDensity<float>& density);

// Columns that are given, missing cells, synthetic tables.
void bind_given(py::class_<DensityHandle>& density);

}  // namespace jeffreys::python

// What is written down about a fit, as JSON texts: model files keep it, the program prints it, and
// the Python package shows it. Numbers that are not finite are null.
#pragma once

#include <string>

#include "jeffreys/fit/fit.h"

namespace jeffreys {

const char* name_of(StopReason reason);
const char* name_of(From from);

[[nodiscard]] std::string to_json(const MeanNll& nll);
[[nodiscard]] std::string to_json(const EnergyCheck& check);

// What came of the fit: rows, NLLs of the models, notes, warnings, verdict.
[[nodiscard]] std::string result_record(const PreparedTable& table, const FitReport& report);

// Every setting with its value, and whether it is the default for this table.
[[nodiscard]] std::string settings_record(const FitOptions& options, const FitOptions& defaults);

// All of it, with the name of the table, for TabularDensity::record. It does not depend on how many
// threads made the fit, nor on how long they took.
[[nodiscard]] std::string fit_record(const std::string& source, const PreparedTable& table,
                                     const FitOptions& options, const FitOptions& defaults,
                                     const FitReport& report);

}  // namespace jeffreys

// What a fit says at its end, for people and for programs.
#pragma once

#include <string>

#include "cli/command.h"
#include "jeffreys/fit/fit_record.h"

namespace jeffreys::cli {

// Plain lines, without a newline at the end.
std::string summary_text(const PreparedTable& table, const FitReport& report);

// What is known of an energy proxy's normaliser.
std::string energy_line(const EnergyCheck& check);
Json energy_json(const EnergyCheck& check);

Json nll_json(const MeanNll& nll);
Json summary_json(const PreparedTable& table, const FitReport& report);

// Every setting with its value, and whether it is the default for this table.
Json settings_json(const FitOptions& options, const FitOptions& defaults);

}  // namespace jeffreys::cli

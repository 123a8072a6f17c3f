// The folder of an experiment's results belongs to one set of settings at one scale.
#pragma once

#include <filesystem>
#include <optional>

#include "experiment/plan.h"

namespace jeffreys::experiment {

// Of an embedded experiment.
[[nodiscard]] Plan plan_of(const std::string& name);

// Writes experiment.toml into the folder, or throws InputError if that is already there with other
// settings or another scale: results that do not belong together must not meet in one table.
void claim_folder(const std::filesystem::path& folder, const Plan& plan, double scale);

// Nothing if it is no folder of results.
[[nodiscard]] std::optional<double> scale_of_folder(const std::filesystem::path& folder);

}  // namespace jeffreys::experiment

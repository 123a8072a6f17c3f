// What a method of a comparison means.
#pragma once

#include <cstdint>
#include <optional>

#include "fit/table_baseline.h"
#include "jeffreys/fit/chosen_settings.h"
#include "jeffreys/fit/compare.h"

namespace jeffreys {

// Nothing for a fit.
[[nodiscard]] std::optional<SimpleModel> simple_model(const CompareMethod& method);

// The settings of a fit with this seed: those of all fits, of its kind, and its own, in that order.
[[nodiscard]] ChosenSettings settings_of(const CompareMethod& method, const CompareOptions& options,
                                         std::uint64_t seed);

}  // namespace jeffreys

// Densities that take a second to fit, as models like any other.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "jeffreys/fit/models.h"
#include "jeffreys/table/encoded_rows.h"

namespace jeffreys {

// That of TableBaseline.
[[nodiscard]] AnyDensity<float> gaussian_model(const RowShape& shape, const EncodedRows& training);

// A mixture of Gaussians by expectation maximisation, stopped by the validation rows, which also
// choose the number of components. Nothing for rows with categories or conditions. on_step is
// called between the steps of the fit; what it throws ends it.
[[nodiscard]] std::optional<AnyDensity<float>> mixture_model(const RowShape& shape,
                                                             const EncodedRows& training,
                                                             const EncodedRows& validation,
                                                             std::uint64_t seed,
                                                             const std::function<void()>& on_step);

}  // namespace jeffreys

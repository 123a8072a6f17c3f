// Densities that take a second to fit, as models like any other. They know weights of rows and
// gaps.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "jeffreys/fit/models.h"
#include "jeffreys/table/encoded_rows.h"

namespace jeffreys {

// That of TableBaseline.
[[nodiscard]] AnyDensity<float> gaussian_model(const RowShape& shape, const EncodedRows& training);

struct FittedMixture {
  AnyDensity<float> density;
  std::size_t components;
};

// A mixture of Gaussians by expectation maximisation, stopped by the validation rows, which also
// choose the number of components unless it is given. With categories or conditions it is that of
// the residuals of a linear regression on them, times the frequencies of the classes. Gaps are
// filled first. Nothing for rows without numbers. on_step is called between the steps of the fit;
// what it throws ends it.
[[nodiscard]] std::optional<FittedMixture> mixture_model(
    const RowShape& shape, const EncodedRows& training, const EncodedRows& validation,
    std::uint64_t seed, const std::function<void()>& on_step = {}, std::size_t components = 0);

// The mixture of src/fit/gap_mixture.h, whose components have class probabilities of their own, so
// that they tell how categories and numbers hang together; gaps are left out of what it learns. It
// chooses its number of components by itself. Throws std::invalid_argument for rows with
// conditions.
[[nodiscard]] AnyDensity<float> class_mixture_model(const RowShape& shape,
                                                    const EncodedRows& training,
                                                    std::uint64_t seed);

}  // namespace jeffreys

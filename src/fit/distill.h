// One flow that learns what a mixture of several fits says: faster and smaller than the mixture,
// and a little worse.
#pragma once

#include <functional>

#include "jeffreys/evaluate/held_out.h"
#include "jeffreys/fit/member_fits.h"
#include "jeffreys/model/density_mixture.h"

namespace jeffreys {

struct Distilled {
  Fit fit;                // trained on draws and judged by nobody
  PairedDifference loss;  // log density of fresh draws by the mixture, less that by the flow
};

// The draws have the conditions of the table's training rows; those of some rows are held out.
// options_for: the options of a fit to so many rows. If it was interrupted, the fit says so.
[[nodiscard]] Distilled distill(const DensityMixture<float>& mixture, const PreparedTable& table,
                                const std::function<FitOptions(std::size_t rows)>& options_for,
                                const SpentOnMembers& spent, const FitRun& run);

}  // namespace jeffreys

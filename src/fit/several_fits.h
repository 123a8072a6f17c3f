// Several fits as one density: the mixture of their models and of simple ones, with the weights
// that rows give them which they have not seen.
//
// Each row is left out by two members: the first is stopped by it, the second is not, so that the
// difference between them tells how much stopping flatters (FitReport::optimism). Weights come from
// all rows; the held-out NLL of the mixture is that of rows under the weights of the other parts'
// rows.
#pragma once

#include "jeffreys/fit/fit_table.h"

namespace jeffreys {

// The rows have neither gaps nor weights.
[[nodiscard]] TableFit fit_several(FitPlan plan, int members, const FitRun& run);

}  // namespace jeffreys

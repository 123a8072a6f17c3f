// Several fits as one density: the mixture of their models and of simple ones, with the weights
// that rows give them which they have not seen.
//
// Each row is left out by two members: the first is stopped by it, the second is not, so that the
// difference between them tells how much stopping flatters (FitReport::optimism). Weights come from
// all rows; the held-out NLL of the mixture is that of rows under the weights of the other parts'
// rows. Where rows have weights of their own, all means are weighted by them; where they have gaps,
// each member fills these for itself, and a row is judged by the density of the cells that it has.
#pragma once

#include "jeffreys/fit/fit_table.h"

namespace jeffreys {

[[nodiscard]] TableFit fit_several(FitPlan plan, int members, const FitRun& run);

}  // namespace jeffreys

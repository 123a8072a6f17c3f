// What can be said about a fit once it is done: NLLs against the baseline, diagnostics, warnings
// and a verdict in plain words.
#pragma once

#include "jeffreys/tabular/fit.h"

namespace jeffreys {

void assess(const PreparedTable& table, const FitOptions& options,
            const TabularDensity<float>& density, FitReport& report);

}  // namespace jeffreys

// What can be said about a fit once it is done: NLLs against the baseline, diagnostics, warnings
// and a verdict in plain words.
#pragma once

#include "jeffreys/fit/fit.h"

namespace jeffreys {

// held_out: log densities of the held-out rows, in the user's units, where others than the main
// model judge them; empty: the main model does.
void assess(const PreparedTable& table, const TabularDensity<float>& density, FitReport& report,
            const Vector<double>& held_out = {});

}  // namespace jeffreys

#pragma once

#include "jeffreys/model/spline_flow.h"
#include "jeffreys/random_purpose.h"

namespace jeffreys {

// The validated options with every transform's order filled in.
SplineFlowOptions with_orders(const SplineFlowOptions& options);

}  // namespace jeffreys

#pragma once

#include "jeffreys/base/random_purpose.h"
#include "jeffreys/model/spline_flow.h"

namespace jeffreys {

// The validated options with every transform's order filled in.
SplineFlowOptions with_orders(const SplineFlowOptions& options);

}  // namespace jeffreys

// Coordinates without ends for values of a distribution.
//
// Between two ends, with u the share of the way: sqrt(12) (u - 1/2) + 0.1 log(u / (1 - u)). Nearly
// a difference of values everywhere but at the ends, so that shapes keep their form: normal scores,
// which bend everywhere, made flows worse (docs/sbi.md). Much less of the logarithm would let a
// flow's smallest spill pile up at the ends. Without two ends it is the normal score, which is
// linear for a normal distribution and a logarithm for a log_normal one.
#pragma once

#include "jeffreys/data/distribution.h"

namespace jeffreys {

// Infinite at the ends of the support and beyond.
double free_coordinate(const Distribution& distribution, double value);
// Strictly inside the support, for every number; NaN for NaN.
double from_free_coordinate(const Distribution& distribution, double coordinate);
// log d coordinate / d value, for a value strictly inside the support.
double log_coordinate_slope(const Distribution& distribution, double value);

}  // namespace jeffreys

// Rows that are closer to those which were learned from than new rows are.
#pragma once

#include "jeffreys/fit/synthetic_check.h"

namespace jeffreys {

// A probability below which chance explains nothing.
inline constexpr double kUnlikely = 0.001;

// encoded rows: those of the three tables; training may be `real` itself.
[[nodiscard]] ClosestRows closest_rows(const Schema& schema, const Schema::Encoded& real,
                                       const Schema::Encoded& synthetic,
                                       const Schema::Encoded& training);

// Whether copies and close rows are more than chance explains.
[[nodiscard]] bool has_copies(const Schema& schema, const ClosestRows& closest);

// The probability that of `drawn` rows, which are drawn from `marked` and `others` at random, at
// least `found` are marked.
[[nodiscard]] double hypergeometric_tail(std::size_t found, std::size_t drawn, std::size_t marked,
                                         std::size_t others);

}  // namespace jeffreys

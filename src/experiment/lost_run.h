// A run that is lost: its models are so far from the data, for so long, that they will not come
// back. To train it to its end would cost time and show nothing new.
#pragma once

#include "experiment/run_file.h"

namespace jeffreys::experiment {

// What is lost at the end of the curve: the first point from which on the Jeffreys divergence of
// the main model was always above the rule's, or not finite. Nothing if that is not long enough
// ago.
[[nodiscard]] std::optional<std::int64_t> lost_since(const Curve& curve, const LostRule& rule);

// The same of a run that may have gone on: at the first moment at which the rule would have
// stopped it.
[[nodiscard]] std::optional<std::int64_t> first_lost(const Curve& curve, const LostRule& rule);

}  // namespace jeffreys::experiment

// The level below which a p-value counts as a finding.
#pragma once

#include <fmt/format.h>

#include <stdexcept>

namespace jeffreys {

inline void check_significance(double significance) {
  if (!(significance > 0 && significance < 1)) {
    throw std::invalid_argument(
        fmt::format("significance: expected more than 0 and less than 1, got {}", significance));
  }
}

}  // namespace jeffreys

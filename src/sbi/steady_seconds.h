#pragma once

#include <chrono>

namespace jeffreys {

// For differences: no change of the date disturbs it.
inline double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace jeffreys

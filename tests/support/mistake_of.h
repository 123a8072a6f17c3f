#pragma once

#include <functional>
#include <stdexcept>
#include <string>

namespace jeffreys::testing {

// What the std::invalid_argument says that the call throws; "none" if it throws nothing.
inline std::string mistake_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "none";
}

}  // namespace jeffreys::testing

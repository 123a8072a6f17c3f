#pragma once

#include <functional>
#include <stdexcept>
#include <string>

namespace jeffreys::testing {

// What the exception of any kind says that the call throws; "none" if it throws nothing.
inline std::string refusal_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "none";
}

}  // namespace jeffreys::testing

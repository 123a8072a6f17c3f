#pragma once

namespace jeffreys {

// As in CMakeLists.txt.
inline constexpr const char* kVersion = "0.1.0";

}  // namespace jeffreys

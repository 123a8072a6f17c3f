// Purposes of the random numbers of fitted tables; training counts from 1, models from 0xff00.
#pragma once

#include <cstdint>

namespace jeffreys {

inline constexpr std::uint16_t kTableSamples = 0x100;
inline constexpr std::uint16_t kRowZeta = 0x101;
inline constexpr std::uint16_t kFinalZeta = 0x102;

}  // namespace jeffreys

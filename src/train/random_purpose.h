// Purposes of the random numbers that training draws; models count their own from 0xff00.
#pragma once

#include <cstdint>

namespace jeffreys {

inline constexpr std::uint16_t kShuffle = 1;  // order of the rows; iteration = epoch
inline constexpr std::uint16_t kReverseSamples = 2;
inline constexpr std::uint16_t kZetaSamples = 3;
inline constexpr std::uint16_t kDataNoise = 4;
inline constexpr std::uint16_t kWarmStart = 5;
inline constexpr std::uint16_t kValidation = 6;

}  // namespace jeffreys

// Purposes of the random numbers that evaluation draws, beside those of data (from 0xfd00) and of
// models (from 0xff00).
#pragma once

#include <cstdint>

namespace jeffreys {

inline constexpr std::uint16_t kMixtureStart = 0xfc00;  // iteration = number of the attempt
inline constexpr std::uint16_t kMixturePart = 0xfc01;
inline constexpr std::uint16_t kMixtureNoise = 0xfc02;

}  // namespace jeffreys

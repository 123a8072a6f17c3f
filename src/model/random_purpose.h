// Purposes of random numbers that models draw for themselves. Callers count RandomStream::purpose
// from 0, so these stand at the upper end.
#pragma once

#include <cstdint>

namespace jeffreys {

inline constexpr std::uint16_t kInitialWeights = 0xff00;
inline constexpr std::uint16_t kRandomOrder = 0xff01;
inline constexpr std::uint16_t kSpectralStart = 0xff02;
inline constexpr std::uint16_t kLangevinNoise = 0xff03;
inline constexpr std::uint16_t kMetropolis = 0xff04;

}  // namespace jeffreys

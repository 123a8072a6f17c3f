// Purposes of the random numbers of simulation-based inference; training counts from 1, fitted
// tables from 0x100, models from 0xff00.
#pragma once

#include <cstdint>

namespace jeffreys {

inline constexpr std::uint16_t kPriorSamples = 0x300;
inline constexpr std::uint16_t kPosteriorDraws = 0x301;
inline constexpr std::uint16_t kCommitteeOutcomes = 0x302;
inline constexpr std::uint16_t kCommitteeChoice = 0x303;

}  // namespace jeffreys

// Purposes of the random numbers that evaluation draws, beside those of data (from 0xfd00) and of
// models (from 0xff00).
#pragma once

#include <cstdint>

namespace jeffreys {

inline constexpr std::uint16_t kMixtureStart = 0xfc00;  // iteration = number of the attempt
inline constexpr std::uint16_t kMixturePart = 0xfc01;
inline constexpr std::uint16_t kMixtureNoise = 0xfc02;
inline constexpr std::uint16_t kNetworkStart = 0xfc10;  // iteration = number, row = layer
inline constexpr std::uint16_t kBatchOrder = 0xfc11;    // iteration = number and epoch
inline constexpr std::uint16_t kFoldOrder = 0xfc12;
inline constexpr std::uint16_t kSpreadRanks = 0xfc20;
inline constexpr std::uint16_t kReferencePoint = 0xfc21;
inline constexpr std::uint16_t kTies = 0xfc22;  // column = parameter, then density and distance

}  // namespace jeffreys

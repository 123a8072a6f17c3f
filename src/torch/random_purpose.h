// Purposes of the random numbers of adversarial training; fitted tables count from 0x100.
#pragma once

#include <cstdint>

namespace jeffreys {

inline constexpr std::uint16_t kCriticNoise = 0x200;  // iteration = critic step
inline constexpr std::uint16_t kMixing = 0x201;
inline constexpr std::uint16_t kBatchRows = 0x202;
inline constexpr std::uint16_t kGeneratorNoise = 0x203;  // iteration = generator step

}  // namespace jeffreys

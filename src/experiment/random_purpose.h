// Purposes of the experiments' random numbers; see the other rooms' for theirs.
#pragma once

#include <cstdint>

namespace jeffreys::experiment {

inline constexpr std::uint16_t kEvaluationSamples = 0x200;
inline constexpr std::uint16_t kCategoryNoise = 0x201;
inline constexpr std::uint16_t kPosteriorSamples = 0x202;
inline constexpr std::uint16_t kLangevinStart = 0x203;

}  // namespace jeffreys::experiment

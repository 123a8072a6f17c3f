// Purposes of the random numbers that the data room draws for itself, beside those of the models.
#pragma once

#include <cstdint>

namespace jeffreys {

inline constexpr std::uint16_t kSplitPurpose = 0xfd00;
inline constexpr std::uint16_t kDequantizePurpose = 0xfd01;
inline constexpr std::uint16_t kPartsPurpose = 0xfd02;

}  // namespace jeffreys

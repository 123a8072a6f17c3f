// The digits of numbers as people write them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace jeffreys {

// The number as programs write it, from one with this decimal sign and this between groups of three
// digits before it. Nothing if a group has another size; a number may have no groups at all. Does
// not check the digits themselves.
std::optional<std::string> plain_digits(std::string_view text, char decimal,
                                        std::string_view grouping);

// Digits after the decimal sign, less the exponent. Zero for whole numbers.
int count_decimals(std::string_view text, char decimal);

}  // namespace jeffreys

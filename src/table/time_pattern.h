// Dates and times by patterns as of strftime. Known are %Y %y %m %d %b %B %H %I %M %S %p %z, with
// the flags - (without leading zeros) and ^ (capitals); everything else stands for itself.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jeffreys/table/notation.h"

namespace jeffreys {

// In the pattern's unit. Numbers may lack leading zeros, seconds may have a fraction.
std::optional<double> read_time(std::string_view pattern, std::string_view cell);

std::string write_time(std::string_view pattern, double value, int decimals);

Unit unit_of_pattern(std::string_view pattern);
bool has_date(std::string_view pattern);

// Every pattern that the cell may be written in, the likeliest first.
std::vector<std::string> patterns_of(std::string_view cell);

// The pattern with the flags by which most of these cells are written as they are.
std::string with_flags(const std::string& pattern, const std::vector<std::string_view>& cells,
                       int decimals);

}  // namespace jeffreys

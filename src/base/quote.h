#pragma once

#include <string>
#include <string_view>

namespace jeffreys {

// Text from a file, fit for an error message: in quotes, control characters escaped, invalid UTF-8
// replaced, cut when long.
std::string quote(std::string_view text);

}  // namespace jeffreys

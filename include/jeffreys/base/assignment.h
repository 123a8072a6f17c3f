#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace jeffreys {

// Which '=' counts, where a text has several: the first if the value may have one, the last if the
// name may.
enum class Equals { first, last };

// Name and value of a text NAME=VALUE. Throws std::invalid_argument, "ORIGIN: expected FORM, got
// 'TEXT'", without an '=' or a name.
[[nodiscard]] std::pair<std::string, std::string> split_assignment(const std::string& text,
                                                                   std::string_view origin,
                                                                   std::string_view form,
                                                                   Equals equals = Equals::first);

}  // namespace jeffreys

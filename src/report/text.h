// Texts of callers, before they reach a picture or a page.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace jeffreys::report {

// The text with everything replaced that is not UTF-8, or that XML forbids: control characters
// (but not line feeds) by spaces, the rest by "\uFFFD" or "?".
std::string clean(std::string_view text);

// The first `most` characters of a valid text, and "…" if there are more.
std::string cut(const std::string& text, std::size_t most);

// How many characters a text has.
std::size_t letters_in(std::string_view text);

}  // namespace jeffreys::report

#pragma once

#include <string>

namespace jeffreys::report {

// The text of an SVG file as an element of a page: without what belongs to a file of its own, with
// names of its parts that begin with `prefix` and are thus unique on the page, described by `alt`.
// Throws std::invalid_argument for what is not one SVG element with a width and a height.
std::string svg_element(const std::string& svg, const std::string& prefix, const std::string& alt);

}  // namespace jeffreys::report

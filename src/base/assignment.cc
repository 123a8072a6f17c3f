#include "jeffreys/base/assignment.h"

#include <fmt/format.h>

#include <stdexcept>

namespace jeffreys {

std::pair<std::string, std::string> split_assignment(const std::string& text,
                                                     std::string_view origin, std::string_view form,
                                                     Equals equals) {
  const std::size_t place = equals == Equals::first ? text.find('=') : text.rfind('=');
  if (place == std::string::npos || place == 0) {
    throw std::invalid_argument(fmt::format("{}: expected {}, got '{}'", origin, form, text));
  }
  return {text.substr(0, place), text.substr(place + 1)};
}

}  // namespace jeffreys

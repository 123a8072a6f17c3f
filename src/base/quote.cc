#include "base/quote.h"

#include <nlohmann/json.hpp>

namespace jeffreys {

std::string quote(std::string_view text) {
  constexpr std::size_t kLongest = 100;
  using Json = nlohmann::json;
  const bool cut = text.size() > kLongest;
  const Json shown(std::string(text.substr(0, kLongest)) + (cut ? "..." : ""));
  return shown.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace jeffreys

#include "report/text.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace jeffreys::report {
namespace {

// JSON's writer is a strict judge of UTF-8.
std::string valid_utf8(std::string_view text) {
  using Json = nlohmann::json;
  const std::string encoded =
      Json(std::string(text)).dump(-1, ' ', false, Json::error_handler_t::replace);
  return Json::parse(encoded).get<std::string>();
}

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

}  // namespace

std::string clean(std::string_view text) {
  std::string result;
  const std::string valid = valid_utf8(text);
  for (std::size_t i = 0; i < valid.size(); ++i) {
    const char c = valid[i];
    const std::string_view rest = std::string_view(valid).substr(i, 3);
    if (rest == "\xef\xbf\xbe" || rest == "\xef\xbf\xbf") {  // valid, but not allowed in XML
      result += "?";
      i += 2;
    } else if ((static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7f) {
      result += ' ';
    } else {
      result += c;
    }
  }
  return result;
}

std::string cut(const std::string& text, std::size_t most) {
  std::size_t characters = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (begins_character(text[i]) && ++characters > most) return text.substr(0, i) + "…";
  }
  return text;
}

std::size_t letters_in(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

}  // namespace jeffreys::report

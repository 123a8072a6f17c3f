#include "table/number_text.h"

#include <algorithm>
#include <charconv>

namespace jeffreys {
namespace {

constexpr std::string_view kDigits = "0123456789";

}  // namespace

std::optional<std::string> plain_digits(std::string_view text, char decimal,
                                        std::string_view grouping) {
  std::string plain;
  std::size_t group = 0;
  bool groups = false;
  std::size_t i = 0;
  for (; i < text.size(); ++i) {
    if (text[i] >= '0' && text[i] <= '9') {
      plain += text[i];
      ++group;
      continue;
    }
    if (grouping.empty() || !text.substr(i).starts_with(grouping)) break;
    if (group == 0 || group > 3 || (groups && group != 3)) return std::nullopt;
    groups = true;
    group = 0;
    i += grouping.size() - 1;
  }
  if (groups && (group != 3 || plain.starts_with('0'))) return std::nullopt;
  // Who writes 8.337e-07 means no thousands.
  if (groups && text.find_first_of("eE", i) != std::string_view::npos) return std::nullopt;
  if (i == text.size()) return plain;
  if (text[i] == decimal) {
    plain += '.';
    ++i;
  } else if (text[i] != 'e' && text[i] != 'E') {
    return std::nullopt;
  }
  const std::string_view rest = text.substr(i);
  if (rest.find_first_not_of("0123456789eE+-") != std::string_view::npos) return std::nullopt;
  return plain.append(rest);
}

int count_decimals(std::string_view text, char decimal) {
  const std::size_t point = text.find(decimal);
  const std::size_t mark = text.find_first_of("eE");
  int digits = 0;
  if (point != std::string_view::npos) {
    const std::string_view after = text.substr(point + 1);
    digits = static_cast<int>(std::min(after.find_first_not_of(kDigits), after.size()));
  }
  if (mark == std::string_view::npos) return digits;
  int exponent = 0;
  const char* first = text.data() + mark + 1;
  if (mark + 1 < text.size() && *first == '+') ++first;
  std::from_chars(first, text.data() + text.size(), exponent);
  return std::max(0, digits - std::clamp(exponent, -400, 400));
}

}  // namespace jeffreys

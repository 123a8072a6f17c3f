#include "base/cell.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <system_error>

#include "fast_float/fast_float.h"

namespace jeffreys {

CellKind read_cell(std::string_view cell, double& number) {
  constexpr std::array<std::string_view, 7> kMissing{"", "NA", "N/A", "NaN", "nan", "null", "?"};
  const char* first = cell.data();
  const char* last = first + cell.size();
  // fast_float takes no plus sign.
  if (cell.size() > 1 && cell[0] == '+' && cell[1] != '-') ++first;
  double value = 0;
  const auto result = fast_float::from_chars(first, last, value);
  if (!cell.empty() && result.ptr == last && result.ec != std::errc::invalid_argument) {
    if (std::isnan(value)) return CellKind::missing;
    number = value;
    return CellKind::number;
  }
  const bool missing = std::find(kMissing.begin(), kMissing.end(), cell) != kMissing.end();
  return missing ? CellKind::missing : CellKind::text;
}

bool LabelLess::operator()(const std::string& a, const std::string& b) const {
  double number_a = 0;
  double number_b = 0;
  const bool text_a = read_cell(a, number_a) != CellKind::number;
  const bool text_b = read_cell(b, number_b) != CellKind::number;
  if (text_a != text_b) return text_b;
  if (!text_a && number_a != number_b) return number_a < number_b;
  return a < b;
}

bool is_utf8(const std::string& text) {
  using Json = nlohmann::json;
  try {
    (void)Json(text).dump(-1, ' ', false, Json::error_handler_t::strict);
  } catch (const Json::type_error&) {
    return false;
  }
  return true;
}

}  // namespace jeffreys

#include "jeffreys/table/notation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <stdexcept>
#include <vector>

#include "base/cell.h"
#include "base/quote.h"
#include "table/number_text.h"
#include "table/time_pattern.h"

namespace jeffreys {
namespace {

constexpr std::string_view kMinus = "\u2212";

bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// Whether there was a sign, which goes to `negative`.
bool take_sign(std::string_view& text, bool& negative) {
  if (take(text, "-") || take(text, kMinus)) {
    negative = true;
    return true;
  }
  return take(text, "+");
}

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// 1234567.8 as 1,234,567.8
std::string grouped(const std::string& digits, const std::string& grouping) {
  const std::size_t whole = std::min(digits.find_first_not_of("0123456789"), digits.size());
  std::string text;
  for (std::size_t i = 0; i < whole; ++i) {
    if (i > 0 && (whole - i) % 3 == 0) text += grouping;
    text += digits[i];
  }
  return text + digits.substr(whole);
}

}  // namespace

bool Notation::is_time_of_day() const { return is_time() && !has_date(pattern); }

bool Notation::is_plain() const {
  return pattern.empty() && prefix.empty() && suffix.empty() && decimal == '.' &&
         grouping.empty() && !parentheses;
}

Unit Notation::unit() const { return is_time() ? unit_of_pattern(pattern) : Unit::number; }

std::optional<double> Notation::read(std::string_view cell) const {
  cell = without_blanks(cell);
  if (is_time()) return read_time(pattern, cell);
  double number = 0;
  if (is_plain()) {
    return read_cell(cell, number) == CellKind::number ? std::optional(number) : std::nullopt;
  }
  bool negative = false;
  bool sign = take_sign(cell, negative);
  if (!sign && parentheses && cell.size() > 2 && cell.front() == '(' && cell.back() == ')') {
    cell = cell.substr(1, cell.size() - 2);
    sign = negative = true;
  }
  if (!take(cell, prefix) || !cell.ends_with(suffix)) return std::nullopt;
  cell.remove_suffix(suffix.size());
  if (!sign && !prefix.empty()) take_sign(cell, negative);
  if (cell.empty() || cell.front() < '0' || cell.front() > '9') return std::nullopt;
  const std::optional<std::string> digits = plain_digits(cell, decimal, grouping);
  if (!digits || read_cell(*digits, number) != CellKind::number) return std::nullopt;
  return negative ? -number : number;
}

void Notation::make_room_for(double number) {
  if (is_time() || !std::isfinite(number) || round(number) == number) return;
  decimals = -1;
  fixed = false;
  exponent = '\0';
}

double Notation::round(double number) const {
  if (exponent != '\0' && std::isfinite(number)) {
    return std::strtod(fmt::format("{:.{}e}", number, mantissa).c_str(), nullptr) + 0.0;
  }
  if (decimals < 0 || !std::isfinite(number)) return number;
  const double power = std::pow(10.0, decimals);
  constexpr double kExact = 0x1p53;
  if (std::abs(number) * power >= kExact) return number;
  // Adding 0 turns -0 into 0.
  return std::round(number * power) / power + 0.0;
}

std::string Notation::write(double number) const {
  if (std::isnan(number)) return {};
  if (is_time()) return write_time(pattern, number, decimals);
  number += 0.0;
  if (is_plain() && !fixed && width == 0 && exponent == '\0') return fmt::format("{}", number);
  const double size = std::abs(number);
  std::string digits = fmt::format("{}", size);
  if (exponent != '\0') {
    digits = fmt::format("{:.{}e}", size, mantissa);
    digits[digits.find('e')] = exponent;
  } else if (fixed || (decimals >= 0 && digits.find('e') != std::string::npos)) {
    digits = fmt::format("{:.{}f}", size, std::max(decimals, 0));
  }
  if (width > 0) digits = fmt::format("{:0>{}}", digits, width);
  if (decimal != '.') std::replace(digits.begin(), digits.end(), '.', decimal);
  if (!grouping.empty()) digits = grouped(digits, grouping);
  const std::string text = prefix + digits + suffix;
  if (!(number < 0)) return text;
  return parentheses ? "(" + text + ")" : "-" + text;
}

std::string Notation::describe() const {
  if (is_time()) {
    constexpr std::array kUnits{"numbers", "days", "seconds", "months"};
    const char* unit = kUnits[static_cast<std::size_t>(this->unit())];
    return is_time_of_day()
               ? fmt::format("holds times ({}), which are {} since midnight", pattern, unit)
               : fmt::format("holds dates ({}), which are {} since 1970", pattern, unit);
  }
  std::vector<std::string> parts;
  if (decimal != '.') parts.emplace_back("decimal commas");
  if (!grouping.empty()) {
    parts.push_back(
        fmt::format("{} between thousands", grouping == "," || grouping == "." || grouping == "'"
                                                ? quote(grouping)
                                                : std::string("blanks")));
  }
  if (!prefix.empty()) parts.push_back(quote(prefix) + " before them");
  if (!suffix.empty()) parts.push_back(quote(suffix) + " behind them");
  if (parentheses) parts.emplace_back("parentheses around negative ones");
  if (parts.empty()) return {};
  std::string text = "holds numbers with ";
  for (std::size_t i = 0; i < parts.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == parts.size() ? " and " : ", ") + parts[i];
  }
  return text;
}

void Notation::validate() const {
  constexpr int kMost = 17;
  constexpr int kMostOfMantissa = 30;
  constexpr std::size_t kLongest = 64;
  constexpr std::array<std::string_view, 7> kGroupings{"", ",", ".", " ", "'", "\u00a0", "\u202f"};
  const bool known = std::find(kGroupings.begin(), kGroupings.end(), grouping) != kGroupings.end();
  if ((decimal != '.' && decimal != ',') || !known || grouping == std::string(1, decimal)) {
    throw std::invalid_argument("notation: the decimal sign or the grouping is none");
  }
  if (decimals < -1 || decimals > kMost || width < 0 || width > kMost ||
      pattern.size() > kLongest || prefix.size() > kLongest || suffix.size() > kLongest) {
    throw std::invalid_argument("notation: too many digits, or too long a text");
  }
  if ((exponent != '\0' && exponent != 'e' && exponent != 'E') || mantissa < 0 ||
      mantissa > kMostOfMantissa) {
    throw std::invalid_argument("notation: the exponent is none, or has too many digits before it");
  }
  if (is_time() && !read_time(pattern, write_time(pattern, 0, std::max(decimals, 0)))) {
    throw std::invalid_argument("notation: the pattern is none of a date or time");
  }
}

}  // namespace jeffreys

#include "table/find_notation.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/cell.h"
#include "table/number_text.h"
#include "table/time_pattern.h"

namespace jeffreys {
namespace {

constexpr std::size_t kProposers = 30;  // cells that say which notations there may be
constexpr double kNearlyAllCells = 0.9;
constexpr int kMostCounted = 15;  // more are the rounding of computers

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_currency(std::string_view text) {
  constexpr std::array<std::string_view, 24> kSymbols{
      "$",  "€",   "£",  "¥",  "₹",  "₽",   "₩",   "₺",  "₪",  "₫",  "฿",  "₴",
      "R$", "US$", "A$", "C$", "kr", "kr.", "Fr.", "zł", "Kč", "Ft", "Rp", "RM"};
  const bool code = text.size() == 3 && std::all_of(text.begin(), text.end(),
                                                    [](char c) { return c >= 'A' && c <= 'Z'; });
  return code || std::find(kSymbols.begin(), kSymbols.end(), text) != kSymbols.end();
}

std::string_view without_blank(std::string_view text) {
  for (const std::string_view blank : {" ", "\u00a0", "\u202f"}) {
    if (text.starts_with(blank)) text.remove_prefix(blank.size());
    if (text.ends_with(blank)) text.remove_suffix(blank.size());
  }
  return text;
}

// "%", a currency, or a unit: a few letters and signs.
bool is_suffix(std::string_view text) {
  constexpr std::size_t kLongest = 10;
  const std::string_view unit = without_blank(text);
  if (unit.empty() || unit.size() > kLongest) return false;
  if (is_currency(unit)) return true;
  const bool half = unit == "AM" || unit == "PM" || unit == "am" || unit == "pm";
  return !half && std::all_of(unit.begin(), unit.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '%' || c == '/' ||
           static_cast<unsigned char>(c) >= 0x80;
  });
}

struct Affixes {
  std::string_view prefix;
  std::string_view suffix;
  bool parentheses = false;

  bool operator==(const Affixes&) const = default;
};

// What is around the digits of a cell; nothing if that is no notation.
std::optional<Affixes> affixes_of(std::string_view cell) {
  static constexpr std::string_view kLongMinus = "\u2212";
  Affixes found;
  const auto strip_sign = [](std::string_view& text) {
    if (text.starts_with('-') || text.starts_with('+')) {
      text.remove_prefix(1);
    } else if (text.starts_with(kLongMinus)) {
      text.remove_prefix(kLongMinus.size());
    }
  };
  if (cell.size() > 2 && cell.front() == '(' && cell.back() == ')') {
    found.parentheses = true;
    cell = cell.substr(1, cell.size() - 2);
  }
  strip_sign(cell);
  const auto first = std::find_if(cell.begin(), cell.end(), is_digit) - cell.begin();
  if (static_cast<std::size_t>(first) == cell.size()) return std::nullopt;
  found.prefix = cell.substr(0, static_cast<std::size_t>(first));
  if (found.prefix.ends_with('-')) found.prefix.remove_suffix(1);
  if (!found.prefix.empty() && !is_currency(without_blank(found.prefix))) return std::nullopt;
  std::size_t end = cell.size();
  while (!is_digit(cell[end - 1])) --end;
  found.suffix = cell.substr(end);
  if (!found.suffix.empty() && !is_suffix(found.suffix)) return std::nullopt;
  return found;
}

// Every way to write numbers with these affixes, plainer ones first.
std::vector<Notation> ways_of(const Affixes& affixes) {
  std::vector<Notation> ways;
  const auto add = [&](char decimal, std::string_view grouping) {
    ways.push_back({.prefix = std::string(affixes.prefix),
                    .suffix = std::string(affixes.suffix),
                    .decimal = decimal,
                    .grouping = std::string(grouping),
                    .parentheses = affixes.parentheses});
  };
  add('.', "");
  add(',', "");
  add('.', ",");
  add(',', ".");
  for (const std::string_view grouping : {" ", "'", "\u00a0", "\u202f"}) {
    add('.', grouping);
    add(',', grouping);
  }
  return ways;
}

std::size_t count_read(const Notation& notation, const std::vector<std::string_view>& cells) {
  return static_cast<std::size_t>(std::count_if(
      cells.begin(), cells.end(), [&](auto cell) { return notation.read(cell).has_value(); }));
}

std::vector<Notation> number_ways(const std::vector<std::string_view>& cells) {
  std::vector<Affixes> seen;
  std::vector<Notation> ways;
  for (std::size_t i = 0; i < std::min(kProposers, cells.size()); ++i) {
    auto affixes = affixes_of(cells[i]);
    if (!affixes) continue;
    // Some are negative and some are not.
    if (affixes->parentheses) std::erase(seen, Affixes{affixes->prefix, affixes->suffix, false});
    if (std::find_if(seen.begin(), seen.end(), [&](const Affixes& a) {
          return a.prefix == affixes->prefix && a.suffix == affixes->suffix &&
                 a.parentheses >= affixes->parentheses;
        }) != seen.end()) {
      continue;
    }
    seen.push_back(*affixes);
  }
  for (const Affixes& affixes : seen) {
    const std::vector<Notation> more = ways_of(affixes);
    ways.insert(ways.end(), more.begin(), more.end());
  }
  return ways;
}

std::vector<Notation> time_ways(const std::vector<std::string_view>& cells) {
  std::vector<Notation> ways;
  for (std::size_t i = 0; i < std::min(kProposers, cells.size()); ++i) {
    for (std::string& pattern : patterns_of(cells[i])) {
      const Notation way{.pattern = std::move(pattern)};
      if (std::find(ways.begin(), ways.end(), way) == ways.end()) ways.push_back(way);
    }
  }
  return ways;
}

// Whether both read these cells, but not all as the same numbers.
bool read_apart(const Notation& a, const Notation& b, const std::vector<std::string_view>& cells) {
  if (a.unit() != b.unit() || a.prefix != b.prefix || a.suffix != b.suffix) return false;
  return std::any_of(cells.begin(), cells.end(),
                     [&](std::string_view cell) { return a.read(cell) != b.read(cell); });
}

// Of two that read as many cells, whether the later one is meant.
bool is_likelier(const Notation& later, const Notation& earlier, const CommaHint& hint) {
  const bool comma_or_groups = earlier.decimal == ',' && earlier.grouping.empty() &&
                               later.decimal == '.' && later.grouping == ",";
  if (comma_or_groups) return !hint.decimal_comma && (hint.decimal_point || !hint.semicolons);
  const bool point_or_groups = earlier.decimal == '.' && earlier.grouping.empty() &&
                               later.decimal == ',' && later.grouping == ".";
  return point_or_groups && hint.decimal_comma;
}

// All cells are plain numbers; but 1.234 and 567 may also be 1234 and 567.
FoundNotation plain_or_grouped(const std::vector<std::string_view>& cells, const CommaHint& hint) {
  const Notation plain;
  const Notation grouped{.decimal = ',', .grouping = "."};
  const bool both = std::all_of(cells.begin(), cells.end(), [&](std::string_view cell) {
    return grouped.read(cell).has_value();
  });
  if (!both || !read_apart(plain, grouped, cells)) return {plain};
  return hint.decimal_comma ? FoundNotation{grouped, plain} : FoundNotation{plain, grouped};
}

}  // namespace

std::optional<FoundNotation> find_notation(const std::vector<std::string_view>& cells,
                                           const CommaHint& hint) {
  if (cells.empty()) return std::nullopt;
  const Notation plain;
  if (count_read(plain, cells) == cells.size()) return plain_or_grouped(cells, hint);
  std::vector<Notation> ways = number_ways(cells);
  const std::vector<Notation> times = time_ways(cells);
  ways.insert(ways.end(), times.begin(), times.end());
  std::optional<FoundNotation> best;
  std::size_t most = 0;
  for (Notation& way : ways) {
    const std::size_t count = count_read(way, cells);
    if (best && count == most && read_apart(way, best->notation, cells)) {
      if (is_likelier(way, best->notation, hint)) std::swap(way, best->notation);
      if (!best->other) best->other = std::move(way);
    }
    if (count <= most) continue;
    most = count;
    best = FoundNotation{std::move(way)};
  }
  if (!best || static_cast<double>(most) < kNearlyAllCells * static_cast<double>(cells.size())) {
    return std::nullopt;
  }
  if (best->notation.is_time()) {
    DigitCounter digits;
    for (const std::string_view cell : cells) digits.add(cell, best->notation);
    digits.finish(best->notation);
    best->notation.pattern = with_flags(best->notation.pattern, cells, best->notation.decimals);
  }
  return best;
}

bool has_notation(std::string_view cell) {
  double number = 0;
  if (read_cell(cell, number) == CellKind::number) return true;
  if (std::none_of(cell.begin(), cell.end(), is_digit)) return false;
  if (const auto affixes = affixes_of(cell)) {
    for (const Notation& way : ways_of(*affixes)) {
      if (way.read(cell)) return true;
    }
  }
  return !patterns_of(cell).empty();
}

// As programs write exponents: e-05, E+12.
void DigitCounter::add_exponent(std::string_view digits, char decimal) {
  const std::size_t mark = std::min(digits.find_first_of("eE"), digits.size());
  const std::string_view behind = digits.substr(std::min(mark + 1, digits.size()));
  const bool usual = behind.size() > 2 && (behind[0] == '+' || behind[0] == '-');
  const int mantissa = count_decimals(digits.substr(0, mark), decimal);
  const bool first = mantissa_ < 0;
  if (first && usual) exponent_ = digits[mark];
  if (first) mantissa_ = mantissa;
  if (!usual || digits[mark] != exponent_ || mantissa != mantissa_) exponent_ = '\0';
}

void DigitCounter::add(std::string_view cell, const Notation& notation) {
  if (!notation.is_time()) {
    const std::size_t first = std::min(cell.find_first_of("0123456789"), cell.size());
    add_exponent(cell.substr(first), notation.decimal);
  }
  if (most_ > kMostCounted) return;
  int decimals = 0;
  if (notation.is_time()) {
    const std::size_t colon = cell.rfind(':');
    const std::size_t point = cell.find_first_of(".,", colon == std::string_view::npos ? 0 : colon);
    if (colon == std::string_view::npos || point == std::string_view::npos) {
      decimals = 0;
    } else {
      decimals = count_decimals(cell.substr(point), cell[point]);
    }
  } else {
    const std::size_t first = std::min(cell.find_first_of("0123456789"), cell.size());
    const std::string_view digits = cell.substr(first);
    decimals = count_decimals(digits, notation.decimal);
    exponents_ = exponents_ || digits.find_first_of("eE") < digits.size();
    const bool whole = std::all_of(digits.begin(), digits.end(), is_digit) && first == 0;
    const int size = whole ? static_cast<int>(digits.size()) : -1;
    leading_ = leading_ || (size > 1 && digits.front() == '0');
    width_ = width_ == 0 || width_ == size ? size : -1;
  }
  least_ = most_ < 0 ? decimals : std::min(least_, decimals);
  most_ = std::max(most_, decimals);
}

void DigitCounter::finish(Notation& notation) const {
  constexpr int kMostOfMantissa = 30;
  if (exponent_ != '\0' && mantissa_ <= kMostOfMantissa) {
    notation.exponent = exponent_;
    notation.mantissa = mantissa_;
  }
  if (most_ > kMostCounted) return;
  notation.decimals = most_;
  notation.fixed = !notation.is_time() && most_ > 0 && least_ == most_ && !exponents_;
  if (leading_ && width_ > 1 && width_ <= kMostCounted) notation.width = width_;
}

}  // namespace jeffreys

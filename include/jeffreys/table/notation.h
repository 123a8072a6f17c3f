// How the cells of a numeric column are written: 1234.5, "1.234,50 €", 61.5%, 31.12.2021 14:05.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace jeffreys {

// What 1 means in a column.
enum class Unit { number, day, second, month };

struct Notation {
  // Of dates and times, as for strftime: "%d.%m.%Y %H:%M". Dates are days and months since January
  // 1970, dates with times seconds since then, times of day seconds since midnight. Empty: numbers.
  std::string pattern = {};
  // Around every number: "$", " kg", "%" (whose number is 61.5 in 61.5%).
  std::string prefix = {};
  std::string suffix = {};
  char decimal = '.';
  std::string grouping = {};  // between groups of three digits
  bool parentheses = false;   // around negative numbers
  // Digits after the decimal point at most, and whether always as many; of seconds in a time.
  // -1: not known, or too many to count.
  int decimals = -1;
  bool fixed = false;
  int width = 0;  // digits of whole numbers with leading zeros; 0 without them
  // Of 4.9180e-01, which every number is like: 'e' or 'E', and how many digits are before it behind
  // the point. '\0' without exponents.
  char exponent = '\0';
  int mantissa = 0;

  bool is_time() const { return !pattern.empty(); }
  bool is_time_of_day() const;
  // Whether its cells are numbers for every program: only digits after the point may be known.
  bool is_plain() const;
  Unit unit() const;

  // Nothing unless the cell is written like this. Reading is generous about leading zeros and
  // signs, and dates must exist.
  std::optional<double> read(std::string_view cell) const;
  // Reads back as the same number if it has no more digits than the notation.
  std::string write(double number) const;
  // Lets numbers have all their digits, if this one would not be written with all of its own. Times
  // stay as they are.
  void make_room_for(double number);
  // Rounded to the decimals.
  double round(double number) const;
  // The rest of a sentence that begins with the column: "holds dates (%Y-%m-%d), ...". Empty if it
  // is plain.
  std::string describe() const;

  // Throws std::invalid_argument for what no file of this program holds.
  void validate() const;

  bool operator==(const Notation&) const = default;
};

}  // namespace jeffreys

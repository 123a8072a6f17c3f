// In which notation the cells of a column are written.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "jeffreys/table/notation.h"

namespace jeffreys {

// What the cells of a whole file say about "1,234" and "1.234", which may mean two things.
struct CommaHint {
  bool decimal_comma = false;  // a column has decimal commas for certain
  bool decimal_point = false;  // a column has decimal points for certain
  bool semicolons = false;     // fields are separated by semicolons, as where commas are decimal
};

struct FoundNotation {
  Notation notation;
  // Another that reads as many cells, but as other numbers.
  std::optional<Notation> other = std::nullopt;
};

// The notation that reads nine of ten cells or more, none of which is missing. Nothing if there is
// none; plain if plain numbers do as well as any other.
std::optional<FoundNotation> find_notation(const std::vector<std::string_view>& cells,
                                           const CommaHint& hint);

// Whether a cell is a number, a date or a time in some notation.
bool has_notation(std::string_view cell);

// Counts the digits of cells in a notation, to write others with as many.
class DigitCounter {
 public:
  void add(std::string_view cell, const Notation& notation);
  // Sets the notation's decimals, fixed, width and exponent.
  void finish(Notation& notation) const;

 private:
  void add_exponent(std::string_view digits, char decimal);

  int least_ = 0;
  int most_ = -1;
  bool exponents_ = false;
  char exponent_ = '\0';  // the same in all cells, as is what stands before it; '\0': not so
  int mantissa_ = -1;     // -1: before the first cell
  int width_ = 0;         // of all whole numbers so far; -1: different
  bool leading_ = false;  // one has a leading zero
};

}  // namespace jeffreys

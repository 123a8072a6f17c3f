// Which cells of a table are missing, numbers or text.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/cell.h"
#include "jeffreys/table/notation.h"

namespace jeffreys {

class CellReader {
 public:
  // `more`: texts that mark missing cells besides the usual ones. One that is a number means every
  // cell of that number.
  explicit CellReader(const std::vector<std::string>& more);

  // `number` is set for numbers only.
  CellKind read(std::string_view cell, const Notation& notation, double& number) const;
  // Whether the cell is missing as none of the notations.
  bool is_missing(std::string_view cell) const;

 private:
  std::unordered_set<std::string> texts_;  // in small letters
  std::size_t longest_ = 8;                // of them
  std::vector<double> numbers_;
};

}  // namespace jeffreys

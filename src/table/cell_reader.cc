#include "table/cell_reader.h"

#include <algorithm>
#include <cctype>

namespace jeffreys {
namespace {

std::string in_small_letters(std::string_view text) {
  std::string small(text);
  for (char& c : small) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return small;
}

}  // namespace

CellReader::CellReader(const std::vector<std::string>& more)
    : texts_{"",        "na",      "n/a",   "nan",   "null",   "none",   "?",    ".",
             "-",       "--",      "<na>",  "nat",   "n.a.",   "(null)", "#n/a", "#null!",
             "#div/0!", "#value!", "#ref!", "#num!", "#name?", "missing"} {
  for (const std::string& text : more) {
    texts_.insert(in_small_letters(text));
    longest_ = std::max(longest_, text.size());
    double number = 0;
    if (read_cell(text, number) == CellKind::number) numbers_.push_back(number);
  }
}

bool CellReader::is_missing(std::string_view cell) const {
  return cell.size() <= longest_ && texts_.contains(in_small_letters(cell));
}

CellKind CellReader::read(std::string_view cell, const Notation& notation, double& number) const {
  double value = 0;
  CellKind kind = CellKind::text;
  if (notation.is_plain()) {
    kind = read_cell(cell, value);
  } else if (is_missing(cell)) {
    return CellKind::missing;
  } else if (const auto read = notation.read(cell)) {
    value = *read;
    kind = CellKind::number;
  }
  if (kind == CellKind::number) {
    if (std::find(numbers_.begin(), numbers_.end(), value) != numbers_.end()) {
      return CellKind::missing;
    }
    number = value;
    return kind;
  }
  return is_missing(cell) ? CellKind::missing : kind;
}

}  // namespace jeffreys

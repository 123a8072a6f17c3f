#include "table/column_values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>

#include "base/cell.h"
#include "base/checks.h"
#include "base/quote.h"
#include "jeffreys/base/input_error.h"

namespace jeffreys {
namespace {

constexpr double kMissingCell = std::numeric_limits<double>::quiet_NaN();

void require_numbers(const Table& table, const Column& column) {
  if (column.is_text()) {
    const auto first = std::find_if(column.codes.begin(), column.codes.end(),
                                    [](std::int32_t code) { return code >= 0; });
    if (first == column.codes.end()) return;
    const auto row = static_cast<std::size_t>(first - column.codes.begin());
    refuse_cell(table, column, row,
                fmt::format("holds text, {}, where numbers are expected; correct the column",
                            quote(column.text(row))));
  }
  if (column.text_cells == 0) return;
  refuse_cell(table, column, column.first_text_row,
              fmt::format("is numeric but has {0} in {1} cell{2}; correct the cell, or say that it "
                          "means a missing one with --na {0}, or declare the column with "
                          "--categorical {3} / --ignore {3}",
                          quote(column.first_text), column.text_cells,
                          column.text_cells == 1 ? "" : "s", column.name));
}

void require_usable(const Table& table, const Column& column, const ColumnInfo& info,
                    Unusual unusual) {
  for (std::size_t row = 0; row < column.numbers.size(); ++row) {
    const double value = column.numbers[row];
    if (std::isinf(value)) {
      refuse_cell(table, column, row,
                  "has an infinite number; correct the cell, or empty it to mark it missing");
    }
    if (std::abs(value) > kLargestValue) {
      refuse_cell(table, column, row,
                  fmt::format("has {}, which is too large (beyond {}); correct the cell or change "
                              "the unit",
                              value, kLargestValue));
    }
    if (unusual == Unusual::keep) continue;
    const std::string problem = what_is_unusual(info, column, row, value);
    if (problem.empty()) continue;
    refuse_cell(table, column, row,
                fmt::format("{}; correct the cell or the {}", problem,
                            info.distribution ? "prior" : "bounds"));
  }
}

// A number as a label, without the digits that a file may have added.
std::string label_of(const Column& column, std::size_t row) {
  if (column.is_text() || !column.notation.is_plain()) return column.text(row);
  return Notation{}.write(column.numbers[row]);
}

// Dates are no numbers, and seconds no days.
void require_unit(const Table& table, const Column& column, const ColumnInfo& info) {
  const Unit found = column.notation.unit();
  const Unit needed = info.notation.unit();
  if (found == needed || (found == Unit::number && column.place == 0)) return;
  const auto name = [](const Notation& notation) {
    if (!notation.is_time()) return std::string("numbers");
    return fmt::format("{} like {}", notation.is_time_of_day() ? "times" : "dates",
                       notation.write(0));
  };
  for (std::size_t row = 0; row < column.rows(); ++row) {
    if (column.missing(row)) continue;
    refuse_cell(table, column, row,
                fmt::format("holds {}, where the model has {}; write it as the model's",
                            name(column.notation), name(info.notation)));
  }
}

class LabelCodes {
 public:
  LabelCodes(const Table& table, const Column& column, const ColumnInfo& info, Unusual unusual)
      : table_(table), column_(column), info_(info), labels_(info.labels), unusual_(unusual) {}

  double code(const std::string& text, std::size_t row) const {
    const auto found = std::lower_bound(labels_.begin(), labels_.end(), text, LabelLess());
    if (found != labels_.end() && *found == text) {
      return static_cast<double>(found - labels_.begin());
    }
    const auto unknown = static_cast<double>(labels_.size());
    if (unusual_ == Unusual::keep) return unknown;
    constexpr std::size_t kShown = 10;
    const std::span shown(labels_.data(), std::min(kShown, labels_.size()));
    refuse_cell(table_, column_, row,
                fmt::format("{}; it knows {}{}. Correct the cell, or fit the model again",
                            what_is_unusual(info_, column_, row, unknown), fmt::join(shown, ", "),
                            labels_.size() > kShown ? ", ..." : ""));
  }

  std::vector<double> codes_of_text() const {
    // One search for each label, at its first row.
    std::vector<double> known(column_.labels.size(), kMissingCell);
    std::vector<double> codes(column_.codes.size(), kMissingCell);
    for (std::size_t row = 0; row < codes.size(); ++row) {
      if (column_.codes[row] < 0) continue;
      const auto label = static_cast<std::size_t>(column_.codes[row]);
      if (std::isnan(known[label])) known[label] = code(column_.labels[label], row);
      codes[row] = known[label];
    }
    return codes;
  }

  std::vector<double> codes_of_numbers() const {
    std::unordered_map<double, double> known;
    std::vector<double> codes(column_.numbers.size(), kMissingCell);
    for (std::size_t row = 0; row < codes.size(); ++row) {
      if (column_.missing(row)) continue;
      const auto [found, fresh] = known.emplace(column_.numbers[row], 0);
      if (fresh) found->second = code(label_of(column_, row), row);
      codes[row] = found->second;
    }
    return codes;
  }

 private:
  const Table& table_;
  const Column& column_;
  const ColumnInfo& info_;
  const std::vector<std::string>& labels_;
  Unusual unusual_;
};

}  // namespace

ColumnValues::ColumnValues(const Table& table, const Column& column, const ColumnInfo& info,
                           Unusual unusual) {
  if (info.kind == ColumnKind::categorical) {
    const LabelCodes codes(table, column, info, unusual);
    if (!column.is_text() && column.text_cells > 0) {
      refuse_cell(
          table, column, column.first_text_row,
          fmt::format("was read as numbers but has {}; read it as text", quote(column.first_text)));
    }
    own_ = column.is_text() ? codes.codes_of_text() : codes.codes_of_numbers();
    return;
  }
  require_numbers(table, column);
  if (column.is_text()) {
    own_.assign(column.rows(), kMissingCell);
    return;
  }
  require_unit(table, column, info);
  require_usable(table, column, info, unusual);
  shared_ = column.numbers;
}

std::string what_is_unusual(const ColumnInfo& info, const Column& column, std::size_t row,
                            double value) {
  if (info.kind == ColumnKind::categorical) {
    if (!(value >= static_cast<double>(info.labels.size()))) return {};
    return fmt::format("has the label {}, which the model does not know", quote(column.text(row)));
  }
  const auto [lower, upper] = info.bounds;
  if (value < lower || value > upper) {
    const auto text = [&](double end) {
      return std::isfinite(end) ? info.notation.write(end) : fmt::format("{}", end);
    };
    return fmt::format("has {}, outside its bounds {} to {}", text(value), text(lower),
                       text(upper));
  }
  if (info.distribution && !std::isnan(value) && !info.distribution->contains(value)) {
    return fmt::format("has {}, outside the prior's support {}", value,
                       info.distribution->describe_support());
  }
  return {};
}

std::vector<std::string> sorted_labels(const Table& table, const Column& column) {
  std::set<std::string, LabelLess> labels;
  if (column.is_text()) {
    labels.insert(column.labels.begin(), column.labels.end());
  } else {
    std::map<double, std::size_t> rows;
    for (std::size_t row = 0; row < column.rows(); ++row) {
      if (!column.missing(row)) rows.emplace(column.numbers[row], row);
    }
    for (const auto& [number, row] : rows) labels.insert(label_of(column, row));
  }
  for (const std::string& label : labels) {
    if (is_utf8(label)) continue;
    throw InputError(table.source,
                     fmt::format("column {} has the label {}, which is not UTF-8; save the file as "
                                 "UTF-8",
                                 quote(column.name), quote(label)));
  }
  return {labels.begin(), labels.end()};
}

void refuse_missing(const Table& table, const Column& column, std::size_t row) {
  refuse_cell(table, column, row,
              "has a missing cell; fill it in, drop such rows with --missing drop, or learn from "
              "their other cells with --missing keep");
}

void refuse_cell(const Table& table, const Column& column, std::size_t row,
                 const std::string& problem) {
  const std::size_t line = table.line(row);
  if (line == 0) {
    throw InputError(table.source,
                     fmt::format("row {}: column {} {}", row + 1, quote(column.name), problem));
  }
  throw InputError(table.source, fmt::format("column {} {}", quote(column.name), problem), line,
                   column.place);
}

}  // namespace jeffreys

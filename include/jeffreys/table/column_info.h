// What is known about one column of a table, and how its values become numbers of a model.
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jeffreys/base/distribution.h"
#include "jeffreys/table/notation.h"

namespace jeffreys {

enum class ColumnKind { numeric, integer, categorical, ignored };
// constant, copy: not in the model, restored by decode. left_out: ignored, or without any value.
enum class ColumnRole { feature, condition, constant, copy, left_out };
std::string_view name_of(ColumnKind kind);
std::string_view name_of(ColumnRole role);

// Of the distribution that turns values with bounds into normal scores (src/table/bound_map.h).
struct BoundShape {
  double power = 0;  // 0: logarithms, as in all files of earlier versions
  double tail = 0;
  double scale = 1;

  bool operator==(const BoundShape&) const = default;
};

// Of a heavy-tailed numeric condition: far values are drawn in before it is standardised, because
// otherwise a few of them would leave nothing between all others. Without a width it is only
// standardised, as in all files of earlier versions.
struct HeavyTails {
  double centre = 0;
  double width = 0;

  // Increases with the value: nearly linear within a width of the centre, a logarithm beyond.
  [[nodiscard]] double draw_in(double value) const {
    return width > 0 ? std::asinh((value - centre) / width) : value;
  }
  // The inverse.
  [[nodiscard]] double push_out(double number) const {
    return width > 0 ? std::sinh(number) * width + centre : number;
  }

  bool operator==(const HeavyTails&) const = default;
};

struct ColumnInfo {
  std::string name;
  ColumnRole role = ColumnRole::feature;
  ColumnKind kind = ColumnKind::numeric;
  double minimum = 0;  // of the complete rows, in the user's units; 0 for a categorical column
  double maximum = 0;
  Notation notation = {};           // of a column of numbers: how its cells are written
  std::vector<std::string> labels;  // sorted; of a categorical column
  // Of a categorical feature: the probability of all labels that the fitted rows do not have.
  double unseen = 0;
  // Of a numeric feature: values that hold many rows each among others that are spread finely.
  std::vector<double> atoms = {};
  // A feature's values are offset + whole multiples of the resolution; 0 when there is none.
  // Samples are rounded to it.
  double resolution = 0;
  double offset = 0;
  double noise = 0;  // width of the cell that a feature's value stands for; 0 when there is none
  Bounds bounds;
  // Between which value plus noise lies, where there are bounds: on a lattice the bounds mean the
  // cells of the outermost values, half a step further out. In files of earlier versions they are
  // the bounds themselves, at which noise was reflected.
  Bounds reach;
  BoundShape shape;
  double nudge = 0;  // how far a value exactly at an end of its reach is moved inside
  std::optional<Distribution> distribution = std::nullopt;
  // The regression on a row's context: one coefficient for each context feature, then the
  // intercept. Empty when there is none. In the user's units, as is the deviation of its residuals.
  std::vector<double> regression = {};
  double regression_deviation = 0;
  HeavyTails tails = {};
  double mean = 0;  // after noise, bounds or coordinates, and regression, or drawn-in tails
  double scale = 1;
  double constant = 0;      // number, or place in `labels`
  std::size_t copy_of = 0;  // place in columns()

  bool operator==(const ColumnInfo&) const = default;
};

}  // namespace jeffreys

// Keeps values inside a support by folding what is beyond an end back over it.
//
// Near the end that is a reflection. Between two ends all that is beyond one of them becomes the
// whole support: a value at distance d beyond goes to width (1 - exp(-d / width)) inside. So a
// value inside has itself and at most one more source beyond each end, and the density of folded
// values is a sum of that few terms. Coordinates without ends, which bend, made flows worse
// (docs/sbi.md).
#pragma once

#include <optional>

#include "jeffreys/base/distribution.h"

namespace jeffreys {

class Fold {
 public:
  explicit Fold(const Bounds& support) : ends_(support), width_(support.upper - support.lower) {}

  // Strictly inside the support, for every number; the value itself if it is there already. NaN
  // stays NaN.
  [[nodiscard]] double inside(double value) const;

  struct Source {
    double value;      // infinite for a value exactly at the opposite end
    double log_slope;  // log |d source / d value|
  };
  // What beyond that end folds to a value of the support; nothing where there is no such end.
  [[nodiscard]] std::optional<Source> below(double value) const;
  [[nodiscard]] std::optional<Source> above(double value) const;

 private:
  [[nodiscard]] double depth(double distance) const;
  [[nodiscard]] double distance(double room) const;

  Bounds ends_;
  double width_;
};

}  // namespace jeffreys

// Values with one or two bounds as normal scores, by a distribution function with the tails of the
// data.
//
// One bound, of the distance d to it:        S(d) = (1 + tail (d / scale)^power)^(-1 / tail),
//   which for tail = 0 is Weibull's exp(-(d / scale)^power).
// Two bounds, of the place u between them:   S(u) = (1 - u^power)^tail   (Kumaraswamy's).
//
// Next to a lower bound such values have a density that goes like d^(power - 1), finite for
// power 1; far away from the only bound it falls like exponential ones or like a power of d. Where
// a normal distribution of logarithms (of d, or of the ratio of both distances) is more likely, it
// is taken instead. Scores are then close to standard normal in the tails too, which is how a flow
// continues them beyond the data. Logarithms for all made the tails of flows much too heavy, and
// values next to a bound absurdly improbable (docs/tables.md).
#pragma once

#include <span>

#include "jeffreys/table/schema.h"

namespace jeffreys {

class BoundMap {
 public:
  // One end of `reach` at least is finite. A shape whose power is 0 means logarithms.
  BoundMap(const Bounds& reach, const BoundShape& shape) : reach_(reach), shape_(shape) {}

  // The shape under which the values, strictly inside, are most likely. A weak prior keeps its
  // power near 1 if they are few.
  static BoundShape fit(const Bounds& reach, std::span<const double> values);

  struct Score {
    double value;
    double log_slope;  // log d score / d value
  };
  // For a value strictly inside.
  [[nodiscard]] Score score(double value) const;
  // The inverse; never leaves the reach.
  [[nodiscard]] double value(double score) const;

 private:
  [[nodiscard]] bool two() const;

  Bounds reach_;
  BoundShape shape_;
};

}  // namespace jeffreys

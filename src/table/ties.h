// What the repeated values of a column tell about its resolution.
#pragma once

#include <cstddef>
#include <vector>

namespace jeffreys {

struct Repeats {
  std::size_t distinct = 0;
  std::size_t most = 0;      // rows of the most frequent value
  double most_frequent = 0;  // that value
  bool ties = false;         // more repetition than a continuous variable has; see Schema::fit
};

// All values are offset + whole multiples of the step; step 0 when there is no such step.
struct Lattice {
  double step = 0;
  double offset = 0;
  double least_gap = 0;  // between different values, leaving out gaps that are rounding errors

  bool whole() const;  // integers only
};

// Both take finite values in increasing order, at least one.
Repeats count_repeats(const std::vector<double>& sorted);
Lattice find_lattice(const std::vector<double>& sorted);

// Takes the values out that hold at least 10 rows and 5 % of them each, at most three, if what is
// left has no ties and at least 20 rows; the most frequent one first. Otherwise there are none.
std::vector<double> take_atoms(std::vector<double>& sorted);

// To the nearest point of a lattice. Decimal steps give the double nearest to the decimal number.
class Rounding {
 public:
  Rounding(double step, double offset);
  // Unchanged when the step is 0 or the value is not finite.
  double operator()(double value) const;

 private:
  double step_;
  double offset_;
  double power_ = 0;  // 10^decimals of the step; 0 if it is no short decimal number
};

}  // namespace jeffreys

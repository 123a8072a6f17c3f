// Whether a method varies less over seeds than another.
#pragma once

#include "experiment/comparison.h"

namespace jeffreys::experiment {

// With few seeds a single deviation says little, so its logarithm is compared over all data sets. A
// method that diverges where the other does not is not consistent.
class Consistency {
 public:
  void add(const std::string& name, const SeedValues& theirs, const SeedValues& ours);

  // "ring 0.02 against 0.03; grid 2 of 5 seeds diverged; ratio 0.9 [0.8, 1.0] over 4 data sets"
  [[nodiscard]] std::string numbers() const;
  // "smaller on 3 of 5 data sets; too few runs on grid"
  [[nodiscard]] std::string brief() const;
  // Holds if ours are smaller on every data set and by more than chance over all of them.
  [[nodiscard]] Finding finding() const;

 private:
  [[nodiscard]] std::optional<PairedInterval> ratio() const;
  [[nodiscard]] std::size_t smaller() const;  // on so many data sets ours

  // Logarithms of the deviations on the data sets that can be compared.
  std::vector<double> theirs_;
  std::vector<double> ours_;
  std::vector<std::string> texts_;
  std::vector<std::string> lacking_;
  std::vector<std::string> lost_;  // where seeds diverged
};

}  // namespace jeffreys::experiment

// What a flow's transforms turn data into: independent numbers of a fixed distribution, standard
// normal or Student-t. On tiles of 64 rows: [features][64].
#pragma once

#include <cstddef>
#include <memory>

#include "model/normal_to_student.h"

namespace jeffreys {

template <typename T>
class FlowBase {
 public:
  // degrees_of_freedom: of Student-t; 0: standard normal.
  FlowBase(std::size_t features, double degrees_of_freedom);

  // log_prob += log density of z.
  void add_density(const T* z, T* log_prob) const;

  // d (weights * log density) / dz. weights: one for each row.
  void gradient(const T* z, const T* weights, T* out) const;

  // Standard normal numbers become those of the base, in place.
  void from_normal(T* z) const;

 private:
  std::size_t features_;
  double freedom_;
  double log_constant_;                             // of one feature
  std::shared_ptr<const NormalToStudent> student_;  // nothing for standard normal numbers
};

}  // namespace jeffreys

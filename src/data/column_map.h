// The way of one feature column between a user's values and a model's numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "data/ties.h"
#include "jeffreys/data/schema.h"

namespace jeffreys {

// Values of a whole table (codes for categories), of which `rows` are encoded.
struct FeatureCells {
  std::uint64_t seed = 0;
  std::size_t place = 0;  // of the column; tells its noise apart from that of others
  std::span<const double> values;
  std::span<const std::size_t> rows;
};

// Writes column `feature` of x and adds to log_jacobian. Values must be within the bounds, or in
// the support of the distribution.
void encode_feature(const ColumnInfo& info, const FeatureCells& cells, Eigen::Index feature,
                    Matrix<double>& x, Vector<double>& log_jacobian);

// From a model's number to the user's value, or to a code; NaN stays NaN.
class FeatureDecoder {
 public:
  explicit FeatureDecoder(const ColumnInfo& info)
      : info_(info), round_(info.resolution, info.offset) {}
  double operator()(double z) const;

 private:
  const ColumnInfo& info_;
  Rounding round_;
};

}  // namespace jeffreys

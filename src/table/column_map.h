// The way of one feature column between a user's values and a model's numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "jeffreys/table/schema.h"
#include "table/fold.h"
#include "table/ties.h"

namespace jeffreys {

// Where a row's context puts the zero and the unit of a feature: at the guess of its regression.
struct Origin {
  double zero = 0;
  double unit = 1;
};
Origin origin_of(const ColumnInfo& info, const Eigen::Ref<const Eigen::RowVectorXd>& context);

// How values of a feature are kept inside the support of its distribution; nothing for one without
// a distribution, and for a log_normal one, whose normal scores have no ends.
std::optional<Fold> fold_of(const ColumnInfo& info);

// Values of a whole table (codes for categories), of which `rows` are encoded.
struct FeatureCells {
  std::uint64_t seed = 0;
  std::size_t place = 0;  // of the column; tells its noise apart from that of others
  std::span<const double> values;
  std::span<const std::size_t> rows;
  const Matrix<double>& context;  // of `rows`; not looked at without a regression
};

// Writes column `feature` of x and adds to log_jacobian. Values must be within the bounds, or in
// the support of the distribution.
void encode_feature(const ColumnInfo& info, const FeatureCells& cells, Eigen::Index feature,
                    Matrix<double>& x, Vector<double>& log_jacobian);

// From a model's number to the user's value, or to a code; NaN stays NaN.
class FeatureDecoder {
 public:
  explicit FeatureDecoder(const ColumnInfo& info)
      : info_(info), round_(info.resolution, info.offset), fold_(fold_of(info)) {}
  double operator()(double z, const Origin& origin) const;

 private:
  const ColumnInfo& info_;
  Rounding round_;
  std::optional<Fold> fold_;
};

}  // namespace jeffreys

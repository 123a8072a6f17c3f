// The way of one feature column between a user's values and a model's numbers.
#pragma once

#include <Eigen/Core>
#include <optional>

#include "jeffreys/table/column_info.h"
#include "table/bound_map.h"
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

// Whether a feature is a category and nothing else. In files of earlier versions categories were
// codes with noise.
bool is_category(const ColumnInfo& info);
// Of a category, or of the atoms of a numeric feature, where class 0 means that the value is none;
// 0 where there are neither.
std::size_t class_count(const ColumnInfo& info);
// The class of a value; class_count for a label that was never seen.
double class_of(const ColumnInfo& info, double value);

// Whether the number of some rows is open: a value stands for all values of its cell, or an atom
// leaves it free.
bool is_open(const ColumnInfo& info);

// From a user's value to a model's number.
class FeatureEncoder {
 public:
  explicit FeatureEncoder(const ColumnInfo& info);

  struct Encoded {
    double x;
    double log_slope;  // log d x / d value
  };
  // place: where in its cell a value on a lattice lies, in (0, 1). The value must be within the
  // bounds, or in the support of the distribution. The number of an atom may be any: it is standard
  // normal, and its slope is such that the mean over places is the integral over all numbers.
  Encoded operator()(double value, double place, const Origin& origin) const;

 private:
  [[nodiscard]] Encoded score(double value, const Origin& origin) const;

  const ColumnInfo& info_;
  bool by_score_;
  bool bounded_;
  BoundMap bounds_;
  double centre_;
  double log_scale_;
};

// From a model's number to the user's value, or to a code; NaN stays NaN.
class FeatureDecoder {
 public:
  explicit FeatureDecoder(const ColumnInfo& info)
      : info_(info),
        round_(info.resolution, info.offset),
        fold_(fold_of(info)),
        bounds_(info.reach, info.shape) {}
  double operator()(double z, const Origin& origin) const;

 private:
  const ColumnInfo& info_;
  Rounding round_;
  std::optional<Fold> fold_;
  BoundMap bounds_;
};

}  // namespace jeffreys

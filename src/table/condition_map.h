// The way of one condition column between a user's values and a model's context.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "jeffreys/table/schema.h"

namespace jeffreys {

// Columns of the context that a condition takes.
std::size_t context_width(const ColumnInfo& info);

// Of a numeric condition with these values, at least one. None unless the farthest is ten times as
// far from the median as the farther quartile is: of a normal distribution not even a billion rows
// have such a value.
HeavyTails find_tails(std::vector<double> values);

// Writes the value (or code) from column `first` of a row of the context on.
void write_condition(const ColumnInfo& info, double value, Eigen::Index first,
                     Eigen::Ref<Eigen::RowVectorXd> row);

// The value (or code) from a row of the context.
double read_condition(const ColumnInfo& info, const Eigen::Ref<const Eigen::RowVectorXd>& row,
                      Eigen::Index first);

}  // namespace jeffreys

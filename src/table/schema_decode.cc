#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <stdexcept>

#include "jeffreys/table/schema.h"
#include "table/column_map.h"
#include "table/condition_map.h"

namespace jeffreys {
namespace {

using Values = std::optional<std::vector<double>>;

Column column_of(const ColumnInfo& info, const std::vector<double>& values) {
  Column column;
  column.name = info.name;
  if (info.kind != ColumnKind::categorical) {
    column.numbers = values;
    column.notation = info.notation;
    return column;
  }
  column.labels = info.labels;
  for (const double code : values) {
    column.codes.push_back(std::isnan(code) ? -1 : static_cast<std::int32_t>(code));
  }
  return column;
}

void require_shapes(const Schema& schema, const MatrixView<double>& x,
                    const MatrixView<double>& context) {
  const auto features = static_cast<Eigen::Index>(schema.features());
  const auto width = static_cast<Eigen::Index>(schema.context_features());
  const bool fits = context.rows() == 0 || (context.cols() == width &&
                                            (context.rows() == 1 || context.rows() == x.rows()));
  if (x.cols() == features && fits) return;
  throw std::invalid_argument(
      fmt::format("Schema::decode: x has shape [{}, {}] and context [{}, {}]; expected [rows, {}] "
                  "and [rows or 1, {}]",
                  x.rows(), x.cols(), context.rows(), context.cols(), features, width));
}

Values decode_feature(const ColumnInfo& info, const MatrixView<double>& x,
                      const MatrixView<double>& context, Eigen::Index feature) {
  const FeatureDecoder decode(info);
  if (!info.regression.empty() && context.rows() == 0 && x.rows() > 0) {
    throw std::invalid_argument(
        "Schema::decode: expected a context, which the features' "
        "regression needs, got none");
  }
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(x.rows()));
  Origin origin;
  for (Eigen::Index r = 0; r < x.rows(); ++r) {
    if (!info.regression.empty() && (r == 0 || context.rows() > 1)) {
      origin = origin_of(info, context.row(r));
    }
    values.push_back(decode(x(r, feature), origin));
  }
  return values;
}

// Labels, or the atoms of a column whose other values are there.
void decode_classes(const ColumnInfo& info, const Eigen::Ref<const Vector<double>>& codes,
                    Values& values) {
  if (is_category(info)) {
    values.emplace(codes.begin(), codes.end());
    return;
  }
  for (std::size_t r = 0; r < values->size(); ++r) {
    const double code = codes(static_cast<Eigen::Index>(r));
    if (code > 0) (*values)[r] = info.atoms[static_cast<std::size_t>(code) - 1];
  }
}

Values decode_condition(const ColumnInfo& info, const MatrixView<double>& context,
                        Eigen::Index rows, Eigen::Index first) {
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(rows));
  for (Eigen::Index r = 0; r < rows; ++r) {
    const double value = read_condition(info, context.row(context.rows() == 1 ? 0 : r), first);
    values.push_back(info.kind == ColumnKind::categorical ? value : info.notation.round(value));
  }
  return values;
}

}  // namespace

Table Schema::decode(const MatrixView<double>& x, const MatrixView<double>& context) const {
  require_shapes(*this, x, context);
  std::vector<Values> values(columns_.size());
  Eigen::Index feature = 0;
  for (const std::size_t i : continuous_) {
    values[i] = decode_feature(columns_[i], x, context, feature++);
  }
  for (const std::size_t i : categories_) decode_classes(columns_[i], x.col(feature++), values[i]);
  Eigen::Index first = 0;
  for (const std::size_t i : conditions_) {
    if (context.rows() == 0) continue;
    values[i] = decode_condition(columns_[i], context, x.rows(), first);
    first += static_cast<Eigen::Index>(context_width(columns_[i]));
  }
  Table table{"", {}, {}};
  table.delimiter = delimiter_;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const ColumnInfo& info = columns_[i];
    if (info.role == ColumnRole::constant) {
      values[i].emplace(static_cast<std::size_t>(x.rows()), info.constant);
    }
    const Values& source = info.role == ColumnRole::copy ? values[info.copy_of] : values[i];
    if (source) table.columns.push_back(column_of(info, *source));
  }
  return table;
}

}  // namespace jeffreys

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "base/cell.h"
#include "base/quote.h"
#include "jeffreys/base/input_error.h"
#include "jeffreys/table/schema.h"
#include "table/column_map.h"
#include "table/column_values.h"
#include "table/condition_map.h"

namespace jeffreys {
namespace {

const Column& require_column(const Table& table, const ColumnInfo& info,
                             const std::vector<std::string>& needed) {
  const Column* column = table.find(info.name);
  if (column != nullptr) return *column;
  throw InputError(table.source,
                   fmt::format("there is no column {}; the model needs the columns {}",
                               quote(info.name), fmt::join(needed, ", ")));
}

std::vector<std::string> model_columns(const Schema& schema) {
  std::vector<std::string> names = schema.feature_names();
  const std::vector<std::string> conditions = schema.condition_names();
  names.insert(names.end(), conditions.begin(), conditions.end());
  return names;
}

// The table's columns beside the schema's; nullptr where the table need not have one.
std::vector<const Column*> match_columns(const Schema& schema, const Table& table,
                                         bool all_features) {
  std::vector<const Column*> matches;
  for (const ColumnInfo& info : schema.columns()) {
    switch (info.role) {
      case ColumnRole::feature:
        matches.push_back(all_features ? &require_column(table, info, model_columns(schema))
                                       : table.find(info.name));
        break;
      case ColumnRole::condition:
        matches.push_back(&require_column(table, info, model_columns(schema)));
        break;
      case ColumnRole::constant:
      case ColumnRole::copy: matches.push_back(table.find(info.name)); break;
      case ColumnRole::left_out: matches.push_back(nullptr); break;
    }
  }
  return matches;
}

// Rows that are encoded, by what is missing in them.
class RowsWithCells {
 public:
  RowsWithCells(const Schema& schema, const Table& table, const std::vector<const Column*>& columns)
      : schema_(schema), table_(table), columns_(columns) {}

  // With every cell.
  [[nodiscard]] std::vector<std::size_t> complete(Missing missing) const {
    std::vector<std::size_t> rows = where([&](std::size_t row) {
      for (const Column* column : columns_) {
        if (column == nullptr || !column->missing(row)) continue;
        if (missing == Missing::error) refuse_missing(table_, *column, row);
        return false;
      }
      return true;
    });
    if (rows.empty()) {
      throw InputError(table_.source,
                       "every row has a missing cell; at least one row must be complete, unless "
                       "the model was fitted with --missing keep");
    }
    return rows;
  }

  [[nodiscard]] std::vector<std::size_t> with_conditions() const {
    return where([&](std::size_t row) {
      for (std::size_t i = 0; i < columns_.size(); ++i) {
        const bool condition = schema_.columns()[i].role == ColumnRole::condition;
        if (condition && columns_[i]->missing(row)) return false;
      }
      return true;
    });
  }

 private:
  template <typename Condition>
  [[nodiscard]] std::vector<std::size_t> where(const Condition& holds) const {
    std::vector<std::size_t> rows;
    for (std::size_t row = 0; row < table_.rows(); ++row) {
      if (holds(row)) rows.push_back(row);
    }
    return rows;
  }

  const Schema& schema_;
  const Table& table_;
  const std::vector<const Column*>& columns_;
};

void note_unusual(const ColumnInfo& info, const Column& column, std::span<const double> values,
                  Schema::Encoded& encoded) {
  std::set<std::size_t> without_density;
  for (const std::size_t row : encoded.rows) {
    const std::string problem = what_is_unusual(info, column, row, values[row]);
    if (problem.empty()) continue;
    std::string& text = encoded.unusual[row];
    text += fmt::format("{}column {} {}", text.empty() ? "" : "; ", quote(info.name), problem);
    if (info.role == ColumnRole::condition) without_density.insert(row);
  }
  std::erase_if(encoded.rows, [&](std::size_t row) { return without_density.contains(row); });
}

bool is_impossible(const ColumnInfo& info, double value) {
  if (info.kind == ColumnKind::categorical) return value >= static_cast<double>(info.labels.size());
  return value < info.bounds.lower || value > info.bounds.upper ||
         (info.distribution && !info.distribution->contains(value));
}

// The value that is encoded in place of one that has the density 0.
double possible(const ColumnInfo& info, double value) {
  if (info.kind == ColumnKind::categorical) return 0;
  const auto [lower, upper] = info.distribution ? info.distribution->support() : info.bounds;
  return std::clamp(value, lower, upper);
}

// The features of encoded rows, whose context is there already.
class FeatureRows {
 public:
  explicit FeatureRows(Schema::Encoded& encoded)
      : encoded_(encoded), closed_(Vector<double>::Zero(encoded.size())) {
    encoded.log_jacobian = Vector<double>::Zero(encoded.size());
    encoded.gaps = Gaps::Constant(encoded.x.rows(), encoded.x.cols(), false);
  }

  void write_numbers(Eigen::Index feature, const ColumnInfo& info, std::span<const double> values) {
    const FeatureEncoder encode(info);
    std::vector<double> own;
    std::vector<double> zeros;
    for (Eigen::Index r = 0; r < encoded_.size(); ++r) {
      double value = values[encoded_.rows[static_cast<std::size_t>(r)]];
      if (std::isnan(value)) {
        leave_open(r, feature);
        if (is_open(info)) own.push_back(value);
        if (is_open(info) && !info.regression.empty()) zeros.push_back(0);
        continue;
      }
      if (!encoded_.unusual.empty() && is_impossible(info, value)) {
        value = possible(info, value);
        closed_(r) = encoded_.log_jacobian(r) = -std::numeric_limits<double>::infinity();
      }
      const Origin origin =
          info.regression.empty() ? Origin{} : origin_of(info, encoded_.context.row(r));
      const FeatureEncoder::Encoded number = encode(value, 0.5, origin);
      encoded_.x(r, feature) = number.x;
      encoded_.log_jacobian(r) += number.log_slope;
      if (!is_open(info)) {
        closed_(r) += number.log_slope;
        continue;
      }
      own.push_back(value);
      if (!info.regression.empty()) zeros.push_back(origin.zero);
    }
    if (is_open(info)) open_.push_back({feature, info, std::move(own), std::move(zeros)});
  }

  void write_classes(Eigen::Index feature, const ColumnInfo& info, std::span<const double> values) {
    const bool labels = is_category(info);
    const auto never_seen = static_cast<double>(class_count(info));
    for (Eigen::Index r = 0; r < encoded_.size(); ++r) {
      const double value = values[encoded_.rows[static_cast<std::size_t>(r)]];
      if (std::isnan(value)) {
        leave_open(r, feature);
        continue;
      }
      const double code = class_of(info, value);
      encoded_.x(r, feature) = code;
      if (!labels) continue;
      const double log_mass = code == never_seen ? std::log(info.unseen) : std::log1p(-info.unseen);
      encoded_.log_jacobian(r) += log_mass;
      closed_(r) += log_mass;
    }
  }

  void finish() {
    if (!encoded_.gaps.any()) encoded_.gaps.resize(0, 0);
    encoded_.cells = Cells(std::move(closed_));
    for (auto& [feature, info, values, zeros] : open_) {
      encoded_.cells.add(feature, info, std::move(values), std::move(zeros));
    }
  }

 private:
  void leave_open(Eigen::Index row, Eigen::Index feature) {
    encoded_.x(row, feature) = 0;
    encoded_.gaps(row, feature) = true;
  }

  struct Open {
    Eigen::Index feature;
    const ColumnInfo& info;
    std::vector<double> values;
    std::vector<double> zeros;
  };

  Schema::Encoded& encoded_;
  Vector<double> closed_;  // log Jacobian of features that are not open
  std::vector<Open> open_;
};

// A table of one row without a file.
Column single_cell(const ColumnInfo& info, const std::string& text) {
  Column column;
  column.name = info.name;
  double number = 0;
  const CellKind kind = read_cell(text, number);
  if (info.kind != ColumnKind::categorical) column.notation = info.notation;
  if (const auto written = info.notation.read(text);
      info.kind != ColumnKind::categorical && written) {
    column.numbers = {*written};
  } else if (info.kind != ColumnKind::categorical && kind == CellKind::number &&
             !info.notation.is_time()) {
    column.numbers = {number};
  } else {
    column.codes = {kind == CellKind::missing ? -1 : 0};
    column.labels = {text};
  }
  return column;
}

}  // namespace

Schema::Encoded Schema::encode(const Table& table, Unusual unusual) const {
  const std::vector<const Column*> columns = match_columns(*this, table, true);
  const RowsWithCells rows(*this, table, columns);
  return encode_rows(table, columns, unusual, [&] {
    return missing_ == Missing::keep ? rows.with_conditions() : rows.complete(missing_);
  });
}

Schema::Encoded Schema::encode_known(const Table& table, Unusual unusual) const {
  const std::vector<const Column*> columns = match_columns(*this, table, false);
  const RowsWithCells rows(*this, table, columns);
  return encode_rows(table, columns, unusual, [&] { return rows.with_conditions(); });
}

Schema::Encoded Schema::encode_rows(const Table& table, const std::vector<const Column*>& columns,
                                    Unusual unusual,
                                    const std::function<std::vector<std::size_t>()>& used) const {
  const std::vector<double> nothing(table.rows(), std::nan(""));
  std::vector<std::optional<ColumnValues>> known(columns_.size());
  std::vector<std::span<const double>> values(columns_.size(), nothing);
  for (const auto& part : {continuous_, categories_, conditions_}) {
    for (const std::size_t i : part) {
      if (columns[i] == nullptr || known[i]) continue;
      values[i] = known[i].emplace(table, *columns[i], columns_[i], unusual).values();
    }
  }

  Encoded encoded;
  encoded.rows = used();
  encoded.dropped = table.rows() - encoded.rows.size();
  for (std::size_t i = 0; i < columns_.size() && unusual == Unusual::keep; ++i) {
    if (known[i]) note_unusual(columns_[i], *columns[i], values[i], encoded);
  }
  const auto rows = static_cast<Eigen::Index>(encoded.rows.size());
  encoded.x.resize(rows, static_cast<Eigen::Index>(features()));
  encoded.context.resize(rows, static_cast<Eigen::Index>(context_features_));
  Eigen::Index first = 0;
  for (const std::size_t i : conditions_) {
    for (Eigen::Index r = 0; r < rows; ++r) {
      const std::size_t row = encoded.rows[static_cast<std::size_t>(r)];
      write_condition(columns_[i], values[i][row], first, encoded.context.row(r));
    }
    first += static_cast<Eigen::Index>(context_width(columns_[i]));
  }
  FeatureRows features(encoded);
  Eigen::Index feature = 0;
  for (const std::size_t i : continuous_) {
    features.write_numbers(feature++, columns_[i], values[i]);
  }
  for (const std::size_t i : categories_) {
    features.write_classes(feature++, columns_[i], values[i]);
  }
  features.finish();
  return encoded;
}

Matrix<double> Schema::encode_conditions(const Table& table) const {
  const auto rows = static_cast<Eigen::Index>(table.rows());
  Matrix<double> context(rows, static_cast<Eigen::Index>(context_features_));
  Eigen::Index first = 0;
  for (const std::size_t i : conditions_) {
    const Column& column = require_column(table, columns_[i], condition_names());
    const ColumnValues values(table, column, columns_[i]);
    for (Eigen::Index r = 0; r < rows; ++r) {
      const double value = values.values()[static_cast<std::size_t>(r)];
      if (std::isnan(value)) {
        refuse_cell(table, column, static_cast<std::size_t>(r),
                    "has a missing cell; a condition needs a value");
      }
      write_condition(columns_[i], value, first, context.row(r));
    }
    first += static_cast<Eigen::Index>(context_width(columns_[i]));
  }
  return context;
}

Table Schema::given_row(const std::map<std::string, std::string>& given) const {
  Table table{"", {}, {}};
  for (const auto& [name, value] : given) {
    const auto found =
        std::find_if(columns_.begin(), columns_.end(), [&, &own = name](const ColumnInfo& info) {
          return info.name == own && info.role != ColumnRole::left_out;
        });
    if (found == columns_.end()) {
      throw InputError("", fmt::format("{} is no column of the model; its columns are {}",
                                       quote(name), fmt::join(model_columns(*this), ", ")));
    }
    table.columns.push_back(single_cell(*found, value));
  }
  return table;
}

Matrix<double> Schema::encode_conditions(const std::map<std::string, std::string>& given) const {
  const std::vector<std::string> names = condition_names();
  const std::string list =
      names.empty() ? std::string("none") : fmt::format("{}", fmt::join(names, ", "));
  for (const auto& [name, value] : given) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    throw InputError("", fmt::format("{} is no condition of the model; its conditions are: {}",
                                     quote(name), list));
  }
  Table table{"", {}, {}};
  for (const std::size_t i : conditions_) {
    const auto found = given.find(columns_[i].name);
    if (found == given.end()) {
      throw InputError("", fmt::format("the condition {} has no value; give each of them, as in "
                                       "--given {}=VALUE. The conditions are: {}",
                                       quote(columns_[i].name), columns_[i].name, list));
    }
    table.columns.push_back(single_cell(columns_[i], found->second));
  }
  return conditions_.empty() ? Matrix<double>(1, 0) : encode_conditions(table);
}

}  // namespace jeffreys

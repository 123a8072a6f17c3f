#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>
#include <stdexcept>
#include <unordered_map>

#include "base/fingerprint.h"
#include "base/quote.h"
#include "jeffreys/base/input_error.h"
#include "jeffreys/table/schema.h"
#include "table/column_fit.h"
#include "table/column_map.h"
#include "table/column_notes.h"
#include "table/column_values.h"
#include "table/condition_map.h"
#include "table/regression.h"
#include "table/schema_options.h"

namespace jeffreys {
namespace {

constexpr std::size_t kLeastRows = 10;
constexpr std::size_t kMostConditionLabels = 1000;

struct Moments {
  double mean = 0;
  double scale = 0;
};

// Of all numbers in these rows of values [rows, numbers].
Moments moments_of(const Matrix<double>& values, std::span<const std::size_t> rows) {
  const double count = static_cast<double>(rows.size()) * static_cast<double>(values.cols());
  Moments moments;
  for (const std::size_t row : rows) {
    moments.mean += values.row(static_cast<Eigen::Index>(row)).sum() / count;
  }
  for (const std::size_t row : rows) {
    const auto distances = values.row(static_cast<Eigen::Index>(row)).array() - moments.mean;
    moments.scale += distances.square().sum() / count;
  }
  moments.scale = std::sqrt(moments.scale);
  return moments;
}

// Everything that Schema::fit knows while it works.
class Fit {
 public:
  Fit(const Table& table, const SchemaOptions& options)
      : table_(table), options_(options), rows_(usable_rows(table, options)) {
    if (rows_.size() < kLeastRows) {
      throw InputError(
          table.source,
          fmt::format("there {} {} of {} rows without missing {}; at least {} are needed{}",
                      rows_.size() == 1 ? "is" : "are", rows_.size(), table.rows(),
                      options.missing == Missing::keep ? "conditions" : "cells", kLeastRows,
                      options.missing == Missing::drop && table.rows() >= kLeastRows
                          ? ". --missing keep learns from the cells that the others have"
                          : ": add rows"));
    }
    if (rows_.size() < table.rows()) {
      leading.push_back(fmt::format("{} of {} rows have missing {} and are left out.",
                                    table.rows() - rows_.size(), table.rows(),
                                    options.missing == Missing::keep ? "conditions" : "cells"));
    }
    leading.insert(leading.end(), table.notes.begin(), table.notes.end());
    columns.resize(table.columns.size());
    values_.resize(table.columns.size());
    for (std::size_t i = 0; i < columns.size(); ++i) describe(i);
    if (options.missing == Missing::keep) note_gaps();
  }

  std::vector<ColumnInfo> columns;
  std::vector<std::string> leading;  // notes that matter
  std::vector<std::string> notes;    // others

  std::size_t rows() const { return rows_.size(); }

  void set_constants_and_copies() {
    // Conditions first: a feature equal to a condition is the copy.
    std::vector<std::size_t> order;
    for (const ColumnRole role : {ColumnRole::condition, ColumnRole::feature}) {
      for (std::size_t i = 0; i < columns.size(); ++i) {
        if (columns[i].role == role) order.push_back(i);
      }
    }
    // Columns with gaps may be equal and have different hashes: they are compared with all others.
    std::unordered_multimap<std::uint64_t, std::size_t> by_hash;
    for (const std::size_t i : order) {
      if (set_constant(i)) continue;
      const std::uint64_t hash = gaps_ ? 0 : hash_of(i);
      const auto [begin, end] = by_hash.equal_range(hash);
      const auto twin = std::find_if(begin, end, [&](const auto& e) { return equal(i, e.second); });
      if (twin == end) {
        by_hash.emplace(hash, i);
        continue;
      }
      refuse_distribution(i, fmt::format("equals column {} in all rows", name(twin->second)));
      columns[i].role = ColumnRole::copy;
      columns[i].copy_of = twin->second;
      leading.push_back(
          fmt::format("Column {} equals column {} in all rows: left out of the model, "
                      "restored as a copy in samples.",
                      name(i), name(twin->second)));
    }
  }

  // Noise, bounds, mean and scale of what is left.
  void set_maps(std::span<const std::size_t> training) {
    for (const std::size_t row : training) {
      if (row < rows_.size()) continue;
      throw std::invalid_argument(
          fmt::format("Schema::fit: training row {} of {} usable rows", row, rows_.size()));
    }
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (columns[i].role == ColumnRole::condition && columns[i].kind != ColumnKind::categorical) {
        standardize(i, training);
      }
    }
    if (options_.regress_on_conditions) encode_context();
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (columns[i].role != ColumnRole::feature) continue;
      if (columns[i].kind == ColumnKind::categorical) {
        set_unseen(i, training);
        continue;
      }
      if (columns[i].distribution) {
        compare_with_distribution(i);
      } else {
        add(fit_lattice(columns[i], numbers(i, {}), options_.ties));
        if (columns[i].bounds != Bounds{}) {
          leading.push_back(bounded_note(columns[i]));
          const std::vector<double> seen = numbers(i, training);
          add(fit_bounds(columns[i], numbers(i, {}), seen.empty() ? numbers(i, {}) : seen));
        }
      }
      if (context_.cols() > 0) set_regression(i, training);
      standardize(i, training);
      if (!columns[i].distribution) add(bound_notes(columns[i]));
    }
  }

 private:
  void encode_context() {
    std::size_t width = 0;
    for (const ColumnInfo& info : columns) {
      if (info.role == ColumnRole::condition) width += context_width(info);
    }
    context_.resize(static_cast<Eigen::Index>(rows_.size()), static_cast<Eigen::Index>(width));
    Eigen::Index first = 0;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (columns[i].role != ColumnRole::condition) continue;
      for (std::size_t r = 0; r < rows_.size(); ++r) {
        write_condition(columns[i], value(i, rows_[r]), first,
                        context_.row(static_cast<Eigen::Index>(r)));
      }
      first += static_cast<Eigen::Index>(context_width(columns[i]));
    }
  }

  void compare_with_distribution(std::size_t i) {
    std::vector<double> scores;
    for (const std::size_t row : rows_) {
      const double score = columns[i].distribution->normal_score(value(i, row));
      if (std::isfinite(score)) scores.push_back(score);
    }
    add(distribution_notes(columns[i], scores));
  }

  void set_regression(std::size_t i, std::span<const std::size_t> training) {
    ColumnInfo& info = columns[i];
    if (info.bounds != Bounds{} || !info.atoms.empty()) return;
    Vector<double> values(context_.rows());
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      values(static_cast<Eigen::Index>(r)) = value(i, rows_[r]);
    }
    const LinearFit fit = regress(context_, values, numbered(i, training));
    info.regression = fit.coefficients;
    info.regression_deviation = fit.deviation;
  }

  // Good and Turing's estimate: as likely as those that were seen once.
  void set_unseen(std::size_t i, std::span<const std::size_t> training) {
    ColumnInfo& info = columns[i];
    std::vector<std::size_t> counts(info.labels.size(), 0);
    const std::vector<std::size_t> rows = numbered(i, training);
    for (const std::size_t row : rows) ++counts[static_cast<std::size_t>(value(i, rows_[row]))];
    const auto once = static_cast<double>(std::count(counts.begin(), counts.end(), 1));
    info.unseen = std::min(0.5, std::max(once, 0.5) / static_cast<double>(rows.size() + 1));
    const Notes found = label_notes(info, rows_.size(), static_cast<std::size_t>(once));
    leading.insert(leading.end(), found.begin(), found.end());
  }

  // The values of these rows, or of all, that are no atoms.
  std::vector<double> numbers(std::size_t i, std::span<const std::size_t> training) const {
    std::vector<double> values;
    for (const std::size_t row : numbered(i, training)) values.push_back(value(i, rows_[row]));
    return values;
  }

  // Of these rows, or of all, those that have a value which is no atom.
  std::vector<std::size_t> numbered(std::size_t i, std::span<const std::size_t> training) const {
    std::vector<std::size_t> rows(training.begin(), training.end());
    if (training.empty()) {
      rows.resize(rows_.size());
      std::iota(rows.begin(), rows.end(), std::size_t{0});
    }
    std::erase_if(rows, [&](std::size_t row) {
      const double own = value(i, rows_[row]);
      return std::isnan(own) || (!columns[i].atoms.empty() && class_of(columns[i], own) > 0);
    });
    return rows;
  }

  // Before they are standardised; values on a lattice at some places of their cells.
  Matrix<double> free_values(std::size_t i) const {
    ColumnInfo plain = columns[i];
    plain.mean = 0;
    plain.scale = 1;
    const FeatureEncoder encode(plain);
    constexpr std::array kPlaces{0.125, 0.375, 0.625, 0.875};
    const std::size_t places = is_open(plain) ? kPlaces.size() : 1;
    Matrix<double> free(static_cast<Eigen::Index>(rows_.size()), static_cast<Eigen::Index>(places));
    for (Eigen::Index r = 0; r < free.rows(); ++r) {
      const Origin origin = plain.regression.empty() ? Origin{} : origin_of(plain, context_.row(r));
      const double own = value(i, rows_[static_cast<std::size_t>(r)]);
      for (std::size_t k = 0; k < places; ++k) {
        free(r, static_cast<Eigen::Index>(k)) =
            std::isnan(own) ? own : encode(own, kPlaces[k], origin).x;
      }
    }
    return free;
  }

  std::vector<double> values_of(std::size_t i, std::span<const std::size_t> chosen) const {
    std::vector<double> values;
    values.reserve(chosen.size());
    for (const std::size_t row : chosen) values.push_back(value(i, rows_[row]));
    return values;
  }

  void standardize(std::size_t i, std::span<const std::size_t> training) {
    ColumnInfo& info = columns[i];
    const auto count = static_cast<Eigen::Index>(rows_.size());
    const bool everything = training.empty() || options_.standardize == Standardize::all;
    const std::vector<std::size_t> all = numbered(i, {});
    const std::vector<std::size_t> chosen = everything ? all : numbered(i, training);
    Matrix<double> free(count, 1);
    if (info.role == ColumnRole::feature) {
      free = free_values(i);
    } else {
      info.tails = find_tails(values_of(i, chosen));
      for (Eigen::Index r = 0; r < count; ++r) {
        free(r, 0) = info.tails.draw_in(value(i, rows_[static_cast<std::size_t>(r)]));
      }
    }
    Moments moments = moments_of(free, chosen);
    // Constant in the training rows only.
    if (!(moments.scale > 0)) moments = moments_of(free, all);
    info.mean = moments.mean;
    info.scale = moments.scale;
    if (!(info.scale > 0 && std::isfinite(info.scale))) {
      throw InputError(table_.source,
                       fmt::format("column {} varies too little to be standardised; change its "
                                   "unit or leave it out with --ignore {}",
                                   name(i), info.name));
    }
    if (info.role == ColumnRole::feature) add(tail_notes(info, free));
  }

  double value(std::size_t i, std::size_t row) const { return values_[i]->values()[row]; }
  std::string name(std::size_t i) const { return quote(columns[i].name); }

  void describe(std::size_t i) {
    const Column& column = table_.columns[i];
    ColumnInfo& info = columns[i];
    info = initial_info(table_, column, options_);
    if (info.role == ColumnRole::left_out) {
      if (!contains(options_.ignore, info.name) && info.name != options_.weights) {
        leading.push_back(fmt::format("Column {} has no values and is left out.", name(i)));
      }
      return;
    }
    values_[i].emplace(table_, column, info);
    if (info.role == ColumnRole::feature && has_too_few(i)) return;
    if (info.kind == ColumnKind::categorical && info.role == ColumnRole::feature && names_rows(i)) {
      return;
    }
    if (info.kind == ColumnKind::categorical) {
      if (info.role == ColumnRole::condition && info.labels.size() > kMostConditionLabels) {
        throw InputError(table_.source,
                         fmt::format("column {} has {} labels; a condition may have {}", name(i),
                                     info.labels.size(), kMostConditionLabels));
      }
      return;
    }
    const std::vector<std::size_t> rows = known_rows(i);
    info.minimum = info.maximum = value(i, rows.front());
    for (const std::size_t row : rows) {
      info.minimum = std::min(info.minimum, value(i, row));
      info.maximum = std::max(info.maximum, value(i, row));
      if (info.kind == ColumnKind::integer && std::floor(value(i, row)) != value(i, row)) {
        refuse_cell(table_, column, row,
                    fmt::format("is declared as integer but has {}; correct the cell or the "
                                "declaration",
                                value(i, row)));
      }
    }
  }

  // A label in nearly every row says nothing about other rows: the column is left out, or refused
  // if it was declared.
  bool names_rows(std::size_t i) {
    constexpr double kNearlyAll = 0.9;
    constexpr std::size_t kFewRows = 20;  // of which labels may differ by chance
    ColumnInfo& info = columns[i];
    const std::vector<std::size_t> rows = known_rows(i);
    if (rows.size() < kFewRows) return false;
    std::set<double> found;
    for (const std::size_t row : rows) found.insert(value(i, row));
    if (static_cast<double>(found.size()) <= kNearlyAll * static_cast<double>(rows.size())) {
      return false;
    }
    const std::string labels = fmt::format("column {} has {} different labels in {} rows", name(i),
                                           found.size(), rows.size());
    if (contains(options_.categorical, info.name)) {
      throw InputError(table_.source,
                       fmt::format("{}, too many to learn anything about them; leave it out with "
                                   "--ignore {}",
                                   labels, info.name));
    }
    leading.push_back(
        fmt::format("C{}: taken for names of the rows, and left out.", labels.substr(1)));
    leave_out(info);
    return true;
  }

  // Where rows with gaps are kept, a column may have next to nothing in them.
  bool has_too_few(std::size_t i) {
    const std::size_t count = known_rows(i).size();
    if (count >= kLeastRows || count == rows_.size()) return false;
    ColumnInfo& info = columns[i];
    refuse_distribution(i, fmt::format("has {} values", count));
    leading.push_back(
        fmt::format("Column {} has {} value{} in {} rows, too few to learn from: left "
                    "out.",
                    name(i), count, count == 1 ? "" : "s", rows_.size()));
    leave_out(info);
    return true;
  }

  static void leave_out(ColumnInfo& info) {
    info.role = ColumnRole::left_out;
    info.kind = ColumnKind::ignored;
    info.labels.clear();
  }

  bool set_constant(std::size_t i) {
    const std::vector<std::size_t> rows = known_rows(i);
    const double first = value(i, rows.front());
    const auto same = [&](std::size_t row) { return value(i, row) == first; };
    if (!std::all_of(rows.begin(), rows.end(), same)) return false;
    refuse_distribution(i, fmt::format("is {} in all rows", first));
    columns[i].role = ColumnRole::constant;
    columns[i].constant = first;
    leading.push_back(
        fmt::format("Column {} is {} in all rows: left out of the model, restored in samples.",
                    name(i), quote(table_.columns[i].text(rows.front()))));
    return true;
  }

  // Such a column would leave the model, and a parameter without its posterior.
  void refuse_distribution(std::size_t i, const std::string& found) const {
    if (!columns[i].distribution) return;
    throw InputError(table_.source,
                     fmt::format("column {} {}, but has the prior {}; draw it from the prior, or "
                                 "leave it out of the prior",
                                 name(i), found, columns[i].distribution->describe()));
  }

  std::uint64_t hash_of(std::size_t i) const {
    Fingerprint values;
    for (const std::size_t row : rows_) {
      const double positive_zero = value(i, row) + 0.0;  // of -0 too, which is equal to it
      values.add(std::span<const double>(&positive_zero, 1));
    }
    return values.value();
  }

  bool equal(std::size_t i, std::size_t j) const {
    const bool categorical = columns[i].kind == ColumnKind::categorical;
    return categorical == (columns[j].kind == ColumnKind::categorical) &&
           columns[i].labels == columns[j].labels && equal_where_known(i, j);
  }

  // In enough rows that both columns have.
  bool equal_where_known(std::size_t i, std::size_t j) const {
    std::size_t both = 0;
    for (const std::size_t row : rows_) {
      if (std::isnan(value(i, row)) || std::isnan(value(j, row))) continue;
      if (value(i, row) != value(j, row)) return false;
      ++both;
    }
    return both >= kLeastRows;
  }

  // Where the column has a value: all rows, unless those with missing cells are kept.
  std::vector<std::size_t> known_rows(std::size_t i) const {
    std::vector<std::size_t> rows = rows_;
    std::erase_if(rows, [&](std::size_t row) { return std::isnan(value(i, row)); });
    if (!rows.empty()) return rows;
    throw InputError(
        table_.source,
        fmt::format("column {} has no value in the {} rows that can be used; fill some "
                    "in, or leave it out with --ignore {}",
                    name(i), rows_.size(), columns[i].name));
  }

  void note_gaps() {
    std::size_t rows = 0;
    std::size_t cells = 0;
    for (const std::size_t row : rows_) {
      std::size_t own = 0;
      for (std::size_t i = 0; i < columns.size(); ++i) {
        if (values_[i] && columns[i].role == ColumnRole::feature) {
          own += std::isnan(value(i, row)) ? 1 : 0;
        }
      }
      rows += own > 0 ? 1 : 0;
      cells += own;
    }
    gaps_ = cells > 0;
    if (!gaps_) return;
    leading.push_back(fmt::format(
        "{} of {} rows have missing cells, {} in all: they are learned from with what they have.",
        rows, rows_.size(), cells));
  }

  void add(const std::vector<std::string>& more) {
    notes.insert(notes.end(), more.begin(), more.end());
  }

  const Table& table_;
  const SchemaOptions& options_;
  std::vector<std::size_t> rows_;
  std::vector<std::optional<ColumnValues>> values_;
  bool gaps_ = false;  // whether rows with missing cells are kept
  Matrix<double>
      context_;  // [complete rows, context features]; empty unless features regress on it
};

}  // namespace

void check_cells(const Table& table, const SchemaOptions& options) {
  options.validate();
  require_columns(table, options);
  static_cast<void>(Fit(table, options));
}

Schema Schema::fit(const Table& table, const SchemaOptions& options,
                   std::span<const std::size_t> training) {
  options.validate();
  require_columns(table, options);
  Fit fit(table, options);
  fit.set_constants_and_copies();
  fit.set_maps(training);
  Schema schema;
  schema.columns_ = std::move(fit.columns);
  schema.delimiter_ = table.delimiter;
  schema.missing_texts_ = table.missing;
  schema.missing_ = options.missing;
  schema.weights_ = options.weights;
  if (!options.weights.empty()) {
    fit.leading.push_back(
        fmt::format("Rows count as much as column {} says.", quote(options.weights)));
  }
  schema.index_columns();
  if (schema.features() == 0) {
    throw InputError(table.source,
                     "no column is left to model: all are conditions, ignored, constant, copies, "
                     "empty or nearly so");
  }
  if (schema.features() > fit.rows()) {
    fit.leading.push_back(
        fmt::format("There are more columns ({}) than rows ({}): the density can only be rough.",
                    schema.features(), fit.rows()));
  }
  schema.leading_notes_ = fit.leading.size();
  schema.notes_ = std::move(fit.leading);
  schema.notes_.insert(schema.notes_.end(), fit.notes.begin(), fit.notes.end());
  return schema;
}

}  // namespace jeffreys

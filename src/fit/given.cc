#include "jeffreys/fit/given.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/quote.h"
#include "fit/given_rows.h"
#include "jeffreys/base/input_error.h"
#include "jeffreys/base/random_purpose.h"

namespace jeffreys {
namespace {

// Rows that are drawn from one set of proposals, and how many of these there are for each.
constexpr Eigen::Index kDrawsAtOnce = 4096;
constexpr Eigen::Index kProposalsForEach = 16;
constexpr Eigen::Index kLeastProposals = 4096;

const ColumnInfo& find_column(const Schema& schema, const std::string& name,
                              const std::string& source) {
  for (const ColumnInfo& info : schema.columns()) {
    if (info.name == name && info.role != ColumnRole::left_out) return info;
  }
  std::vector<std::string> known = schema.feature_names();
  for (const std::string& condition : schema.condition_names()) known.push_back(condition);
  throw InputError(source, fmt::format("{} is no column of the model; its columns are {}",
                                       quote(name), fmt::join(known, ", ")));
}

// A given value that no row of the model can have, beyond what encoding refuses.
void check_given_value(const Schema& schema, const ColumnInfo& info, const Column& column,
                       std::size_t row, const std::string& source) {
  const auto refuse = [&](const std::string& problem) {
    throw InputError(source, fmt::format("column {} is given as {}, but {}", quote(info.name),
                                         quote(column.text(row)), problem));
  };
  if (info.role == ColumnRole::copy) {
    refuse(fmt::format("it is a copy of {}: give that one",
                       quote(schema.columns()[info.copy_of].name)));
  }
  if (info.role == ColumnRole::constant) {
    const bool text = info.kind == ColumnKind::categorical;
    const bool same = text
                          ? column.text(row) == info.labels[static_cast<std::size_t>(info.constant)]
                          : !column.is_text() && column.numbers[row] == info.constant;
    if (!same) refuse("all rows that the model knows have one and the same other value there");
  }
  if (info.kind == ColumnKind::integer && !column.is_text() &&
      column.numbers[row] != std::floor(column.numbers[row])) {
    refuse("it holds whole numbers; give one");
  }
}

void check_given(const Schema& schema, const Table& given) {
  for (const Column& column : given.columns) {
    for (const ColumnInfo& info : schema.columns()) {
      if (info.name != column.name || info.role == ColumnRole::left_out) continue;
      for (std::size_t row = 0; row < column.rows(); ++row) {
        if (!column.missing(row)) check_given_value(schema, info, column, row, given.source);
      }
    }
  }
}

// Rounding must not change what was given.
void copy_given(const Table& given, Eigen::Index each, Table& table) {
  for (Column& column : table.columns) {
    const Column* source = given.find(column.name);
    if (source == nullptr || source->is_text() || column.is_text()) continue;
    for (std::size_t i = 0; i < column.rows(); ++i) {
      const std::size_t row = i / static_cast<std::size_t>(each);
      if (source->missing(row)) continue;
      column.numbers[i] = source->numbers[row];
      column.notation.make_room_for(column.numbers[i]);
    }
  }
}

[[noreturn]] void refuse_unusual(const Table& given, std::size_t row) {
  throw InputError(
      given.source,
      fmt::format("{}what is given is so unusual for the model that too few of {} proposals count: "
                  "correct the values, or give fewer columns",
                  given.rows() > 1 ? fmt::format("row {}: ", row + 1) : "", Eigen::Index{1} << 18),
      given.line(row));
}

Table with_columns(const Schema& schema, const Table& table,
                   const std::vector<std::string>& names) {
  Table part{table.source, {}, table.anchors};
  std::vector<std::string> wanted = schema.condition_names();
  for (const std::string& name : names) {
    find_column(schema, name, table.source);
    if (table.find(name) == nullptr) {
      throw InputError(table.source, fmt::format("there is no column {}", quote(name)));
    }
    wanted.push_back(name);
  }
  for (const Column& column : table.columns) {
    if (std::find(wanted.begin(), wanted.end(), column.name) != wanted.end()) {
      part.columns.push_back(column);
    }
  }
  if (part.columns.empty()) {
    // No column is given, and there are no conditions: as many rows as the table has.
    part.columns.push_back({.name = "", .numbers = std::vector<double>(table.rows(), 0)});
  }
  return part;
}

}  // namespace

template <typename T>
GivenSamples sample_given(const TabularDensity<T>& density, const Table& given, Eigen::Index each,
                          std::uint64_t seed, From from) {
  check_given(density.schema(), given);
  const Schema::Encoded rows = density.schema().encode_known(given);
  if (rows.dropped > 0) {
    throw InputError(given.source, "a condition has a missing cell; a condition needs a value");
  }
  if (rows.gaps.size() == 0) {
    throw InputError(given.source,
                     "every column of the model is given, so that nothing is left to draw: give "
                     "fewer columns");
  }
  const GivenRows<T> completions(density, rows, from);
  GivenSamples result{{}, INFINITY};
  Matrix<double> x(rows.size() * each, rows.x.cols());
  Matrix<double> context(x.rows(), rows.context.cols());
  for (Eigen::Index row = 0; row < rows.size(); ++row) {
    for (Eigen::Index first = 0; first < each; first += kDrawsAtOnce) {
      const Eigen::Index count = std::min(kDrawsAtOnce, each - first);
      const auto part =
          static_cast<std::uint64_t>(row) << 20U | static_cast<std::uint64_t>(first / kDrawsAtOnce);
      const double enough = std::max(kLeastEffectiveSamples, static_cast<double>(count));
      const auto found =
          completions.complete(row, enough, std::max(kLeastProposals, kProposalsForEach * count),
                               {seed, kGapDraws, part});
      if (!found) refuse_unusual(given, static_cast<std::size_t>(row));
      result.effective_samples = std::min(result.effective_samples, found->effective_samples());
      x.middleRows(row * each + first, count) =
          GivenRows<T>::draw(*found, count, {seed, kGapChoice, part});
    }
    context.middleRows(row * each, each).rowwise() = rows.context.row(row);
  }
  result.table = density.schema().decode(x, context);
  copy_given(given, each, result.table);
  return result;
}

template <typename T>
TableLogProb log_prob_given(const TabularDensity<T>& density, const Table& table,
                            const std::vector<std::string>& columns,
                            const std::vector<std::string>& given, From from) {
  const Schema& schema = density.schema();
  std::vector<std::string> both = columns.empty() ? schema.feature_names() : columns;
  both.insert(both.end(), given.begin(), given.end());
  const Schema::Encoded joint =
      schema.encode_known(with_columns(schema, table, both), Unusual::keep);
  require_few_open(joint);
  TableLogProb result{density.score(joint, from), joint.rows, joint.dropped, joint.unusual};
  for (Eigen::Index row = 0; row < joint.size(); ++row) {
    if (joint.has_gaps(row) || !given.empty())
      result.with_gaps.push_back(static_cast<std::size_t>(row));
  }
  if (given.empty()) return result;
  const Schema::Encoded known_rows =
      schema.encode_known(with_columns(schema, table, given), Unusual::keep);
  require_few_open(known_rows);
  const RowScores known = density.score(known_rows, from);
  result.log_prob -= known.log_prob;
  result.error = (result.error.array().square() + known.error.array().square()).sqrt();
  return result;
}

void withhold_uncertain(TableLogProb& scores) {
  const double most = 1 / std::sqrt(kLeastEffectiveSamples);
  for (const std::size_t i : scores.with_gaps) {
    const auto place = static_cast<Eigen::Index>(i);
    if (!(scores.error(place) > most) || !std::isfinite(scores.log_prob(place))) continue;
    scores.log_prob(place) = std::nan("");
    std::string& note = scores.unusual[scores.rows[i]];
    note += fmt::format(
        "{}what is known is so unusual that the integral over the rest is uncertain "
        "by {:.2g} nats",
        note.empty() ? "" : "; ", scores.error(place));
  }
}

bool gives_features(const Table& given, const Schema& schema) {
  const std::vector<std::string> conditions = schema.condition_names();
  return std::any_of(given.columns.begin(), given.columns.end(), [&](const Column& column) {
    return std::find(conditions.begin(), conditions.end(), column.name) == conditions.end();
  });
}

template GivenSamples sample_given(const TabularDensity<float>&, const Table&, Eigen::Index,
                                   std::uint64_t, From);
template GivenSamples sample_given(const TabularDensity<double>&, const Table&, Eigen::Index,
                                   std::uint64_t, From);
template TableLogProb log_prob_given(const TabularDensity<float>&, const Table&,
                                     const std::vector<std::string>&,
                                     const std::vector<std::string>&, From);
template TableLogProb log_prob_given(const TabularDensity<double>&, const Table&,
                                     const std::vector<std::string>&,
                                     const std::vector<std::string>&, From);

}  // namespace jeffreys

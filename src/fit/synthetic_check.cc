#include "jeffreys/fit/synthetic_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "fit/closest_rows.h"
#include "fit/shape_distance.h"
#include "jeffreys/base/input_error.h"
#include "jeffreys/table/split.h"

namespace jeffreys {
namespace {

constexpr std::size_t kFewestRows = 20;
// Of each table: more would take long and say little more.
constexpr std::size_t kMostShapeRows = 5000;
constexpr std::size_t kMostDistances = 20000;

Schema::Encoded complete(const Schema& schema, const Table& table, const char* what) {
  Schema::Encoded encoded = schema.encode(table, Unusual::keep);
  if (encoded.rows.size() < kFewestRows) {
    throw InputError(table.source,
                     fmt::format("only {} complete {} rows; a check needs at least {}: give more",
                                 encoded.rows.size(), what, kFewestRows));
  }
  return encoded;
}

Schema::Encoded at_most(const Schema::Encoded& rows, std::size_t most, std::uint64_t seed) {
  if (rows.rows.size() <= most) return rows;
  std::vector<std::size_t> places(rows.rows.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  places = random_rows(std::move(places), most, seed);
  Schema::Encoded some{rows.take(places)};
  for (const std::size_t place : places) some.rows.push_back(rows.rows[place]);
  return some;
}

// As many of either kind.
TwoSampleResult tell_apart(const PooledColumns& pooled) {
  const std::size_t each = std::min(pooled.first, pooled.second);
  Matrix<double> real(static_cast<Eigen::Index>(each),
                      static_cast<Eigen::Index>(pooled.columns.size()));
  Matrix<double> synthetic = real;
  std::vector<std::size_t> of_first(pooled.first);
  std::vector<std::size_t> of_second(pooled.second);
  std::iota(of_first.begin(), of_first.end(), std::size_t{0});
  std::iota(of_second.begin(), of_second.end(), pooled.first);
  of_first = random_rows(std::move(of_first), each, 0);
  of_second = random_rows(std::move(of_second), each, 0);
  for (std::size_t c = 0; c < pooled.columns.size(); ++c) {
    for (std::size_t r = 0; r < each; ++r) {
      const auto row = static_cast<Eigen::Index>(r);
      const auto column = static_cast<Eigen::Index>(c);
      real(row, column) = pooled.columns[c].values[of_first[r]];
      synthetic(row, column) = pooled.columns[c].values[of_second[r]];
    }
  }
  return classifier_two_sample_test(real, synthetic);
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void warn(const SyntheticCheck& check, std::vector<std::string>& warnings) {
  const auto beyond = [](const std::vector<ShapeDistance>& list) {
    std::vector<const ShapeDistance*> found;
    for (const ShapeDistance& each : list) {
      if (each.distance > each.chance) found.push_back(&each);
    }
    std::sort(found.begin(), found.end(),
              [](const auto* a, const auto* b) { return a->distance > b->distance; });
    return found;
  };
  constexpr std::size_t kNamed = 3;
  const auto columns = beyond(check.columns);
  for (std::size_t i = 0; i < std::min(kNamed, columns.size()); ++i) {
    warnings.push_back(fmt::format("column {} differs from the real one by {:.3f} (chance: {:.3f})",
                                   columns[i]->columns[0], columns[i]->distance,
                                   columns[i]->chance));
  }
  if (columns.size() > kNamed) {
    warnings.push_back(fmt::format("and {} more columns differ", columns.size() - kNamed));
  }
  const auto pairs = beyond(check.pairs);
  if (!pairs.empty()) {
    warnings.push_back(fmt::format(
        "{} of {} pairs of columns differ by more than chance, most of all {} by {:.3f} (chance: "
        "{:.3f})",
        pairs.size(), check.pairs.size(), fmt::join(pairs[0]->columns, " and "), pairs[0]->distance,
        pairs[0]->chance));
  }
}

std::string verdict_of(const SyntheticCheck& check) {
  const ClosestRows& closest = check.closest;
  const std::string equal = fmt::format(
      "{} of {} synthetic rows equal rows that were learned from ({} of {} real rows equal one)",
      closest.copies.size(), closest.synthetic.size(), closest.real_copies, closest.real.size());
  if (check.copied && closest.p_value < kUnlikely) {
    return fmt::format(
        "do not publish it: {:.1f} % of the synthetic rows are closer to a row that was learned "
        "from than 5 % of new rows are, for the model knows rows by heart{}",
        100.0 * static_cast<double>(closest.too_close) /
            static_cast<double>(closest.synthetic.size()),
        closest.copies.empty() ? "" : "; " + equal);
  }
  if (check.copied) return "do not publish it: " + equal;
  const std::string copies =
      closest.copies.empty()
          ? "no copies found"
          : "look at the copies before you publish it: " + equal + ", no more than real rows do";
  const bool told = check.classifier.accuracy > 0.5 + 2 * check.classifier.standard_error;
  return fmt::format(
      "{}; synthetic rows are no closer to those that were learned from than new rows are (median "
      "{:.3g} and {:.3g}), and a classifier {} tell them from real ones ({:.0f} % right, where "
      "guessing is 50 %)",
      copies, median(closest.synthetic), median(closest.real), told ? "can" : "cannot",
      100 * check.classifier.accuracy);
}

}  // namespace

SyntheticCheck check_synthetic(const Schema& schema, const Table& real, const Table& synthetic,
                               const Table* training) {
  const Schema::Encoded real_rows = complete(schema, real, "real");
  const Schema::Encoded synthetic_rows = complete(schema, synthetic, "synthetic");
  SyntheticCheck check{.synthetic_rows = synthetic_rows.rows.size(),
                       .real_rows = real_rows.rows.size()};
  const PooledColumns pooled =
      pooled_columns(schema, real, random_rows(real_rows.rows, kMostShapeRows, 0), synthetic,
                     random_rows(synthetic_rows.rows, kMostShapeRows, 0));
  check.columns = column_distances(pooled, 0);
  check.pairs = pair_distances(pooled, 0);
  check.classifier = tell_apart(pooled);
  const Schema::Encoded judged = at_most(real_rows, kMostDistances, 0);
  const Schema::Encoded learned =
      training == nullptr ? Schema::Encoded()
                          : at_most(complete(schema, *training, "training"), kMostDistances, 0);
  check.closest = closest_rows(schema, judged, at_most(synthetic_rows, kMostDistances, 0),
                               training == nullptr ? judged : learned);
  const std::size_t most =
      std::max({check.synthetic_rows, check.real_rows, training == nullptr ? 0 : training->rows()});
  if (most > kMostDistances) {
    check.warnings.push_back(fmt::format(
        "copies were looked for among {} rows of each table, chosen at random", kMostDistances));
  }
  check.copied = has_copies(schema, check.closest);
  check.verdict = verdict_of(check);
  warn(check, check.warnings);
  return check;
}

}  // namespace jeffreys

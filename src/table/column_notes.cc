#include "table/column_notes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "base/quote.h"

namespace jeffreys {
namespace {

std::string name_of(const ColumnInfo& info) { return quote(info.name); }

std::string percent(double share) { return fmt::format("{:.3g} %", 100 * share); }

}  // namespace

Notes label_notes(const ColumnInfo& info, std::size_t rows, std::size_t once) {
  const std::size_t labels = info.labels.size();
  Notes notes{
      fmt::format("Column {} is categorical with {} labels{}.", name_of(info), labels,
                  once > 0 ? fmt::format(", {} of them in a single training row", once) : "")};
  if (2 * labels >= rows) {
    notes.push_back(
        fmt::format("Column {} has a label for every other row or more. If it only "
                    "names the rows, leave it out with --ignore {}.",
                    name_of(info), info.name));
  }
  return notes;
}

Notes order_notes(const ColumnInfo& info, const std::vector<double>& values) {
  for (std::size_t r = 1; r < values.size(); ++r) {
    if (values[r] != values[r - 1] + 1) return {};
  }
  return {
      fmt::format("Column {} counts the rows. If it means nothing else, leave it out with "
                  "--ignore {}.",
                  name_of(info), info.name)};
}

Notes tie_notes(const ColumnInfo& info, const Repeats& repeats, std::size_t rows) {
  const std::string found =
      info.kind == ColumnKind::integer
          ? "holds integers"
          : fmt::format("has ties ({} different values in {} rows)", repeats.distinct, rows);
  const bool rounded = info.resolution > 0;
  const std::string resolution =
      rounded ? fmt::format("resolution {}", info.resolution) : "no common resolution";
  return {fmt::format(
      "Column {} {}, {}: a value stands for its cell of width {:.6g}, whose probability is "
      "scored{}.",
      name_of(info), found, resolution, info.noise, rounded ? "; samples are rounded" : "")};
}

Notes atom_notes(const ColumnInfo& info, std::size_t held, std::size_t rows) {
  const double share = static_cast<double>(held) / static_cast<double>(rows);
  return {fmt::format(
      "Column {}: {} of the rows are exactly {}, the others are spread finely. {} a probability "
      "of {} own.",
      name_of(info), percent(share), fmt::join(info.atoms, " or "),
      info.atoms.size() == 1 ? "This value has" : "These values have",
      info.atoms.size() == 1 ? "its" : "their")};
}

std::string bounded_note(const ColumnInfo& info) {
  const auto [lower, upper] = info.bounds;
  const std::string least = std::isfinite(lower) ? info.notation.write(lower) : "";
  const std::string most = std::isfinite(upper) ? info.notation.write(upper) : "";
  return fmt::format("Column {} never lies {}.", name_of(info),
                     least.empty()  ? "above " + most
                     : most.empty() ? "below " + least
                                    : fmt::format("below {} or above {}", least, most));
}

// Only where a normal distribution of the same mean and deviation would reach beyond.
Notes bound_notes(const ColumnInfo& info) {
  constexpr double kReach = 3;    // deviations
  constexpr double kNear0 = 0.1;  // of the largest value
  if (info.kind == ColumnKind::integer && info.maximum - info.minimum == info.resolution) {
    return {
        fmt::format("Column {} has two values. If they are labels, say so with --categorical {}.",
                    name_of(info), info.name)};
  }
  if (info.bounds != Bounds{} || !info.regression.empty() || info.minimum < 0 ||
      info.minimum > kNear0 * info.maximum || info.mean - kReach * info.scale >= 0) {
    return {};
  }
  const bool share = info.maximum <= 1 && info.mean + kReach * info.scale > 1;
  return {fmt::format(
      "Column {} has values from {:.4g} to {:.4g}. If it cannot be {}, say so with --bound {}={}.",
      name_of(info), info.minimum, info.maximum, share ? "below 0 or above 1" : "negative",
      info.name, share ? "0:1" : "0:")};
}

Notes tail_notes(const ColumnInfo& info, const Matrix<double>& free) {
  const double share = ((free.array() - info.mean).abs() > 5 * info.scale).cast<double>().mean();
  if (share <= 0.01) return {};
  return {
      fmt::format("Column {} has heavy tails: {} of the rows are more than 5 standard "
                  "deviations from the mean, where the model is coarse. Bounds or a logarithm "
                  "may help.",
                  name_of(info), percent(share))};
}

Notes distribution_notes(const ColumnInfo& info, const std::vector<double>& scores) {
  // Draws miss by this much once in a million tables.
  constexpr double kStandardErrors = 5;
  const Eigen::Map<const Vector<double>> all(scores.data(),
                                             static_cast<Eigen::Index>(scores.size()));
  if (scores.empty()) return {};
  const auto rows = static_cast<double>(scores.size());
  const double mean = all.mean();
  const double deviation = std::sqrt((all.array() - mean).square().mean());
  if (std::abs(mean) <= kStandardErrors / std::sqrt(rows) &&
      std::abs(deviation - 1) <= kStandardErrors / std::sqrt(2 * rows)) {
    return {};
  }
  return {fmt::format(
      "Column {} is not distributed as its prior says ({}): its normal scores have mean "
      "{:.3g} and deviation {:.3g} instead of 0 and 1. The posterior will be that under "
      "the rows' own distribution.",
      name_of(info), info.distribution->describe(), mean, deviation)};
}

}  // namespace jeffreys

#include "table/column_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/quote.h"
#include "table/bound_map.h"
#include "table/ties.h"

namespace jeffreys {
namespace {

// The cells of ties are at least as wide as this share of the standard deviation: what is narrower
// is a spike that no model of a density can follow.
constexpr double kLeastNoise = 1e-6;

double deviation_of(const std::vector<double>& values) {
  const Eigen::Map<const Vector<double>> numbers(values.data(),
                                                 static_cast<Eigen::Index>(values.size()));
  return std::sqrt((numbers.array() - numbers.mean()).square().mean());
}

Notes joined(Notes notes, const Notes& more) {
  notes.insert(notes.end(), more.begin(), more.end());
  return notes;
}

// The outer edges of the cells of the outermost values that the bounds allow. Values that repeat
// without a lattice have cells as wide as their noise.
Bounds reach_of(const ColumnInfo& info) {
  if (info.noise == 0) return info.bounds;
  constexpr double kRounding = 1e-6;  // of a step, by which a bound may miss the lattice
  const auto outermost = [&](double bound, double inwards) {
    if (info.resolution == 0 || !std::isfinite(bound)) return bound;
    const double step = inwards * (bound - info.offset) / info.resolution;
    return info.offset + inwards * std::ceil(step - kRounding) * info.resolution;
  };
  return {outermost(info.bounds.lower, 1) - info.noise / 2,
          outermost(info.bounds.upper, -1) + info.noise / 2};
}

Notes set_nudge(ColumnInfo& info, const std::vector<double>& values) {
  std::size_t at_bound = 0;
  double nearest = 0;
  for (const double value : values) {
    const double distance = std::min(value - info.bounds.lower, info.bounds.upper - value);
    if (distance <= 0) ++at_bound;
    if (distance > 0 && (nearest == 0 || distance < nearest)) nearest = distance;
  }
  // All values at the two bounds: any small share of the range will do.
  if (nearest == 0) nearest = 1e-3 * (info.bounds.upper - info.bounds.lower);
  info.nudge = std::min(nearest, info.noise > 0 ? 1e-6 * info.noise : nearest) / 2;
  if (at_bound == 0 || info.noise > 0) return {};
  return {
      fmt::format("Column {}: {} of {} rows lie exactly at a bound and are moved inside by {:.3g}.",
                  quote(info.name), at_bound, values.size(), info.nudge)};
}

}  // namespace

Notes fit_lattice(ColumnInfo& info, std::vector<double> values, Ties ties) {
  const std::size_t rows = values.size();
  std::sort(values.begin(), values.end());
  const Notes notes = order_notes(info, values);
  const bool declared = info.kind == ColumnKind::integer;
  if (ties == Ties::keep && !declared) return notes;
  if (!declared) info.atoms = take_atoms(values);
  const Lattice lattice = find_lattice(values);
  if (lattice.whole()) info.kind = ColumnKind::integer;
  if (!info.atoms.empty()) {
    info.resolution = lattice.step;
    info.offset = lattice.offset;
    return joined(notes, atom_notes(info, rows - values.size(), rows));
  }
  const Repeats repeats = count_repeats(values);
  if (!repeats.ties && info.kind != ColumnKind::integer) return notes;
  info.resolution = declared ? 1 : lattice.step;
  info.offset = declared ? 0 : lattice.offset;
  info.noise = info.resolution > 0 ? info.resolution : lattice.least_gap;
  if (repeats.ties) info.noise = std::max(info.noise, kLeastNoise * deviation_of(values));
  return joined(notes, tie_notes(info, repeats, rows));
}

Notes fit_bounds(ColumnInfo& info, const std::vector<double>& values,
                 std::vector<double> training) {
  info.reach = reach_of(info);
  const Notes notes = set_nudge(info, values);
  for (double& value : training) {
    value = std::clamp(value, info.reach.lower + info.nudge, info.reach.upper - info.nudge);
  }
  info.shape = BoundMap::fit(info.reach, training);
  return notes;
}

}  // namespace jeffreys

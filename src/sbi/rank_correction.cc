#include "sbi/rank_correction.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace jeffreys {
namespace {

// Enough for shapes that were seen, with some 50 places in each.
constexpr std::size_t kFewestCells = 4;
constexpr std::size_t kMostCells = 20;
constexpr std::size_t kPlacesPerCell = 50;
constexpr double kLeast = 0.05;  // a region without places is rare, not impossible

std::size_t cell_of(double place, std::size_t cells) {
  const double at = std::clamp(place, 0.0, 1.0) * static_cast<double>(cells);
  return std::min(static_cast<std::size_t>(at), cells - 1);
}

std::vector<double> histogram(std::span<const double> places, std::size_t cells) {
  std::vector<double> density(cells, 0.0);
  const double unit = static_cast<double>(cells) / static_cast<double>(places.size());
  for (const double place : places) density[cell_of(place, cells)] += unit;
  return density;
}

std::size_t cells_for(std::size_t places) {
  return std::clamp(places / kPlacesPerCell, kFewestCells, kMostCells);
}

// With weights 1, 2, 1, as far as there are neighbours.
std::vector<double> smoothed(const std::vector<double>& values) {
  std::vector<double> result(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    double sum = 2 * values[i];
    double weight = 2;
    if (i > 0) sum += values[i - 1], weight += 1;
    if (i + 1 < values.size()) sum += values[i + 1], weight += 1;
    result[i] = sum / weight;
  }
  return result;
}

}  // namespace

RankCorrection::RankCorrection(const Cells& raw) : cells_{smoothed(raw.density)} {
  std::vector<double>& density = cells_.density;
  for (double& value : density) value = std::max(value, kLeast);
  const double sum = std::accumulate(density.begin(), density.end(), 0.0);
  for (double& value : density) value *= static_cast<double>(density.size()) / sum;
}

RankCorrection::RankCorrection(std::span<const double> places)
    : RankCorrection(Cells{histogram(places, cells_for(places.size()))}) {}

RankCorrection RankCorrection::for_mixture(std::span<const double> alone,
                                           std::span<const double> mixed, int together,
                                           int members) {
  if (together < 2) return RankCorrection(mixed);
  const std::size_t cells = cells_for(mixed.size());
  const std::vector<double> before = histogram(alone, cells);
  std::vector<double> density = histogram(mixed, cells);
  const double reach = (1 - 1.0 / members) / (1 - 1.0 / together);
  for (std::size_t i = 0; i < cells; ++i) {
    density[i] = before[i] + reach * (density[i] - before[i]);
  }
  return RankCorrection(Cells{std::move(density)});
}

double RankCorrection::density(double place) const {
  return cells_.density[cell_of(place, cells_.density.size())];
}

}  // namespace jeffreys

#include "report/smooth_density.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace jeffreys::report {
namespace {

// Deviations of the blur, in cells.
constexpr std::array<double, 10> kBlurs = {0.7, 1, 1.4, 2, 2.8, 4, 5.6, 8, 11, 16};

Eigen::Index cell_of(double value, const Interval& range, Eigen::Index cells) {
  const double place = (value - range.min) / (range.max - range.min) * static_cast<double>(cells);
  if (!(place >= 0 && place <= static_cast<double>(cells))) return -1;
  return std::min(static_cast<Eigen::Index>(place), cells - 1);
}

// Where a cell beyond an end is reflected to.
Eigen::Index reflected(Eigen::Index cell, Eigen::Index cells) {
  if (cells == 1) return 0;
  const Eigen::Index period = 2 * cells;
  const Eigen::Index inside = ((cell % period) + period) % period;
  return inside < cells ? inside : period - 1 - inside;
}

// Blurs along the columns of cells. The ends reflect, so that a density that is cut off there, as
// by a prior, keeps its height.
Matrix<double> blurred_across(const Matrix<double>& cells, double deviation) {
  const auto reach = static_cast<Eigen::Index>(std::ceil(4 * deviation));
  Vector<double> weight(2 * reach + 1);
  for (Eigen::Index k = -reach; k <= reach; ++k) {
    const double distance = static_cast<double>(k) / deviation;
    weight[k + reach] = std::exp(-0.5 * distance * distance);
  }
  weight /= weight.sum();
  Matrix<double> padded(cells.rows(), cells.cols() + 2 * reach);
  for (Eigen::Index c = 0; c < padded.cols(); ++c) {
    padded.col(c) = cells.col(reflected(c - reach, cells.cols()));
  }
  Matrix<double> blurred = Matrix<double>::Zero(cells.rows(), cells.cols());
  for (Eigen::Index k = 0; k < weight.size(); ++k) {
    blurred += weight[k] * padded.middleCols(k, cells.cols());
  }
  return blurred;
}

Matrix<double> blurred(const Matrix<double>& cells, double deviation) {
  Matrix<double> across = blurred_across(cells, deviation);
  if (cells.rows() == 1) return across;
  const Matrix<double> turned = across.transpose();
  return blurred_across(turned, deviation).transpose();
}

// Which two of kBlurs lie around a deviation, and how near it is to the upper one.
struct BlurPlace {
  std::size_t upper = 1;
  double part = 0;
};

BlurPlace place_of(double deviation) {
  const double inside = std::clamp(deviation, kBlurs.front(), kBlurs.back());
  const auto above = std::lower_bound(kBlurs.begin() + 1, kBlurs.end() - 1, inside);
  const auto upper = static_cast<std::size_t>(above - kBlurs.begin());
  return {upper,
          std::log(inside / kBlurs[upper - 1]) / std::log(kBlurs[upper] / kBlurs[upper - 1])};
}

// Abramson's rule: a sample is blurred in inverse proportion to the root of the density around it,
// and by `deviation` where that is the samples' geometric mean; not by much less, or the tops of
// peaks would show noise.
Matrix<double> adapted(const Matrix<double>& counts, double deviation) {
  Matrix<double> pilot = blurred(counts, deviation);
  const double sum = counts.sum();
  if (sum == 0) return pilot;
  const double floor = std::numeric_limits<double>::min();
  const double mean = std::exp((counts.array() * (pilot.array() + floor).log()).sum() / sum);
  std::array<Matrix<double>, kBlurs.size()> parts;
  const auto add = [&](std::size_t blur, Eigen::Index r, Eigen::Index c, double share) {
    if (share == 0) return;
    if (parts[blur].size() == 0) parts[blur] = Matrix<double>::Zero(counts.rows(), counts.cols());
    parts[blur](r, c) += share * counts(r, c);
  };
  for (Eigen::Index r = 0; r < counts.rows(); ++r) {
    for (Eigen::Index c = 0; c < counts.cols(); ++c) {
      if (counts(r, c) == 0) continue;
      const BlurPlace place = place_of(deviation * std::sqrt(std::max(0.5, mean / pilot(r, c))));
      add(place.upper, r, c, place.part);
      add(place.upper - 1, r, c, 1 - place.part);
    }
  }
  Matrix<double> density = Matrix<double>::Zero(counts.rows(), counts.cols());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].size() != 0) density += blurred(parts[i], kBlurs[i]);
  }
  return density;
}

// Samples in turn learn and judge.
double best_blur(const Matrix<double>& learning, const Matrix<double>& judging) {
  double best = kBlurs.back();
  double highest = -std::numeric_limits<double>::infinity();
  for (const double blur : kBlurs) {
    const Matrix<double> density = adapted(learning, blur);
    // A blur that excludes a sample loses more than any other could, but not everything.
    const double floor = 1e-9 * density.maxCoeff() + std::numeric_limits<double>::min();
    const double score = (judging.array() * (density.array() + floor).log()).sum();
    if (score <= highest) continue;
    highest = score;
    best = blur;
  }
  return best;
}

// counts: those of all samples. The threshold of a share is the density that this share of the
// samples reaches.
SmoothDensity with_thresholds(const Matrix<double>& counts, Matrix<double> density) {
  const double highest = density.maxCoeff();
  if (highest > 0) density /= highest;
  std::vector<std::pair<double, double>> heights;
  for (Eigen::Index r = 0; r < counts.rows(); ++r) {
    for (Eigen::Index c = 0; c < counts.cols(); ++c) {
      if (counts(r, c) > 0) heights.emplace_back(density(r, c), counts(r, c));
    }
  }
  std::sort(heights.rbegin(), heights.rend());
  SmoothDensity result{.density = std::move(density)};
  for (std::size_t i = 0; i < kRegionShares.size(); ++i) {
    double held = 0;
    for (const auto& [height, count] : heights) {
      result.thresholds[i] = height;
      held += count;
      if (held >= kRegionShares[i] * counts.sum()) break;
    }
  }
  return result;
}

SmoothDensity smoothed(const Matrix<double>& even, const Matrix<double>& odd) {
  const Matrix<double> counts = even + odd;
  // The best density still has bumps that are noise, and a picture makes them look like findings.
  constexpr double kCalmer = 1.5;
  return with_thresholds(counts, adapted(counts, kCalmer * best_blur(even, odd)));
}

}  // namespace

SmoothDensity smooth_density(const std::vector<double>& x, const Interval& range,
                             Eigen::Index cells) {
  std::array<Matrix<double>, 2> halves = {Matrix<double>::Zero(1, cells),
                                          Matrix<double>::Zero(1, cells)};
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Eigen::Index column = cell_of(x[i], range, cells);
    if (column >= 0) ++halves[i % 2](0, column);
  }
  return smoothed(halves[0], halves[1]);
}

SmoothDensity smooth_density(const std::vector<double>& x, const Interval& x_range,
                             const std::vector<double>& y, const Interval& y_range,
                             Eigen::Index cells) {
  std::array<Matrix<double>, 2> halves = {Matrix<double>::Zero(cells, cells),
                                          Matrix<double>::Zero(cells, cells)};
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Eigen::Index column = cell_of(x[i], x_range, cells);
    const Eigen::Index row = cell_of(y[i], y_range, cells);
    if (column >= 0 && row >= 0) ++halves[i % 2](row, column);
  }
  return smoothed(halves[0], halves[1]);
}

Matrix<double> refined(const Matrix<double>& cells, Eigen::Index factor) {
  const auto fine_places = [factor](Eigen::Index count) {
    Matrix<double> weights = Matrix<double>::Zero(factor * count, count);
    for (Eigen::Index i = 0; i < weights.rows(); ++i) {
      const double at = (static_cast<double>(i) + 0.5) / static_cast<double>(factor) - 0.5;
      const double inside = std::clamp(at, 0.0, static_cast<double>(count - 1));
      const auto low = static_cast<Eigen::Index>(inside);
      const Eigen::Index high = std::min(low + 1, count - 1);
      weights(i, low) += 1 - (inside - static_cast<double>(low));
      weights(i, high) += inside - static_cast<double>(low);
    }
    return weights;
  };
  return fine_places(cells.rows()) * cells * fine_places(cells.cols()).transpose();
}

}  // namespace jeffreys::report

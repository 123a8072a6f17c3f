#include "experiment/measured.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "experiment/nll_table.h"

namespace jeffreys::experiment {
namespace {

constexpr double kErrors = 2;
constexpr double kStart = 0.05;     // of the iterations
constexpr double kWide = 10;        // beyond this ratio an axis is logarithmic
constexpr double kHighest = 10000;  // what lies higher leaves the picture

// measured(run, rival): of the first, beside the other's run with the same seed.
template <typename F>
std::optional<Contrast> contrast_of(const Results& results, const std::string& data,
                                    const std::string& method, const std::string& other,
                                    const F& measured) {
  SeedValues ours;
  SeedValues theirs;
  double variance = 0;
  for (const RunResult* run : results.runs(data, method)) {
    for (const RunResult* rival : results.runs(data, other)) {
      if (rival->seed != run->seed) continue;
      const Measured a = measured(*run, *rival);
      const Measured b = measured(*rival, *run);
      if (std::isnan(a.value) || std::isnan(b.value)) continue;
      ours.emplace(run->seed, a.value);
      theirs.emplace(run->seed, b.value);
      if (!std::isfinite(a.value) || !std::isfinite(b.value)) continue;
      variance += a.error * a.error + b.error * b.error;
    }
  }
  const Difference difference = difference_of(theirs, ours);
  if (!difference.interval) return std::nullopt;
  return Contrast{difference, std::sqrt(variance) / static_cast<double>(difference.interval->n)};
}

}  // namespace

Measured measured_at(const RunResult& run, const Quantity& quantity, Moment moment) {
  const double value = value_at(run, quantity.column, moment);
  const std::vector<double> values = run.curve.column(quantity.column);
  const std::vector<double> errors = run.curve.column(quantity.error);
  // From the end: the last value may have occurred before.
  const auto place = std::find(values.rbegin(), values.rend(), value);
  if (place == values.rend() || errors.size() != values.size()) return {value, kNotMeasured};
  return {value, errors[static_cast<std::size_t>(values.rend() - place) - 1]};
}

double setting_of(const RunResult& run, const std::string& key) {
  for (const auto& [name, value] : run.settings) {
    if (name != key) continue;
    char* end = nullptr;
    const double number = std::strtod(value.c_str(), &end);
    return end == value.c_str() ? kNotMeasured : number;
  }
  return kNotMeasured;
}

std::vector<double> settled(const RunResult& run, const std::string& column) {
  const std::vector<double> all = run.curve.column(column);
  std::vector<double> values;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto iteration = static_cast<double>(run.curve.iteration[i]);
    const bool start = iteration < kStart * static_cast<double>(run.curve.iteration.back());
    if (!start && std::isfinite(all[i])) values.push_back(all[i]);
  }
  return values;
}

bool Contrast::below() const {
  if (difference.lost > 0) return false;
  const PairedInterval& seeds = *difference.interval;
  return seeds.n >= kFewestSeeds ? seeds.upper < 0 : seeds.mean < -kErrors * error;
}

bool Contrast::above() const {
  if (difference.lost > 0 || difference.won > 0) return difference.won == 0;
  const PairedInterval& seeds = *difference.interval;
  return seeds.n >= kFewestSeeds ? seeds.lower > 0 : seeds.mean > kErrors * error;
}

std::optional<Contrast> contrast(const Results& results, const std::string& data,
                                 const std::string& method, const std::string& other,
                                 const Quantity& quantity, Moment moment) {
  return contrast_of(results, data, method, other, [&](const RunResult& run, const RunResult&) {
    return measured_at(run, quantity, moment);
  });
}

std::optional<Contrast> contrast_in_equal_iterations(const Results& results,
                                                     const std::string& data,
                                                     const std::string& method,
                                                     const std::string& other,
                                                     const Quantity& quantity) {
  const auto last = [](const RunResult& run) { return run.curve.iteration.back(); };
  return contrast_of(results, data, method, other,
                     [&](const RunResult& run, const RunResult& rival) {
                       return measured_at(run_until(run, last(rival)), quantity, Moment::last);
                     });
}

std::string text_of(const Contrast& contrast) {
  const Difference& difference = contrast.difference;
  if (difference.seeds() >= kFewestSeeds) return text_of(difference);
  return fmt::format("{:+.3f} ± {:.3f}", difference.interval->mean, contrast.error);
}

std::string measured_text(const Results& results, const std::string& data,
                          const std::string& method, const Quantity& quantity, Moment moment) {
  const auto runs = results.runs(data, method);
  if (runs.size() == 1) {
    const Measured measured = measured_at(*runs.front(), quantity, moment);
    if (std::isfinite(measured.value) && std::isfinite(measured.error)) {
      return fmt::format("{:.3f} ± {:.3f}", measured.value, measured.error);
    }
  }
  return text_of(results.summary(data, method, quantity.column, moment));
}

bool all_diverged(const std::vector<const RunResult*>& runs) {
  return !runs.empty() && std::all_of(runs.begin(), runs.end(),
                                      [](const RunResult* run) { return has_diverged(*run); });
}

AxisRange settled_range(const std::vector<report::Curves::Line>& lines) {
  double last = 0;
  for (const auto& line : lines) {
    if (!line.x.empty()) last = std::max(last, line.x.back());
  }
  AxisRange range;
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < line.x.size(); ++i) {
      if (line.x[i] < kStart * last || !std::isfinite(line.y[i])) continue;
      range.min = std::fmin(range.min, line.y[i]);
      range.max = std::fmax(range.max, line.y[i]);
    }
  }
  return range;
}

void hide_start_wide(report::Curves& curves) {
  const AxisRange range = settled_range(curves.lines);
  const double high = std::min(range.max, kHighest * range.min);
  if (!(range.min > 0 && high > kWide * range.min)) return hide_start(curves);
  curves.log_y = true;
  curves.y_min = std::pow(10, std::floor(std::log10(range.min)));
  curves.y_max = std::pow(10, std::ceil(std::log10(high)));
}

std::string rate_text(double rate) {
  const double exponent = std::round(std::log10(rate));
  if (std::abs(rate / std::pow(10, exponent) - 1) > 1e-6) return fmt::format("{:g}", rate);
  return fmt::format("1e{:.0f}", exponent);
}

}  // namespace jeffreys::experiment

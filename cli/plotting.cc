#include "cli/plotting.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/command.h"
#include "jeffreys/base/input_error.h"
#include "jeffreys/report/training_plot.h"

namespace jeffreys::cli {
namespace {

constexpr Eigen::Index kCells = 128;
constexpr Eigen::Index kRangeSamples = 2000;

struct Axis {
  double minimum = 0;
  double maximum = 1;
};

// Nearly all of the values, with a margin, inside the column's bounds.
Axis axis_of(std::vector<double> values, const ColumnInfo& column) {
  std::erase_if(values, [](double v) { return std::isnan(v); });
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
  };
  const double margin = 0.08 * std::max(at(0.995) - at(0.005), 1e-12);
  const double inside = 1e-6 * (column.bounds.upper - column.bounds.lower);
  const auto clamp = [&](double v) {
    if (std::isfinite(column.bounds.lower))
      v = std::max(v, column.bounds.lower + (std::isfinite(inside) ? inside : 0));
    if (std::isfinite(column.bounds.upper))
      v = std::min(v, column.bounds.upper - (std::isfinite(inside) ? inside : 0));
    return v;
  };
  return {clamp(at(0.005) - margin), clamp(at(0.995) + margin)};
}

std::vector<const ColumnInfo*> features_of(const Schema& schema) {
  std::vector<const ColumnInfo*> features;
  for (const ColumnInfo& column : schema.columns()) {
    if (column.role == ColumnRole::feature) features.push_back(&column);
  }
  return features;
}

Column& edit_column(Table& table, const std::string& name) {
  return *std::find_if(table.columns.begin(), table.columns.end(),
                       [&](const Column& c) { return c.name == name; });
}

Matrix<double> points_of(const Table& table, const std::vector<const ColumnInfo*>& features) {
  Matrix<double> points(static_cast<Eigen::Index>(table.rows()), 2);
  for (Eigen::Index k = 0; k < 2; ++k) {
    const std::vector<double>& numbers =
        table.find(features[static_cast<std::size_t>(k)]->name)->numbers;
    points.col(k) =
        Eigen::Map<const Vector<double>>(numbers.data(), static_cast<Eigen::Index>(numbers.size()));
  }
  return points;
}

}  // namespace

report::DensityMap density_map(const TabularDensity<float>& density, From from,
                               const Matrix<double>& context, const PlaneBox& box,
                               const std::string& title) {
  const std::vector<const ColumnInfo*> features = features_of(density.schema());
  const Matrix<double> cells =
      report::cell_centers(box.x_min, box.x_max, box.y_min, box.y_max, kCells, kCells);
  // Samples bring the condition columns along; their features are replaced by the grid.
  Table grid = density.sample(cells.rows(), 0, context, From::main).table;
  for (Eigen::Index k = 0; k < 2; ++k) {
    std::vector<double>& numbers =
        edit_column(grid, features[static_cast<std::size_t>(k)]->name).numbers;
    Eigen::Map<Vector<double>>(numbers.data(), cells.rows()) = cells.col(k);
  }
  const Vector<double> values = density.log_prob(grid, from).log_prob.array().exp();
  report::DensityMap map;
  map.title = title;
  map.x_label = features[0]->name;
  map.y_label = features[1]->name;
  map.x_min = box.x_min;
  map.x_max = box.x_max;
  map.y_min = box.y_min;
  map.y_max = box.y_max;
  map.density = Eigen::Map<const Matrix<double>>(values.data(), kCells, kCells);
  return map;
}

report::Scatter scatter_panel(const Matrix<double>& points, const std::string& x_label,
                              const std::string& y_label, const PlaneBox& box,
                              const std::string& title) {
  report::Scatter panel;
  panel.title = title;
  panel.x_label = x_label;
  panel.y_label = y_label;
  panel.x_min = box.x_min;
  panel.x_max = box.x_max;
  panel.y_min = box.y_min;
  panel.y_max = box.y_max;
  panel.points = points;
  return panel;
}

void draw_plane(const TabularDensity<float>& density, const Table* table,
                const Matrix<double>& context, const std::filesystem::path& path) {
  const std::vector<const ColumnInfo*> features = features_of(density.schema());
  const Table samples = density.sample(kRangeSamples, 0, context).table;
  const Table& shown = table != nullptr ? *table : samples;
  const Axis x = axis_of(shown.find(features[0]->name)->numbers, *features[0]);
  const Axis y = axis_of(shown.find(features[1]->name)->numbers, *features[1]);
  const PlaneBox box{x.minimum, x.maximum, y.minimum, y.maximum};
  std::vector<report::Panel> row;
  if (table != nullptr) {
    row.emplace_back(scatter_panel(points_of(*table, features), features[0]->name,
                                   features[1]->name, box, "data"));
  }
  for (const From from : {From::main, From::proxy}) {
    if (from == From::proxy && !density.proxy()) continue;
    report::DensityMap map =
        density_map(density, from, context, box, from == From::main ? "main model" : "proxy model");
    map.value_label = "density";
    row.emplace_back(std::move(map));
  }
  report::draw(path, {row});
}

namespace {

// The multipliers of the constraint of that name, at the end of the list if it is new.
report::TrainingCurves::Series& series_of(report::TrainingCurves& curves, const std::string& name) {
  for (auto& [known, series] : curves.multipliers) {
    if (known == name) return series;
  }
  return curves.multipliers.emplace_back(name, report::TrainingCurves::Series()).second;
}

void add(report::TrainingCurves::Series& series, std::int64_t step, double value) {
  if (!std::isfinite(value)) return;
  series.step.push_back(static_cast<double>(step));
  series.value.push_back(value);
}

// What leads from the numbers of training to those of the summary; nothing is known about fits of
// earlier versions.
struct Units {
  double training = 0;
  double held_out = 0;
  int fits = 1;
  bool known = false;
};

Units units_of(const std::string& record) {
  const Json json = Json::parse(record, nullptr, false);
  const Json units = json.is_object() ? json.value("units", Json()) : Json();
  if (!units.is_object()) return {};
  const Json result = json.value("result", Json::object());
  const auto shift = [&](const char* key) {
    return units.contains(key) && units[key].is_number() ? units[key].get<double>() : 0.0;
  };
  const Json fits = result.is_object() ? result.value("members", Json(1)) : Json(1);
  return {shift("training"), shift("held_out"), fits.is_number_integer() ? fits.get<int>() : 1,
          true};
}

void add_steps(report::TrainingCurves& curves, const TabularDensity<float>& density,
               const Units& units) {
  const bool dual = density.proxy() != nullptr;
  const bool energy = dual && !density.proxy()->normalized();
  for (const StepRecord& r : density.history) {
    if (r.skipped) continue;
    add(curves.main_train, r.iteration, r.divergences.forward + units.training);
    if (!dual) continue;
    add(curves.proxy_train, r.iteration, r.divergences.proxy + units.training);
    for (const ConstraintRecord& of : r.constraints) {
      add(series_of(curves, of.name), r.iteration, of.multiplier);
    }
    add(curves.balance, r.iteration, r.balance);
    if (!energy) continue;
    add(curves.log_zeta, r.iteration, r.log_zeta);
    add(curves.effective_sample_size, r.iteration, r.effective_sample_size);
  }
}

}  // namespace

void draw_training_of(const TabularDensity<float>& density, const std::filesystem::path& path) {
  if (density.history.empty()) {
    throw InputError(path.string(), "this model file holds no training: it was not made by fit");
  }
  const Units units = units_of(density.record);
  report::TrainingCurves curves;
  if (units.fits > 1) curves.title = fmt::format("the first of {} fits", units.fits);
  if (!units.known) curves.unit = "nats / row of standardised columns";
  add_steps(curves, density, units);
  double best_main = INFINITY;
  double best_proxy = INFINITY;
  for (const Evaluation& e : density.evaluations) {
    add(curves.main_validation, e.iteration, e.main + units.held_out);
    add(curves.proxy_validation, e.iteration, e.proxy + units.held_out);
    if (e.main < best_main) curves.best_main_step = static_cast<double>(e.iteration);
    if (e.proxy < best_proxy) curves.best_proxy_step = static_cast<double>(e.iteration);
    best_main = std::fmin(best_main, e.main);
    best_proxy = std::fmin(best_proxy, e.proxy);
  }
  report::draw_training(path, curves);
}

}  // namespace jeffreys::cli

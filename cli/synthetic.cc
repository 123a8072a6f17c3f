#include "cli/synthetic.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "jeffreys/report/figure.h"

namespace jeffreys::cli {
namespace {

double mean_distance(const std::vector<ShapeDistance>& list) {
  double sum = 0;
  for (const ShapeDistance& each : list) sum += each.distance;
  return list.empty() ? 0 : sum / static_cast<double>(list.size());
}

std::size_t beyond_chance(const std::vector<ShapeDistance>& list) {
  return static_cast<std::size_t>(std::count_if(
      list.begin(), list.end(), [](const ShapeDistance& s) { return s.distance > s.chance; }));
}

std::string row_text(const Table& table, std::size_t row) {
  const std::size_t line = table.line(row);
  return line > 0 ? fmt::format("{}:{}", table.source, line)
                  : fmt::format("row {} of {}", row + 1, table.source);
}

Json shapes_json(const std::vector<ShapeDistance>& list) {
  Json json = Json::array();
  for (const ShapeDistance& each : list) {
    json.push_back({{"columns", each.columns},
                    {"distance", number(each.distance)},
                    {"chance", number(each.chance)}});
  }
  return json;
}

report::Bars column_panel(const SyntheticCheck& check) {
  report::Bars bars{.title = "columns: distance from the real ones",
                    .y_label = "0 alike, 1 nothing in common",
                    .y_min = 0};
  report::Bars::Series distance{.name = "distance"};
  report::Bars::Series chance{.name = "chance alone", .color = 7};
  for (const ShapeDistance& each : check.columns) {
    // Numbered, as the pairs beside them are.
    bars.groups.push_back(fmt::format("{} {}", bars.groups.size() + 1, each.columns[0]));
    distance.values.push_back(each.distance);
    chance.values.push_back(each.chance);
  }
  bars.series = {distance, chance};
  return bars;
}

// Each pair above and below the diagonal.
report::DensityMap pair_panel(const SyntheticCheck& check) {
  const auto columns = static_cast<Eigen::Index>(check.columns.size());
  report::DensityMap map{.title = "pairs of columns: distance / chance",
                         .x_label = "column",
                         .y_label = "column",
                         .x_min = 0.5,
                         .x_max = static_cast<double>(columns) + 0.5,
                         .y_min = 0.5,
                         .y_max = static_cast<double>(columns) + 0.5,
                         .density = Matrix<double>::Zero(columns, columns)};
  std::size_t place = 0;
  for (Eigen::Index a = 0; a < columns; ++a) {
    for (Eigen::Index b = a + 1; b < columns; ++b) {
      const ShapeDistance& pair = check.pairs[place++];
      map.density(a, b) = map.density(b, a) = pair.distance / pair.chance;
    }
  }
  return map;
}

}  // namespace

std::vector<std::string> synthetic_lines(const SyntheticCheck& check, const Table& synthetic,
                                         const Table& training) {
  const ClosestRows& closest = check.closest;
  std::vector<std::string> lines{
      fmt::format("{}: {} synthetic rows beside {} real ones", synthetic.source,
                  check.synthetic_rows, check.real_rows),
      fmt::format("  columns      mean distance {:.3f}, {} of {} beyond chance",
                  mean_distance(check.columns), beyond_chance(check.columns), check.columns.size()),
      fmt::format("  pairs        mean distance {:.3f}, {} of {} beyond chance",
                  mean_distance(check.pairs), beyond_chance(check.pairs), check.pairs.size()),
      fmt::format("  classifier   right in {:.1f} +- {:.1f} % of {} rows (guessing: 50 %)",
                  100 * check.classifier.accuracy, 100 * check.classifier.standard_error,
                  check.classifier.test_rows),
      fmt::format("  copies       {} synthetic rows equal a training row ({} of {} real rows do)",
                  closest.copies.size(), closest.real_copies, closest.real.size()),
      fmt::format("  close rows   {:.1f} % are closer to one than 5 % of real rows are",
                  100.0 * static_cast<double>(closest.too_close) /
                      static_cast<double>(closest.synthetic.size()))};
  constexpr std::size_t kShown = 5;
  for (std::size_t i = 0; i < std::min(kShown, closest.copies.size()); ++i) {
    lines.push_back(fmt::format("    {} equals {}",
                                row_text(synthetic, closest.copies[i].synthetic),
                                row_text(training, closest.copies[i].training)));
  }
  for (const std::string& warning : check.warnings) lines.push_back("warning: " + warning);
  lines.push_back("verdict: " + check.verdict);
  return lines;
}

Json synthetic_json(const SyntheticCheck& check, const Table& synthetic, const Table& training) {
  Json copies = Json::array();
  for (const CopiedRow& copy : check.closest.copies) {
    copies.push_back({{"row", copy.synthetic + 1},
                      {"line", synthetic.line(copy.synthetic)},
                      {"training_row", copy.training + 1},
                      {"training_line", training.line(copy.training)}});
  }
  return {{"rows", check.synthetic_rows},
          {"real_rows", check.real_rows},
          {"columns", shapes_json(check.columns)},
          {"pairs", shapes_json(check.pairs)},
          {"c2st", number(check.classifier.accuracy)},
          {"c2st_standard_error", number(check.classifier.standard_error)},
          {"copies", copies},
          {"real_copies", check.closest.real_copies},
          {"too_close", check.closest.too_close},
          {"limit", number(check.closest.limit)},
          {"p_value", number(check.closest.p_value)},
          {"copied", check.copied},
          {"warnings", check.warnings},
          {"verdict", check.verdict}};
}

void draw_synthetic(const SyntheticCheck& check, const std::filesystem::path& path) {
  std::vector<report::Panel> panels{column_panel(check)};
  if (check.columns.size() > 1) panels.emplace_back(pair_panel(check));
  panels.emplace_back(report::Histogram{.title = "distance to the closest training row",
                                        .x_label = "standard deviations",
                                        .name = "real rows",
                                        .second_name = "synthetic rows",
                                        .samples = check.closest.real,
                                        .second = check.closest.synthetic});
  report::draw(path, {panels});
}

}  // namespace jeffreys::cli

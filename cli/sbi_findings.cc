#include "cli/sbi_findings.h"

#include <fmt/format.h>

#include "jeffreys/report/calibration_plot.h"

namespace jeffreys::cli {
namespace {

Json coverage_json(const ExpectedCoverage& coverage) {
  Json levels = Json::array();
  for (const ExpectedCoverage::Level& level : coverage.levels) {
    levels.push_back({{"credibility", level.credibility},
                      {"coverage", number(level.coverage)},
                      {"standard_error", number(level.standard_error)}});
  }
  return {{"levels", levels}, {"p_value", number(coverage.p_value)}, {"verdict", coverage.verdict}};
}

std::string level_line(const ExpectedCoverage& coverage) {
  std::string line = " ";
  for (const ExpectedCoverage::Level& level : coverage.levels) {
    line += fmt::format(" {:.0f} %: {:.1f} +- {:.1f} %  ", 100 * level.credibility,
                        100 * level.coverage, 100 * level.standard_error);
  }
  return line;
}

report::CalibrationPlot::Coverage curve(const std::string& title, const ExpectedCoverage& c) {
  return {.title = title,
          .credibility = c.credibility,
          .coverage = c.coverage,
          .band = c.band,
          .above = "under-confident",
          .below = "over-confident"};
}

void draw_figure(const std::string& path, const PosteriorCheck& check) {
  report::CalibrationPlot plot;
  plot.coverage = {curve("highest-density regions", check.highest_density),
                   curve("TARP", check.tarp)};
  for (const RankCalibration::Parameter& parameter : check.calibration.parameters) {
    report::CalibrationPlot::Ranks bars{.name = parameter.name};
    for (const RankBin& bin : parameter.test.bins) {
      bars.count.push_back(bin.count);
      bars.expected.push_back(bin.expected);
      bars.lower.push_back(bin.lower);
      bars.upper.push_back(bin.upper);
    }
    plot.ranks.push_back(std::move(bars));
  }
  report::draw_calibration(path, plot);
}

void add_information(const PosteriorCheck& check, Findings& found) {
  found.json["pairs_beyond_training"] = check.beyond_training;
  if (check.beyond_training > 0) {
    found.lines.push_back(
        fmt::format("{} of {} pairs have outcomes beyond the training pairs; they count all the "
                    "same",
                    check.beyond_training, check.ranks.density.size()));
  }
  if (!check.information) return;
  const InformationGain& gain = *check.information;
  found.lines.push_back(
      fmt::format("information gained over the prior: {:.3f} +- {:.3f} nats (95 %: {:.3f} to "
                  "{:.3f})",
                  gain.mean, gain.standard_error, gain.lower, gain.upper));
  found.json["information_gain"] = {{"mean", number(gain.mean)},
                                    {"standard_error", number(gain.standard_error)},
                                    {"lower", number(gain.lower)},
                                    {"upper", number(gain.upper)},
                                    {"pairs", gain.pairs}};
}

}  // namespace

void add_calibration(const PosteriorCheck& check, const std::string& figure, Findings& found) {
  const std::size_t count = check.ranks.density.size();
  found.lines.push_back(fmt::format("calibration over {} pairs, {} posterior samples each{}", count,
                                    check.ranks.samples,
                                    check.few_pairs ? " (few: only gross errors show)" : ""));
  Json of_parameters = Json::object();
  for (const RankCalibration::Parameter& parameter : check.calibration.parameters) {
    of_parameters[parameter.name] = {{"p_value", number(parameter.p_value)},
                                     {"calibration", to_string(parameter.calibration)}};
    found.lines.push_back(fmt::format("  ranks of {:<14} p = {:.3g}: {}", parameter.name,
                                      parameter.p_value, to_string(parameter.calibration)));
  }
  found.lines.push_back("coverage of highest-density regions: " + check.highest_density.verdict);
  found.lines.push_back(level_line(check.highest_density));
  found.lines.push_back("coverage around reference points (TARP): " + check.tarp.verdict);
  found.lines.push_back(level_line(check.tarp));
  add_information(check, found);
  found.json["pairs"] = count;
  found.json["samples"] = check.ranks.samples;
  found.json["ranks"] = {{"parameters", of_parameters},
                         {"p_value", number(check.calibration.p_value)},
                         {"verdict", check.calibration.verdict}};
  found.json["highest_density_coverage"] = coverage_json(check.highest_density);
  found.json["tarp"] = coverage_json(check.tarp);
  found.json["p_value"] = number(check.p_value);
  found.verdicts.push_back(check.verdict);
  if (figure.empty()) return;
  draw_figure(figure, check);
  found.lines.push_back("figure: " + figure);
  found.json["figure"] = figure;
}

void add_prediction(const PosteriorPrediction& prediction, Findings& found) {
  const PredictiveCheck& check = prediction.check;
  found.lines.push_back("posterior predictive check: " + check.verdict);
  Json outcomes = Json::object();
  for (const PredictiveCheck::Outcome& outcome : check.outcomes) {
    found.lines.push_back(fmt::format(
        "  {:<14} observed {:.4g}, predicted {:.4g} to {:.4g} (90 %), "
        "tail probability {:.3g}",
        outcome.name, outcome.observed, outcome.lower, outcome.upper, outcome.tail_probability));
    outcomes[outcome.name] = {{"observed", number(outcome.observed)},
                              {"lower", number(outcome.lower)},
                              {"median", number(outcome.median)},
                              {"upper", number(outcome.upper)},
                              {"tail_probability", number(outcome.tail_probability)}};
  }
  found.json["predictive"] = {{"outcomes", outcomes},
                              {"draws", check.draws},
                              {"draws_missing", prediction.missing},
                              {"distance_p_value", number(check.distance_p_value)},
                              {"consistent", check.consistent},
                              {"verdict", check.verdict}};
  found.verdicts.push_back(prediction.verdict);
}

void add_reference(const ReferenceCheck& check, Findings& found) {
  const auto add = [&](const char* name, const char* whose, const auto& result) {
    found.lines.push_back(
        fmt::format("C2ST by {} definition: {:.3f} +- {:.3f} (0.5: not told "
                    "apart, 1: always)",
                    whose, result.accuracy, result.standard_error));
    found.lines.push_back("  " + result.definition);
    found.json["c2st"][name] = {{"accuracy", number(result.accuracy)},
                                {"standard_error", number(result.standard_error)},
                                {"definition", result.definition}};
  };
  add("paper", "the paper's", check.trees);
  add("sbibm", "sbibm's", check.network);
  found.verdicts.push_back(check.verdict);
}

}  // namespace jeffreys::cli

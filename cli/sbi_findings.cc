#include "cli/sbi_findings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "jeffreys/evaluate/expected_coverage.h"
#include "jeffreys/evaluate/neural_two_sample_test.h"
#include "jeffreys/evaluate/two_sample_test.h"
#include "jeffreys/report/calibration_plot.h"

namespace jeffreys::cli {
namespace {

constexpr std::size_t kFewPairs = 100;
constexpr double kSignificance = 0.01;

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

void draw_figure(const std::string& path, const RankCalibration& ranks,
                 const ExpectedCoverage& density, const ExpectedCoverage& tarp) {
  report::CalibrationPlot plot;
  plot.coverage = {curve("highest-density regions", density), curve("TARP", tarp)};
  for (const RankCalibration::Parameter& parameter : ranks.parameters) {
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

// One verdict for the three tests, with the kinds of error that they found.
void judge_calibration(const RankCalibration& ranks, const ExpectedCoverage& density,
                       const ExpectedCoverage& tarp, Findings& found) {
  const std::vector<double> p_values =
      holm_correction(std::array{ranks.p_value, density.p_value, tarp.p_value});
  const double least = *std::min_element(p_values.begin(), p_values.end());
  std::vector<Calibration> kinds{density.calibration, tarp.calibration};
  for (const RankCalibration::Parameter& parameter : ranks.parameters) {
    kinds.push_back(parameter.calibration);
  }
  std::vector<std::string> errors;
  for (const Calibration kind : kinds) {
    const std::string text = to_string(kind);
    if (kind == Calibration::no_sign ||
        std::find(errors.begin(), errors.end(), text) != errors.end()) {
      continue;
    }
    errors.push_back(text);
  }
  found.verdicts.push_back(
      least < kSignificance
          ? fmt::format("miscalibrated, {} (p = {:.2g} after correction for three tests)",
                        fmt::join(errors, ", "), least)
          : fmt::format("no sign of miscalibration (p = {:.2g} after correction for three tests)",
                        least));
  found.json["p_value"] = number(least);
}

}  // namespace

void add_calibration(const PosteriorRanks& ranks, const std::vector<std::string>& parameters,
                     const std::string& figure, Findings& found) {
  const RankCalibration calibration = rank_calibration(ranks, parameters);
  const ExpectedCoverage density = highest_density_coverage(ranks);
  const ExpectedCoverage tarp = reference_point_coverage(ranks);
  const std::size_t count = ranks.density.size();
  found.lines.push_back(fmt::format("calibration over {} pairs, {} posterior samples each{}", count,
                                    ranks.samples,
                                    count < kFewPairs ? " (few: only gross errors show)" : ""));
  Json of_parameters = Json::object();
  for (const RankCalibration::Parameter& parameter : calibration.parameters) {
    of_parameters[parameter.name] = {{"p_value", number(parameter.p_value)},
                                     {"calibration", to_string(parameter.calibration)}};
    found.lines.push_back(fmt::format("  ranks of {:<14} p = {:.3g}: {}", parameter.name,
                                      parameter.p_value, to_string(parameter.calibration)));
  }
  found.lines.push_back("coverage of highest-density regions: " + density.verdict);
  found.lines.push_back(level_line(density));
  found.lines.push_back("coverage around reference points (TARP): " + tarp.verdict);
  found.lines.push_back(level_line(tarp));
  found.json["pairs"] = count;
  found.json["samples"] = ranks.samples;
  found.json["ranks"] = {{"parameters", of_parameters},
                         {"p_value", number(calibration.p_value)},
                         {"verdict", calibration.verdict}};
  found.json["highest_density_coverage"] = coverage_json(density);
  found.json["tarp"] = coverage_json(tarp);
  judge_calibration(calibration, density, tarp, found);
  if (figure.empty()) return;
  draw_figure(figure, calibration, density, tarp);
  found.lines.push_back("figure: " + figure);
  found.json["figure"] = figure;
}

void add_prediction(const PredictiveCheck& check, std::int64_t missing, Findings& found) {
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
  found.json["predictive"] = {
      {"outcomes", outcomes},           {"draws", check.draws},
      {"draws_missing", missing},       {"distance_p_value", number(check.distance_p_value)},
      {"consistent", check.consistent}, {"verdict", check.verdict}};
  // So few that no outcome's p-value can be small.
  const bool few = 2 * static_cast<double>(check.outcomes.size()) >
                   kSignificance * static_cast<double>(check.draws + 1);
  found.verdicts.push_back(check.consistent
                               ? fmt::format("explains the observation{}",
                                             few ? ", as far as so few simulations show" : "")
                               : "does not explain the observation");
}

void add_two_sample_tests(const Matrix<double>& exact, const Matrix<double>& model,
                          std::uint64_t seed, Findings& found) {
  const TwoSampleResult trees = classifier_two_sample_test(exact, model, {.seed = seed});
  const NeuralTwoSampleResult network = neural_two_sample_test(exact, model, {.seed = seed});
  const auto add = [&](const char* name, const char* whose, const auto& result) {
    found.lines.push_back(
        fmt::format("C2ST by {} definition: {:.3f} +- {:.3f} (0.5: not told "
                    "apart, 1: always)",
                    whose, result.accuracy, result.standard_error));
    found.lines.push_back("  " + result.definition);
    found.json["c2st"][name] = {{"accuracy", number(result.accuracy)},
                                {"standard_error", number(result.standard_error)},
                                {"definition", result.definition}};
    return result.accuracy > 0.5 + 3 * result.standard_error;
  };
  const bool told = add("paper", "the paper's", trees);
  const bool told_too = add("sbibm", "sbibm's", network);
  found.verdicts.push_back(fmt::format("classifiers {} its samples from the reference",
                                       told || told_too ? "tell" : "do not tell"));
}

}  // namespace jeffreys::cli

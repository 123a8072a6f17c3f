// Figure fig:teaser: one Gaussian fitted by three divergences (exact), and a WGAN against ours on a
// mixture of two Gaussians.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "experiment/gaussian_fit.h"
#include "experiment/measured.h"
#include "experiment/nll_table.h"
#include "jeffreys/truth/source.h"

namespace jeffreys::experiment {
namespace {

// The source "two_gaussians" seen from the side.
const LineMixture kMixture{{{-1, 0.25}, {1, 0.25}}};
constexpr double kSide = 3.5;    // of the picture, from the middle
constexpr double kValley = 0.5;  // half its width: two deviations from either mode
// What the figure's words mean in numbers.
constexpr double kCovering = 5;       // times the data's mass in the valley
constexpr double kOneSide = 0.99;     // of the mass of a fit to one mode
constexpr double kOscillation = 0.1;  // see oscillation()

struct Fit {
  const char* name;
  Divergence kind;
  LineGaussian gaussian = {};

  [[nodiscard]] double nats(Divergence of) const {
    return divergence(kMixture, gaussian, of).value;
  }
  [[nodiscard]] double below(double x) const {
    return std::erfc((gaussian.mean - x) / gaussian.deviation / std::sqrt(2.0)) / 2;
  }
  [[nodiscard]] double valley() const { return below(kValley) - below(-kValley); }
};

using Fits = std::array<Fit, 3>;

Fits fit_all() {
  Fits fits{{{"forward KL", Divergence::forward},
             {"reverse KL", Divergence::reverse},
             {"Jeffreys", Divergence::jeffreys}}};
  for (Fit& fit : fits) fit.gaussian = fit_gaussian(kMixture, fit.kind);
  return fits;
}

report::Curves fit_panel(const Fits& fits) {
  constexpr int kPoints = 400;
  report::Curves curves{.title = "(a) One Gaussian for two", .x_label = "x", .y_label = "density"};
  curves.lines.push_back({.name = "data", .filled = true});
  constexpr std::array kColors = {likelihood_color, fourth_color, ours_color};
  for (std::size_t i = 0; i < fits.size(); ++i) {
    curves.lines.push_back({.name = fits[i].name, .color = kColors[i]});
  }
  for (int i = 0; i <= kPoints; ++i) {
    const double x = kSide * (2.0 * i / kPoints - 1);
    for (std::size_t k = 0; k < curves.lines.size(); ++k) {
      curves.lines[k].x.push_back(x);
      curves.lines[k].y.push_back(k == 0 ? kMixture.density(x) : fits[k - 1].gaussian.density(x));
    }
  }
  return curves;
}

void fit_table(const Fits& fits, report::Page& page) {
  std::vector<std::vector<report::Cell>> rows;
  for (const Fit& fit : fits) {
    // No "-0.000".
    const double mean = std::round(1000 * fit.gaussian.mean) / 1000 + 0.0;
    rows.push_back(
        {fit.name, fmt::format("{:.3f}", mean), fmt::format("{:.3f}", fit.gaussian.deviation)});
    for (const Fit& other : fits) {
      rows.back().emplace_back(fmt::format("{:.3f}", fit.nats(other.kind)), report::Verdict::none,
                               fit.kind == other.kind);
    }
    rows.back().emplace_back(fmt::format("{:.1f} %", 100 * fit.valley()));
  }
  page.table({"fitted by", "mean", "deviation", "forward KL", "reverse KL", "Jeffreys", "valley"},
             rows,
             {.caption = "One Gaussian fitted to the mixture of two at -1 and 1 with deviation "
                         "0.25, by quadrature and Newton's method. Divergences in nats. Valley: "
                         "mass between -0.5 and 0.5."});
}

double mixture_valley() {
  double mass = 0;
  for (const LineGaussian& part : kMixture.components) {
    mass += Fit{"", Divergence::forward, part}.valley() /
            static_cast<double>(kMixture.components.size());
  }
  return mass;
}

Claim fit_claim(const Fits& fits) {
  const auto& [forward, reverse, both] = fits;
  const double valley = mixture_valley();
  const double one_side = std::max(reverse.below(0), 1 - reverse.below(0));
  const bool covers = forward.valley() > kCovering * valley;
  const bool seeks = one_side > kOneSide;
  const auto between = [&](const Fit& low, const Fit& high) {
    const double value = both.nats(low.kind);
    return value > low.nats(low.kind) && value < high.nats(low.kind);
  };
  const bool balances = between(forward, reverse) && between(reverse, forward);
  const int count = (covers ? 1 : 0) + (seeks ? 1 : 0) + (balances ? 1 : 0);
  return {
      .paper = "fig:mle",
      .text =
          "One Gaussian fitted to two: the forward KL covers mass, the reverse KL seeks one "
          "mode, the Jeffreys divergence balances them.",
      .numbers = fmt::format(
          "Between the modes (-0.5 to 0.5) lies {:.1f} % of the data, {:.0f} % of the forward "
          "fit, {:.1f} % of the reverse and {:.0f} % of the Jeffreys fit. {:.1f} % of the "
          "reverse fit is on one side. Forward / reverse KL of the Jeffreys fit {:.2f} / {:.2f} "
          "nats, of the forward fit {:.2f} / {:.2f}, of the reverse fit {:.2f} / {:.2f}: a balance "
          "of divergences, though this fit, too, has its peak between the modes. Exact.",
          100 * valley, 100 * forward.valley(), 100 * reverse.valley(), 100 * both.valley(),
          100 * one_side, both.nats(Divergence::forward), both.nats(Divergence::reverse),
          forward.nats(Divergence::forward), forward.nats(Divergence::reverse),
          reverse.nats(Divergence::forward), reverse.nats(Divergence::reverse)),
      .finding = count == 3  ? Finding::holds
                 : count > 0 ? Finding::in_part
                             : Finding::fails,
      .brief = "exact, without training",
      .headline =
          "One Gaussian for two: the forward KL covers mass, the reverse KL seeks a mode, "
          "the Jeffreys divergence balances them."};
}

report::DensityMap empty_map(const Workload::DensityGrid& grid, const std::string& title) {
  return {.title = title,
          .x_min = grid.x_min,
          .x_max = grid.x_max,
          .y_min = grid.y_min,
          .y_max = grid.y_max,
          .contours = true};
}

// The source and the main models of seed 0 after all iterations; empty without runs.
std::vector<report::Panel> map_panels(const Results& results, const std::string& data) {
  std::vector<report::Panel> maps;
  for (const auto& [method, name] : {std::pair{"wgan", "WGAN-GP"}, {"ours", "ours"}}) {
    const auto runs = results.runs(data, method);
    if (runs.empty()) continue;
    const Workload::DensityGrid& grid = runs.front()->grid;
    const auto found = grid.density.find("main");
    if (found == grid.density.end() || found->second.size() != grid.pixels * grid.pixels) continue;
    if (maps.empty()) {
      report::DensityMap source = empty_map(grid, "(b) data");
      const Matrix<double> centers = report::cell_centers(grid.x_min, grid.x_max, grid.y_min,
                                                          grid.y_max, grid.pixels, grid.pixels);
      const Vector<double> density = make_source(data)->log_prob(centers).array().exp();
      source.density = density.reshaped<Eigen::RowMajor>(grid.pixels, grid.pixels);
      maps.emplace_back(std::move(source));
    }
    report::DensityMap map = empty_map(grid, fmt::format("(b) {}", name));
    map.density = found->second.reshaped<Eigen::RowMajor>(grid.pixels, grid.pixels);
    maps.emplace_back(std::move(map));
  }
  return maps;
}

// What a method minimises, along a run: ours the sum of both losses, a WGAN's its estimate of the
// Wasserstein distance.
std::vector<double> objective(const RunResult& run) {
  std::vector<double> forward = run.curve.column("loss.forward");
  const std::vector<double> reverse = run.curve.column("loss.reverse");
  if (forward.size() != reverse.size()) return run.curve.column("loss.wasserstein");
  for (std::size_t i = 0; i < forward.size(); ++i) forward[i] += reverse[i];
  return forward.empty() ? run.curve.column("loss.wasserstein") : forward;
}

double quantile(const std::vector<double>& sorted, double share) {
  return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
}

// The deviation of the objective in the second half of the iterations, relative to where 90 % of
// its points lie: about 0.3 for what only fluctuates, near 0 for what has come to rest. NaN for
// too few points.
double oscillation(const RunResult& run) {
  std::vector<double> all;
  std::vector<double> late;
  const std::vector<double> values = objective(run);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) continue;
    all.push_back(values[i]);
    if (2 * run.curve.iteration[i] >= run.curve.iteration.back()) late.push_back(values[i]);
  }
  if (late.size() < 4) return NAN;
  std::sort(all.begin(), all.end());
  const double range = quantile(all, 0.95) - quantile(all, 0.05);
  return range > 0 ? seed_summary(late).standard_deviation / range : 0;
}

report::Curves loss_panel(const RunResult& run, const char* title, const char* y_label, int color) {
  report::Curves curves{.title = title, .x_label = "iteration", .y_label = y_label};
  report::Curves::Line line{.y = objective(run), .color = color};
  for (const std::int64_t at : run.curve.iteration) line.x.push_back(static_cast<double>(at));
  line.x.resize(line.y.size());
  curves.lines.push_back(std::move(line));
  // All of it: spikes are what this panel is about.
  const AxisRange range = settled_range(curves.lines);
  curves.y_min = range.min - 0.05 * (range.max - range.min);
  curves.y_max = range.max + 0.05 * (range.max - range.min);
  return curves;
}

std::vector<report::Panel> loss_panels(const Results& results, const std::string& data) {
  std::vector<report::Panel> panels;
  const auto wgan = results.runs(data, "wgan");
  const auto ours = results.runs(data, "ours");
  if (!wgan.empty() && !objective(*wgan.front()).empty()) {
    panels.emplace_back(
        loss_panel(*wgan.front(), "(c) Objective of WGAN-GP", "Wasserstein distance", wgan_color));
  }
  if (!ours.empty() && !objective(*ours.front()).empty()) {
    panels.emplace_back(
        loss_panel(*ours.front(), "(c) Objective of ours", "forward + reverse loss", ours_color));
  }
  return panels;
}

struct Coverage {
  int runs = 0;
  int complete = 0;  // runs that reach every mode
  std::string text;
};

Coverage coverage_of(const std::vector<const RunResult*>& runs) {
  Coverage coverage;
  for (const RunResult* run : runs) {
    const double covered = value_at(*run, "main.modes_covered", Moment::last);
    const double modes = value_at(*run, "main.modes", Moment::last);
    const double precision = value_at(*run, "main.mode_precision", Moment::last);
    if (!std::isfinite(covered) || !std::isfinite(modes)) continue;
    ++coverage.runs;
    coverage.complete += covered == modes ? 1 : 0;
    coverage.text +=
        fmt::format("{}{:.0f} of {:.0f} modes, {:.0f} % of samples at modes",
                    coverage.text.empty() ? "" : "; ", covered, modes, 100 * precision);
  }
  return coverage;
}

Claim modes_claim(const Results& results, const std::string& data) {
  Claim claim{.paper = "fig:teaser_wgan_mode",
              .text = "A flow trained as a WGAN collapses to one mode; ours captures both.",
              .headline = "A flow trained as a WGAN collapses to one mode; ours captures both.",
              .form = Form::written,
              .methods = {"ours", "wgan"}};
  const Coverage ours = coverage_of(results.runs(data, "ours"));
  const Coverage wgan = coverage_of(results.runs(data, "wgan"));
  if (ours.runs > 0) claim.numbers += fmt::format("Ours: {}. ", ours.text);
  if (wgan.runs > 0) claim.numbers += fmt::format("WGAN-GP: {}. ", wgan.text);
  if (ours.runs == 0 || wgan.runs == 0) return claim;
  claim.numbers +=
      fmt::format("{} run of ours, {} of WGAN-GP, at the last iteration.", ours.runs, wgan.runs);
  const bool captures = ours.complete == ours.runs;
  const bool collapses = wgan.complete == 0;
  claim.brief = fmt::format("ours {} both modes, WGAN-GP {}", captures ? "captures" : "misses",
                            collapses ? "does not" : "does as well");
  claim.finding = captures && collapses   ? Finding::holds
                  : captures || collapses ? Finding::in_part
                                          : Finding::fails;
  return claim;
}

// The largest over runs; NaN if there is none.
double largest_oscillation(const std::vector<const RunResult*>& runs) {
  double largest = NAN;
  for (const RunResult* run : runs) largest = std::fmax(largest, oscillation(*run));
  return largest;
}

double late_deviation(const RunResult& run) {
  const std::vector<double> nll = run.curve.column("main.test_nll");
  std::vector<double> late;
  for (std::size_t i = 0; i < nll.size(); ++i) {
    if (2 * run.curve.iteration[i] >= run.curve.iteration.back() && std::isfinite(nll[i])) {
      late.push_back(nll[i]);
    }
  }
  return late.size() < 2 ? NAN : seed_summary(late).standard_deviation;
}

Claim stability_claim(const Results& results, const std::string& data) {
  Claim claim{.paper = "fig:teaser_wgan_loss",
              .text =
                  "The objective of the WGAN displays large oscillations; that of ours reaches "
                  "a stable value.",
              .headline = "The WGAN's objective oscillates; that of ours comes to rest.",
              .form = Form::written,
              .methods = {"ours", "wgan"}};
  const auto ours = results.runs(data, "ours");
  const auto wgan = results.runs(data, "wgan");
  const double calm = largest_oscillation(ours);
  const double wild = largest_oscillation(wgan);
  if (!ours.empty()) claim.numbers += fmt::format("Ours {:.3f}", calm);
  if (!wgan.empty()) {
    claim.numbers += fmt::format("{}WGAN-GP {:.3f}", ours.empty() ? "" : ", ", wild);
  }
  if (claim.numbers.empty()) return claim;
  claim.numbers += fmt::format(
      ": deviation of the objective in the second half of the iterations, relative to the range of "
      "90 % of its points; above {:g} counts as oscillating.",
      kOscillation);
  if (ours.empty() || wgan.empty()) return claim;
  const double calm_nll = late_deviation(*ours.front());
  const double wild_nll = late_deviation(*wgan.front());
  claim.numbers += fmt::format(
      " The start, which is high for ours, is part of that range; so the test NLL, in the same "
      "unit "
      "for both, has to agree. Its deviation in the same half: ours {:.3f}, WGAN-GP {:.3f} nats.",
      calm_nll, wild_nll);
  const bool diverged = all_diverged(wgan);
  if (!std::isfinite(calm) || (!std::isfinite(wild) && !diverged)) return claim;
  const bool rests = calm <= kOscillation && !all_diverged(ours);
  const bool oscillates = wild > kOscillation || diverged;
  const bool agrees = diverged || calm_nll < wild_nll;
  claim.brief =
      fmt::format("ours {}, WGAN-GP {}", rests ? "comes to rest" : "does not come to rest",
                  oscillates ? "oscillates" : "does not oscillate");
  claim.finding = rests && oscillates && agrees ? Finding::holds
                  : rests || oscillates         ? Finding::in_part
                                                : Finding::fails;
  return claim;
}

}  // namespace

void describe_teaser(const Results& results, Section& section) {
  const std::string& data = results.data().front();
  const Fits fits = fit_all();
  std::vector<std::vector<report::Panel>> rows = {{fit_panel(fits)}};
  for (report::Panel& panel : loss_panels(results, data)) rows.front().push_back(std::move(panel));
  if (auto maps = map_panels(results, data); !maps.empty()) rows.push_back(std::move(maps));
  section.figure("parts", rows,
                 "(a) The Gaussians with the lowest forward KL, reverse KL and Jeffreys divergence "
                 "to a mixture of two. (b) Densities of seed 0 after all iterations. (c) What "
                 "WGAN-GP and ours minimise, along the runs of seed 0.");
  section.claim(fit_claim(fits));
  section.claim(modes_claim(results, data));
  section.claim(stability_claim(results, data));
  if (results.empty()) section.page().notice("No runs yet: (a) is exact and needs none.");
  section.details();
  fit_table(fits, section.page());
  note_diverged(results, section.page());
}

}  // namespace jeffreys::experiment

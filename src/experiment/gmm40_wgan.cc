// Section "Comparison with WGANs", appendix ap:gmm40: figures fig:wgan and fig:ap_wgan. Ours and
// WGAN-GP with the same models, over learning rates.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <Eigen/LU>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "experiment/measured.h"
#include "experiment/nll_table.h"
#include "jeffreys/truth/source.h"

namespace jeffreys::experiment {
namespace {

constexpr std::size_t kPairs = 6;  // of the paper

// The NLL of the one Gaussian with the source's moments: a model that is no better has learned
// nothing.
double gaussian_nll(const std::string& source) {
  const Modes modes = make_source(source)->modes();
  const Matrix<double> shifted = modes.centers.rowwise() - modes.centers.colwise().mean();
  const auto count = static_cast<double>(modes.centers.rows());
  const double variance = modes.deviation * modes.deviation;
  const Eigen::Matrix2d covariance =
      shifted.transpose() * shifted / count + variance * Eigen::Matrix2d::Identity();
  return std::log(2 * std::numbers::pi * std::numbers::e) + std::log(covariance.determinant()) / 2;
}

struct RatePair {
  std::string ours;  // methods
  std::string wgan;
  double main = kNotMeasured;  // learning rates, where either has runs
  double proxy = kNotMeasured;

  [[nodiscard]] std::string text() const { return rate_text(main) + "/" + rate_text(proxy); }
};

struct Shown {
  const char* name;
  bool wgan;
  const char* column;
  int color;
};

// A figure with a panel for each pair.
struct Subject {
  const char* name;
  const char* y_label;
  std::vector<Shown> shown;
  std::vector<report::Curves::Reference> references = {};
};

class RatesComparison {
 public:
  explicit RatesComparison(const Results& results)
      : results_(results), data_(results.data().front()) {
    for (const std::string& method : results.methods()) {
      if (!method.starts_with("ours")) continue;
      RatePair pair{.ours = method, .wgan = "wgan" + method.substr(4)};
      for (const std::string& name : {pair.ours, pair.wgan}) {
        const auto runs = results.runs(data_, name);
        if (runs.empty()) continue;
        pair.main = setting_of(*runs.front(), "learning_rate.main");
        pair.proxy = setting_of(*runs.front(), "learning_rate.proxy");
      }
      if (std::isfinite(pair.main + pair.proxy)) pairs_.push_back(pair);
    }
  }

  void figures(Section& section) const;
  void table(report::Page& page) const;
  [[nodiscard]] Claim lower_claim() const;
  [[nodiscard]] Claim stable_claim() const;
  [[nodiscard]] Claim divergence_claim() const;

 private:
  [[nodiscard]] report::Curves panel(const RatePair& pair, const Subject& subject) const;
  void figure(Section& section, const Subject& subject, const std::string& caption) const;
  [[nodiscard]] std::vector<report::Curves::Reference> references() const;
  [[nodiscard]] bool has(const std::string& method) const {
    return !results_.runs(data_, method).empty();
  }
  // How long the longest run of ours or of WGAN-GP is.
  [[nodiscard]] std::int64_t iterations(std::string RatePair::*method) const;
  [[nodiscard]] bool have_equal_lengths() const {
    return iterations(&RatePair::ours) == iterations(&RatePair::wgan);
  }
  [[nodiscard]] std::string lengths_text() const;
  // By the words before it: ours less WGAN-GP.
  [[nodiscard]] std::vector<std::pair<const char*, std::optional<Contrast>>> contrasts(
      const RatePair& pair) const;
  // The last NLL; infinite for runs that diverged, nothing without runs.
  [[nodiscard]] std::optional<double> last_nll(const std::string& method) const;

  const Results& results_;
  std::string data_;
  std::vector<RatePair> pairs_;
};

report::Curves RatesComparison::panel(const RatePair& pair, const Subject& subject) const {
  report::Curves curves{
      .title = fmt::format("rates: main {}, proxy {}", rate_text(pair.main), rate_text(pair.proxy)),
      .x_label = "iteration",
      .y_label = subject.y_label,
      .references = subject.references};
  for (const Shown& one : subject.shown) {
    auto line = mean_line(results_, data_, one.wgan ? pair.wgan : pair.ours, one.column, one.name,
                          one.color);
    if (!line.x.empty()) curves.lines.push_back(std::move(line));
  }
  return curves;
}

// A curve with all lines, for an axis that suits all panels.
report::Curves with_axis(const Subject& subject, report::Curves all) {
  all.references = subject.references;
  if (std::string(subject.name) == "jeffreys") {
    hide_start_wide(all);
  } else {
    hide_start(all);
  }
  for (const auto& reference : all.references) {
    all.y_max = std::max(all.y_max, reference.y + 0.2 * (reference.y - all.y_min));
  }
  return all;
}

// A line that leaves the picture altogether would look as if it had been forgotten.
void name_hidden(report::Curves& curves) {
  if (!std::isfinite(curves.y_max)) return;
  for (auto& line : curves.lines) {
    if (std::none_of(line.y.begin(), line.y.end(), [&](double y) { return y <= curves.y_max; })) {
      line.name += " (above)";
    }
  }
}

// A row of panels for each rate of the proxy, all with the same axis.
void RatesComparison::figure(Section& section, const Subject& subject,
                             const std::string& caption) const {
  report::Curves all;
  std::map<double, std::map<double, report::Curves>> grid;
  for (const RatePair& pair : pairs_) {
    report::Curves curves = panel(pair, subject);
    if (curves.lines.empty()) continue;
    all.lines.insert(all.lines.end(), curves.lines.begin(), curves.lines.end());
    grid[-pair.proxy][-pair.main] = std::move(curves);
  }
  if (grid.empty()) return;
  all = with_axis(subject, std::move(all));
  std::vector<std::vector<report::Panel>> rows;
  for (auto& [proxy_rate, columns] : grid) {
    rows.emplace_back();
    for (auto& [main_rate, curves] : columns) {
      curves.log_y = all.log_y;
      curves.y_min = all.y_min;
      curves.y_max = all.y_max;
      name_hidden(curves);
      rows.back().emplace_back(std::move(curves));
    }
  }
  section.figure(subject.name, rows, caption);
}

std::vector<report::Curves::Reference> RatesComparison::references() const {
  std::vector<report::Curves::Reference> list = {{"one Gaussian", gaussian_nll(data_)}};
  for (const RatePair& pair : pairs_) {
    const auto entropy = results_.summary(data_, pair.ours, "entropy", Moment::last);
    if (entropy && list.size() == 1) list.push_back({"entropy", entropy->mean});
  }
  return list;
}

void RatesComparison::figures(Section& section) const {
  figure(section,
         {.name = "nll",
          .y_label = "test NLL",
          .shown = {{"ours, main", false, "main.test_nll", ours_color},
                    {"ours, proxy", false, "proxy.test_nll", proxy_color},
                    {"WGAN-GP", true, "main.test_nll", wgan_color}},
          .references = references()},
         "Test NLL over iterations for every pair of learning rates. All panels have the same "
         "axis, which leaves out the start and what is far above most of it. One Gaussian: with "
         "the moments of the source.");
  section.details();
  figure(section,
         {.name = "jeffreys",
          .y_label = "Jeffreys divergence",
          .shown = {{"ours, main", false, "main.jeffreys", ours_color},
                    {"ours, proxy", false, "proxy.jeffreys", proxy_color},
                    {"WGAN-GP", true, "main.jeffreys", wgan_color}}},
         "Jeffreys divergence to the source over iterations. That of the proxy is an estimate: its "
         "samples are weighted ones of the main model.");
  figure(section,
         {.name = "multipliers",
          .y_label = "multiplier",
          .shown = {{"forward", false, "multiplier.forward", 0},
                    {"reverse", false, "multiplier.reverse", 1},
                    {"proxy", false, "multiplier.proxy", 2},
                    {"zeta, lower", false, "multiplier.zeta_lower", 3},
                    {"zeta, upper", false, "multiplier.zeta_upper", 4}}},
         "Multipliers of ours over iterations.");
}

void RatesComparison::table(report::Page& page) const {
  constexpr std::array kMoments = {Moment::last, Moment::best};
  std::vector<std::vector<report::Cell>> rows;
  for (const RatePair& pair : pairs_) {
    rows.push_back({rate_text(pair.main), rate_text(pair.proxy)});
    const std::array<std::pair<std::string, Quantity>, 3> models = {
        {{pair.ours, kNll}, {pair.ours, kProxyNll}, {pair.wgan, kNll}}};
    for (const Moment moment : kMoments) {
      double lowest = INFINITY;
      const auto mean = [&](const auto& model) {
        const auto summary = results_.summary(data_, model.first, model.second.column, moment);
        return summary ? summary->mean : INFINITY;
      };
      for (const auto& model : models) lowest = std::min(lowest, mean(model));
      for (const auto& model : models) {
        const bool diverged =
            moment == Moment::last && all_diverged(results_.runs(data_, model.first));
        rows.back().emplace_back(
            diverged ? "diverged"
                     : measured_text(results_, data_, model.first, model.second, moment),
            report::Verdict::none, std::isfinite(lowest) && mean(model) == lowest);
      }
    }
    for (const std::string& method : {pair.ours, pair.wgan}) {
      rows.back().emplace_back(measured_text(results_, data_, method, kJeffreys, Moment::last));
    }
  }
  page.table({"main rate", "proxy rate", "last: ours", "proxy", "WGAN-GP", "best: ours", "proxy",
              "WGAN-GP", "Jeffreys, last: ours", "WGAN-GP"},
             rows,
             {.caption = "Test NLL in nats ± its Monte-Carlo error (one seed) or the deviation "
                         "over seeds; the lowest of three is bold. Last: after all iterations. "
                         "Best: the lowest point, chosen on the test rows as the paper does; no "
                         "rows are held out for validation here. Ours without a name is the main "
                         "model." +
                         lengths_text()});
}

std::int64_t RatesComparison::iterations(std::string RatePair::*method) const {
  std::int64_t most = 0;
  for (const RatePair& pair : pairs_) {
    for (const RunResult* run : results_.runs(data_, pair.*method)) {
      most = std::max(most, run->curve.iteration.back());
    }
  }
  return most;
}

std::string RatesComparison::lengths_text() const {
  const std::int64_t ours = iterations(&RatePair::ours);
  const std::int64_t wgan = iterations(&RatePair::wgan);
  if (ours == 0 || wgan == 0 || ours == wgan) return "";
  return fmt::format(" Ours has {} iterations and WGAN-GP {}.", ours, wgan);
}

std::vector<std::pair<const char*, std::optional<Contrast>>> RatesComparison::contrasts(
    const RatePair& pair) const {
  const auto at_moment = [&](Moment moment) {
    return contrast(results_, data_, pair.ours, pair.wgan, kNll, moment);
  };
  std::vector<std::pair<const char*, std::optional<Contrast>>> list = {
      {" last ", at_moment(Moment::last)}, {", best ", at_moment(Moment::best)}};
  if (!have_equal_lengths()) {
    list.emplace_back(", in equal iterations ",
                      contrast_in_equal_iterations(results_, data_, pair.ours, pair.wgan, kNll));
  }
  return list;
}

Claim RatesComparison::lower_claim() const {
  Claim claim{.paper = "fig:wgan, fig:ap_wgan",
              .text = "Ours reaches a lower NLL than WGAN-GP at every pair of learning rates.",
              .headline = "A lower NLL than WGAN-GP at every pair of learning rates.",
              .form = Form::written,
              .methods = {"ours", "wgan"}};
  std::vector<Finding> findings;
  std::size_t compared = 0;
  for (const RatePair& pair : pairs_) {
    if (!has(pair.ours) || !has(pair.wgan)) continue;
    ++compared;
    claim.numbers += claim.numbers.empty() ? "Main model less WGAN-GP (rates main/proxy): " : "; ";
    claim.numbers += pair.text();
    const bool ours_lost = all_diverged(results_.runs(data_, pair.ours));
    for (const auto& [name, difference] : contrasts(pair)) {
      claim.numbers += name;
      if (difference) {
        claim.numbers += text_of(*difference);
        findings.push_back(difference->below() ? Finding::holds : Finding::fails);
      } else if (ours_lost || all_diverged(results_.runs(data_, pair.wgan))) {
        claim.numbers += ours_lost ? "ours diverged" : "WGAN-GP diverged";
        findings.push_back(ours_lost ? Finding::fails : Finding::holds);
      }
    }
  }
  claim.finding = together(findings);
  if (compared == 0) return claim;
  const auto lower = std::count(findings.begin(), findings.end(), Finding::holds);
  claim.brief =
      fmt::format("lower in {} of {} comparisons, {}, at {} of {} pairs", lower, findings.size(),
                  have_equal_lengths() ? "last and best" : "last, best and in equal iterations",
                  compared, kPairs);
  if (compared < kPairs) {
    claim.numbers += fmt::format("; {} of {} pairs have both runs", compared, kPairs);
    if (claim.finding == Finding::holds) claim.finding = Finding::not_enough_runs;
  }
  claim.numbers +=
      ". With fewer than three seeds ± is the Monte-Carlo error on the test rows, and "
      "two of them decide.";
  return claim;
}

std::optional<double> RatesComparison::last_nll(const std::string& method) const {
  if (!has(method)) return std::nullopt;
  const auto summary = results_.summary(data_, method, kNll.column, Moment::last);
  return summary ? summary->mean : INFINITY;
}

Claim RatesComparison::stable_claim() const {
  Claim claim{.paper = "fig:wgan, fig:ap_wgan",
              .text = "Ours is more robust to the learning rates than WGAN-GP.",
              .form = Form::written,
              .methods = {"ours", "wgan"}};
  double least[2] = {INFINITY, INFINITY};
  double most[2] = {-INFINITY, -INFINITY};
  std::size_t compared = 0;
  for (const RatePair& pair : pairs_) {
    const auto ours = last_nll(pair.ours);
    const auto wgan = last_nll(pair.wgan);
    if (!ours || !wgan) continue;
    ++compared;
    for (const auto& [i, value] : {std::pair{0, *ours}, {1, *wgan}}) {
      least[i] = std::min(least[i], value);
      most[i] = std::max(most[i], value);
    }
  }
  if (compared < 2) return claim;
  const auto range = [&](int i) {
    return std::isfinite(most[i]) ? fmt::format("{:.3f} to {:.3f}, spread {:.3f}", least[i],
                                                most[i], most[i] - least[i])
                                  : fmt::format("from {:.3f}, some runs diverged", least[i]);
  };
  claim.numbers = fmt::format("Last test NLL over {} pairs of rates: ours {}; WGAN-GP {}.",
                              compared, range(0), range(1));
  claim.brief =
      fmt::format("last NLL over {} pairs: ours {}; WGAN-GP {}", compared, range(0), range(1));
  const bool holds = std::isfinite(most[0]) && !(most[1] - least[1] <= most[0] - least[0]);
  claim.finding = holds ? Finding::holds : Finding::fails;
  if (compared < kPairs) claim.finding = Finding::not_enough_runs;
  return claim;
}

Claim RatesComparison::divergence_claim() const {
  Claim claim{.paper = "fig:wgan",
              .text =
                  "At a high learning rate WGAN-GP diverges while ours converges; at a low one "
                  "WGAN-GP can converge.",
              .headline =
                  "At a high learning rate WGAN-GP diverges and ours converges; at a low "
                  "one WGAN-GP can converge.",
              .form = Form::written,
              .methods = {"ours", "wgan"}};
  const auto slower = [](const RatePair& a, const RatePair& b) { return a.main < b.main; };
  const auto [least, most] = std::minmax_element(pairs_.begin(), pairs_.end(), slower);
  if (pairs_.empty()) return claim;
  const double low = least->main;
  const double high = most->main;
  const double limit = gaussian_nll(data_);
  bool diverges = true;
  bool ours_converges = true;
  bool converges = false;
  std::size_t seen[2] = {0, 0};
  std::vector<std::string> texts;
  for (const RatePair& pair : pairs_) {
    const auto wgan = last_nll(pair.wgan);
    const auto ours = last_nll(pair.ours);
    if (!wgan || !ours || (pair.main != high && pair.main != low)) continue;
    texts.push_back(fmt::format("{} WGAN-GP {:.3f}, ours {:.3f}", pair.text(), *wgan, *ours));
    ++seen[pair.main == high ? 0 : 1];
    if (pair.main == high) {
      diverges = diverges && *wgan >= limit;
      ours_converges = ours_converges && *ours < limit;
    } else {
      converges = converges || *wgan < limit;
    }
  }
  if (texts.empty()) return claim;
  claim.numbers = fmt::format(
      "Last test NLL (rates main/proxy): {}. What is not below {:.3f}, the NLL of one Gaussian "
      "with the moments of the source, counts as diverged; inf: stopped by numbers that are not "
      "finite.",
      fmt::join(texts, "; "), limit);
  if (seen[0] == 0 || seen[1] == 0) return claim;
  claim.brief = fmt::format("high rate: WGAN-GP {}, ours {}; low rate: WGAN-GP {}",
                            diverges ? "diverges" : "does not always diverge",
                            ours_converges ? "converges" : "does not always converge",
                            converges ? "can converge" : "does not converge");
  const int count = (diverges ? 1 : 0) + (ours_converges ? 1 : 0) + (converges ? 1 : 0);
  claim.finding = count == 3 ? Finding::holds : diverges ? Finding::in_part : Finding::fails;
  return claim;
}

}  // namespace

void describe_gmm40_wgan(const Results& results, Section& section) {
  const RatesComparison comparison(results);
  section.claim(comparison.lower_claim());
  section.claim(comparison.stable_claim());
  section.claim(comparison.divergence_claim());
  if (results.empty()) {
    section.page().notice("No runs yet.");
    return;
  }
  comparison.figures(section);
  comparison.table(section.page());
  note_diverged(results, section.page());
}

}  // namespace jeffreys::experiment

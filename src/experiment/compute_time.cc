// Appendix ap:compute_time: figure fig:runtime. What the number M of samples behind the estimate of
// zeta costs, and what it gives.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "experiment/measured.h"
#include "experiment/nll_table.h"

namespace jeffreys::experiment {
namespace {

constexpr double kUsual = 1000;  // M of the paper's other experiments
// "Barely increases" and "not much slower".
constexpr double kBarely = 1.25;
constexpr double kComparable = 1.5;
// How far above the flow a WGAN's NLL may be drawn, in nats.
constexpr double kMostAbove = 0.5;

double milliseconds(const Results& results, const std::string& data, const std::string& method) {
  double sum = 0;
  int count = 0;
  for (const RunResult* run : results.runs(data, method)) {
    if (run->seconds.empty() || run->seconds.size() != run->curve.iteration.size()) continue;
    sum += 1000 * run->seconds.back() / static_cast<double>(run->curve.iteration.back());
    ++count;
  }
  return count == 0 ? kNotMeasured : sum / count;
}

double best_nll(const Results& results, const std::string& data, const std::string& method,
                const char* column) {
  const auto summary = results.summary(data, method, column, Moment::best);
  return summary ? summary->mean : kNotMeasured;
}

struct Size {
  std::string method;
  double samples = 0;  // M
  double milliseconds = kNotMeasured;
};

class TimeComparison {
 public:
  explicit TimeComparison(const Results& results)
      : results_(results),
        data_(results.data().front()),
        flow_(milliseconds(results, data_, "flow")),
        wgan_(milliseconds(results, data_, "wgan")) {
    for (const std::string& method : results.methods()) {
      const auto runs = results.runs(data_, method);
      if (!method.starts_with("ours") || runs.empty()) continue;
      sizes_.push_back({method, setting_of(*runs.front(), "zeta.samples"),
                        milliseconds(results, data_, method)});
    }
    std::sort(sizes_.begin(), sizes_.end(),
              [](const Size& a, const Size& b) { return a.samples < b.samples; });
  }

  void figure(Section& section) const;
  void table(report::Page& page) const;
  [[nodiscard]] Claim growth_claim() const;
  [[nodiscard]] Claim references_claim() const;
  [[nodiscard]] Claim improvement_claim() const;

 private:
  [[nodiscard]] report::Curves time_panel() const;
  [[nodiscard]] report::Curves nll_panel() const;
  [[nodiscard]] std::vector<Size> timed() const {
    std::vector<Size> known;
    std::copy_if(sizes_.begin(), sizes_.end(), std::back_inserter(known),
                 [](const Size& size) { return std::isfinite(size.milliseconds); });
    return known;
  }

  const Results& results_;
  std::string data_;
  double flow_;  // milliseconds for an iteration
  double wgan_;
  std::vector<Size> sizes_;
};

void add_line(report::Curves& curves, report::Curves::Line line) {
  if (line.x.empty()) return;
  for (std::size_t i = 0; i < line.x.size(); ++i) {
    curves.marks.push_back({.x = line.x[i], .y = line.y[i], .color = line.color});
  }
  curves.lines.push_back(std::move(line));
}

report::Curves TimeComparison::time_panel() const {
  report::Curves curves{.title = "Time for an iteration",
                        .x_label = "samples M",
                        .y_label = "processor milliseconds",
                        .log_x = true};
  report::Curves::Line line{.name = "ours", .color = ours_color};
  double most = 0;
  for (const Size& size : timed()) {
    line.x.push_back(size.samples);
    line.y.push_back(size.milliseconds);
    most = std::max(most, size.milliseconds);
  }
  add_line(curves, std::move(line));
  for (const auto& [name, value] : {std::pair{"flow (MLE)", flow_}, {"WGAN-GP", wgan_}}) {
    if (!std::isfinite(value)) continue;
    curves.references.push_back({name, value});
    most = std::max(most, value);
  }
  curves.y_min = 0;
  curves.y_max = 1.1 * most;
  return curves;
}

report::Curves TimeComparison::nll_panel() const {
  report::Curves curves{
      .title = "Lowest test NLL", .x_label = "samples M", .y_label = "test NLL", .log_x = true};
  report::Curves::Line main{.name = "ours, main", .color = ours_color};
  report::Curves::Line proxy{.name = "ours, proxy", .color = proxy_color};
  for (const Size& size : sizes_) {
    for (const auto& [line, column] :
         {std::pair{&main, "main.test_nll"}, {&proxy, "proxy.test_nll"}}) {
      const double value = best_nll(results_, data_, size.method, column);
      if (!std::isfinite(value)) continue;
      line->x.push_back(size.samples);
      line->y.push_back(value);
    }
  }
  add_line(curves, std::move(main));
  add_line(curves, std::move(proxy));
  const double flow = best_nll(results_, data_, "flow", "main.test_nll");
  const double wgan = best_nll(results_, data_, "wgan", "main.test_nll");
  if (std::isfinite(flow)) curves.references.push_back({"flow (MLE)", flow});
  if (wgan < flow + kMostAbove) curves.references.push_back({results_.label("wgan"), wgan});
  return curves;
}

void TimeComparison::figure(Section& section) const {
  std::vector<report::Panel> row;
  for (report::Curves& curves : std::vector{time_panel(), nll_panel()}) {
    if (!curves.lines.empty()) row.emplace_back(std::move(curves));
  }
  if (row.empty()) return;
  section.figure("samples", {row},
                 "Left: processor time of one core for an iteration, without evaluations, averaged "
                 "over the run. Right: the lowest test NLL of the run, chosen on the test rows as "
                 "the paper does. M: samples of the main model behind the estimate of zeta.");
}

void TimeComparison::table(report::Page& page) const {
  std::vector<std::vector<report::Cell>> rows;
  std::vector<std::pair<std::string, std::string>> methods;
  for (const Size& size : sizes_)
    methods.emplace_back(fmt::format("ours, M = {:g}", size.samples), size.method);
  methods.emplace_back("flow (MLE)", "flow");
  methods.emplace_back(results_.label("wgan"), "wgan");
  double lowest = INFINITY;
  for (const auto& [name, method] : methods) {
    lowest = std::fmin(lowest, best_nll(results_, data_, method, kNll.column));
  }
  for (const auto& [name, method] : methods) {
    if (results_.runs(data_, method).empty()) continue;
    const double time = milliseconds(results_, data_, method);
    rows.push_back({name, std::isfinite(time) ? fmt::format("{:.2f}", time) : "–",
                    std::isfinite(time / flow_) ? fmt::format("{:.2f}", time / flow_) : "–",
                    measured_text(results_, data_, method, kNll, Moment::last),
                    report::Cell(measured_text(results_, data_, method, kNll, Moment::best),
                                 report::Verdict::none,
                                 best_nll(results_, data_, method, kNll.column) == lowest),
                    measured_text(results_, data_, method, kProxyNll, Moment::best)});
  }
  page.table({"method", "ms for an iteration", "relative to the flow", "main NLL, last",
              "main NLL, best", "proxy NLL, best"},
             rows,
             {.caption = "Processor milliseconds of one core for an iteration, and test NLL in "
                         "nats ± its Monte-Carlo error (one seed) or the deviation over seeds. "
                         "Best: the lowest point, chosen on the test rows as the paper does."});
}

Claim TimeComparison::growth_claim() const {
  Claim claim{.paper = "fig:runtime",
              .text = "The time for an iteration barely increases with more samples.",
              .headline = "More samples behind zeta barely cost time.",
              .form = Form::written,
              .methods = {"ours"}};
  const std::vector<Size> known = timed();
  if (known.size() < 2) return claim;
  const Size& least = known.front();
  const double whole = known.back().milliseconds / least.milliseconds;
  claim.numbers =
      fmt::format("{:.2f} ms at M = {:g}, {:.2f} ms at M = {:g}: {:.2f} times", least.milliseconds,
                  least.samples, known.back().milliseconds, known.back().samples, whole);
  const auto usual = std::find_if(known.begin(), known.end(),
                                  [](const Size& size) { return size.samples == kUsual; });
  double part = INFINITY;
  if (usual != known.end() && usual != known.begin()) {
    part = usual->milliseconds / least.milliseconds;
    claim.numbers += fmt::format("; from {:g} to {:g}: {:.2f} times", least.samples, kUsual, part);
  }
  claim.numbers += fmt::format(
      ". Barely: at most {:g} times; in part: up to M = {:g}. One core, where the paper used a GPU "
      "on which small batches leave most of it idle.",
      kBarely, kUsual);
  claim.brief =
      fmt::format("{:.2f} times from M = {:g} to {:g}", whole, least.samples, known.back().samples);
  claim.finding = whole <= kBarely  ? Finding::holds
                  : part <= kBarely ? Finding::in_part
                                    : Finding::fails;
  return claim;
}

Claim TimeComparison::references_claim() const {
  Claim claim{.paper = "fig:runtime",
              .text = "Ours is slower than the flow alone, but not much slower than WGAN-GP.",
              .form = Form::written,
              .methods = {"ours", "flow", "wgan"}};
  const std::vector<Size> known = timed();
  if (known.empty() || !(std::isfinite(flow_) || std::isfinite(wgan_))) return claim;
  const auto ratios = [&](double reference) {
    std::vector<std::string> texts;
    for (const Size& size : known) {
      texts.push_back(
          fmt::format("{:.2f} (M = {:g})", size.milliseconds / reference, size.samples));
    }
    return fmt::format("{}", fmt::join(texts, ", "));
  };
  if (std::isfinite(flow_)) claim.numbers += "Times the flow: " + ratios(flow_) + ". ";
  if (std::isfinite(wgan_)) claim.numbers += "Times WGAN-GP: " + ratios(wgan_) + ". ";
  claim.numbers += fmt::format(
      "Not much: at most {:g} times at M = {:g} or the largest below. Both use the same kernels, "
      "but for the generator's step of WGAN-GP, which libtorch differentiates.",
      kComparable, kUsual);
  if (!std::isfinite(flow_) || !std::isfinite(wgan_)) return claim;
  const bool slower = std::all_of(known.begin(), known.end(),
                                  [&](const Size& size) { return size.milliseconds > flow_; });
  double at_usual = known.front().milliseconds;
  for (const Size& size : known) {
    if (size.samples <= kUsual) at_usual = size.milliseconds;
  }
  const bool comparable = at_usual <= kComparable * wgan_;
  claim.brief = fmt::format("{:.2f} times the flow and {:.2f} times WGAN-GP at M = {:g} or less",
                            at_usual / flow_, at_usual / wgan_, kUsual);
  claim.finding = slower && comparable   ? Finding::holds
                  : slower || comparable ? Finding::in_part
                                         : Finding::fails;
  return claim;
}

Claim TimeComparison::improvement_claim() const {
  Claim claim{.paper = "fig:runtime",
              .text = "Using more samples improves the NLL.",
              .headline = "More samples behind zeta improve the NLL.",
              .form = Form::written,
              .methods = {"ours"}};
  if (sizes_.size() < 2) return claim;
  bool never_worse = true;
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < sizes_.size(); ++i) {
    texts.push_back(fmt::format(
        "{} (M = {:g})", measured_text(results_, data_, sizes_[i].method, kNll, Moment::best),
        sizes_[i].samples));
    if (i == 0) continue;
    const auto step =
        contrast(results_, data_, sizes_[i].method, sizes_[i - 1].method, kNll, Moment::best);
    never_worse = never_worse && step && !step->above();
  }
  const auto whole =
      contrast(results_, data_, sizes_.back().method, sizes_.front().method, kNll, Moment::best);
  if (!whole) return claim;
  claim.numbers = fmt::format(
      "Lowest test NLL of the main model: {}. Largest less smallest M: {}. With fewer than three "
      "seeds ± is the Monte-Carlo error on the test rows, and two of them decide.",
      fmt::join(texts, ", "), text_of(*whole));
  claim.brief = fmt::format("largest less smallest M: {}", text_of(*whole));
  claim.finding = !whole->below() ? Finding::fails
                  : never_worse   ? Finding::holds
                                  : Finding::in_part;
  return claim;
}

}  // namespace

void describe_compute_time(const Results& results, Section& section) {
  const TimeComparison comparison(results);
  section.claim(comparison.growth_claim());
  section.claim(comparison.references_claim());
  section.claim(comparison.improvement_claim());
  if (results.empty()) {
    section.page().notice("No runs yet.");
    return;
  }
  comparison.figure(section);
  section.details();
  comparison.table(section.page());
  note_diverged(results, section.page());
}

}  // namespace jeffreys::experiment

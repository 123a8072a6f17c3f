// Section "Density estimation" and appendix ap:shapes: figures fig:main_density and
// fig:appendix_density.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "experiment/comparison.h"
#include "experiment/nll_table.h"

namespace jeffreys::experiment {
namespace {

constexpr const char* kBeyond = "beyond the paper";
constexpr const char* kOursValidated = "ours-validated";
constexpr const char* kFlowValidated = "flow-validated";

// The models that the paper compares.
struct Model {
  const char* name;
  const char* phrase;
  const char* word;  // in narrow legends
  const char* method;
  const char* column;
  const char* map;
  int color;
};
constexpr Model kFlow{"flow (MLE)",    "a pure flow", "flow",          "flow",
                      "main.test_nll", "main",        likelihood_color};
constexpr Model kMain{"ours, main",    "our main model", "main",    "ours",
                      "main.test_nll", "main",           ours_color};
constexpr Model kProxy{"ours, proxy",    "our proxy", "proxy",    "ours",
                       "proxy.test_nll", "proxy",     proxy_color};
constexpr Model kModels[] = {kFlow, kMain, kProxy};

std::optional<SeedSummary> nll_of(const Results& results, const std::string& data,
                                  const Model& model, Moment moment) {
  return results.summary(data, model.method, model.column, moment);
}

// The same for all seeds and methods.
double entropy_of(const Results& results, const std::string& data) {
  for (const std::string& method : results.methods()) {
    const auto entropy = results.summary(data, method, "entropy", Moment::last);
    if (entropy) return entropy->mean;
  }
  return kNotMeasured;
}

std::vector<std::vector<report::Panel>> in_rows(std::vector<report::Panel> panels) {
  constexpr std::size_t kInRow = 3;
  std::vector<std::vector<report::Panel>> rows;
  for (report::Panel& panel : panels) {
    if (rows.empty() || rows.back().size() == kInRow) rows.emplace_back();
    rows.back().push_back(std::move(panel));
  }
  return rows;
}

void dots_figure(const Results& results, Section& section) {
  std::vector<report::Panel> panels;
  for (const std::string& data : results.data()) {
    report::Bars bars{
        .title = data, .y_label = "test NLL", .from_zero = false, .groups = {"best", "last"}};
    for (const Model& model : kModels) {
      report::Bars::Series series{.name = model.word, .color = model.color};
      for (const Moment moment : {Moment::best, Moment::last}) {
        const auto summary = nll_of(results, data, model, moment);
        series.values.push_back(summary ? summary->mean : kNotMeasured);
        series.deviation.push_back(summary && summary->n > 1 ? summary->standard_deviation
                                                             : kNotMeasured);
      }
      if (std::isfinite(series.values[0])) bars.series.push_back(std::move(series));
    }
    if (bars.series.empty()) continue;
    const double entropy = entropy_of(results, data);
    bars.series.push_back(
        {.name = "entropy", .values = {entropy, entropy}, .color = reference_color});
    panels.emplace_back(std::move(bars));
  }
  if (panels.empty()) return;
  section.figure(
      "nll", in_rows(std::move(panels)),
      "Test NLL in nats for each row of the flow and of our main model and proxy: mean and "
      "deviation over seeds. Best: chosen on the test rows, as the paper does. The source's "
      "entropy is what a perfect model would have.");
}

void curves_figure(const Results& results, Section& section) {
  std::vector<report::Panel> panels;
  for (const std::string& data : results.data()) {
    report::Curves curves{.title = data, .x_label = "iteration", .y_label = "test NLL"};
    for (const Model& model : kModels) {
      auto line = mean_line(results, data, model.method, model.column, model.name, model.color);
      if (!line.x.empty()) curves.lines.push_back(std::move(line));
    }
    if (curves.lines.empty()) continue;
    const double entropy = entropy_of(results, data);
    if (std::isfinite(entropy)) curves.references = {{"entropy", entropy}};
    hide_start(curves, 0.2);
    panels.emplace_back(std::move(curves));
  }
  if (panels.empty()) return;
  section.figure("curves", in_rows(std::move(panels)),
                 "Test NLL over iterations: mean over seeds with a band of one deviation. The "
                 "start is above the picture.");
}

// The densities of the run with seed 0 after all iterations.
void maps_figure(const Results& results, Section& section) {
  std::vector<std::vector<report::Panel>> rows;
  for (const std::string& data : results.data()) {
    std::vector<report::Panel> row;
    for (const Model& model : kModels) {
      const auto runs = results.runs(data, model.method);
      if (runs.empty()) continue;
      const Workload::DensityGrid& grid = runs.front()->grid;
      const auto found = grid.density.find(model.map);
      if (found == grid.density.end() || found->second.size() != grid.pixels * grid.pixels) {
        continue;
      }
      row.emplace_back(report::DensityMap{.title = fmt::format("{}: {}", data, model.name),
                                          .x_min = grid.x_min,
                                          .x_max = grid.x_max,
                                          .y_min = grid.y_min,
                                          .y_max = grid.y_max,
                                          .density = Eigen::Map<const Matrix<double>>(
                                              found->second.data(), grid.pixels, grid.pixels),
                                          .contours = true});
    }
    if (!row.empty()) rows.push_back(std::move(row));
  }
  if (rows.empty()) return;
  section.figure("maps", rows,
                 "Densities at the end of the runs with seed 0, on 64 x 64 pixels. Maps in one row "
                 "share their colours.");
}

// A row of a table: a value for each data set.
template <typename Value>
TableRow row_of(const Results& results, const std::string& model, const std::string& taken,
                const Value& value) {
  TableRow row{model, taken, {}};
  for (const std::string& data : results.data()) row.values.push_back(value(data));
  return row;
}

void paper_table(const Results& results, Section& section) {
  std::vector<TableRow> rows;
  for (const auto& [moment, taken] : {std::pair{Moment::last, "last"}, {Moment::best, "best"}}) {
    for (const Model& model : kModels) {
      rows.push_back(row_of(results, model.name, taken, [&, when = moment](const auto& data) {
        return nll_of(results, data, model, when);
      }));
    }
  }
  rows.push_back(row_of(results, "entropy of the source", "", [&](const auto& data) {
    return results.summary(data, kMain.method, "entropy", Moment::last);
  }));
  rows.back().reference = true;
  rows.push_back(
      row_of(results, "effective share of zeta's samples", "last", [&](const auto& data) {
        return results.summary(data, kProxy.method, "proxy.effective_sample_size", Moment::last);
      }));
  rows.back().reference = true;
  value_table(
      section.page(), results.data(), rows,
      "Test NLL in nats for each row: mean ± deviation over seeds (their number), the "
      "lowest in bold. Last: after all iterations. Best: the lowest point of each run, "
      "chosen on the test rows as the paper does; nobody can stop there. The proxy's NLL needs "
      "zeta, estimated from 10,000 samples of the main model; the noise of that estimate "
      "lowers its best point, the more the smaller their effective share.");
}

void user_table(const Results& results, Section& section) {
  std::vector<TableRow> rows;
  const auto add = [&](const std::string& model, const auto& values) {
    rows.push_back(row_of(results, model, "by validation",
                          [&](const auto& data) { return summary_of(values(data)); }));
  };
  for (const std::string& method : results.methods()) {
    if (method == kFlow.method || method == kMain.method) continue;
    add(results.label(method),
        [&](const auto& data) { return values_of(results, data, method, validated_nll()); });
  }
  add("ours, in the time of the flow", [&](const auto& data) {
    return validated_in_time_of(results, data, kOursValidated, kFlowValidated);
  });
  add("flow, in the time of ours", [&](const auto& data) {
    return validated_in_time_of(results, data, kFlowValidated, kOursValidated);
  });
  value_table(section.page(), results.data(), rows,
              "Test NLL of what a user would do: a fifth of the training rows is held out, and "
              "chooses the iteration and, for ours, between main, proxy and the averages of their "
              "weights; the Gaussian has nothing to choose and uses all rows. All in equal steps, "
              "but for the last two rows: these may use only the "
              "processor time that the other needed until its chosen point.");
}

// Whether b is below a on every data set.
Comparison below(const Results& results, const Model& a, const Model& b, Moment moment) {
  Comparison comparison;
  for (const std::string& data : results.data()) {
    comparison.add(
        data, results.difference(data, {a.method, a.column, moment}, {b.method, b.column, moment}));
  }
  return comparison;
}

void nll_claims(const Results& results, Section& section) {
  for (const Model& model : {kMain, kProxy}) {
    for (const Moment moment : {Moment::last, Moment::best}) {
      const bool last = moment == Moment::last;
      const Comparison comparison = below(results, kFlow, model, moment);
      section.claim({"ssec:density, fig:main_density, fig:appendix_density",
                     fmt::format("On all data sets {} has a lower NLL than {}, {}.", model.phrase,
                                 kFlow.phrase, last ? "at the end" : "each at its best"),
                     fmt::format("{} - {}, {}: {}", model.name, kFlow.name,
                                 last ? "last" : "best (on the test rows)", comparison.text()),
                     comparison.finding()});
    }
  }
}

// "More consistent": the deviation over seeds. With few seeds a single deviation says little, so
// its logarithm is compared over all data sets.
void consistency_claim(const Results& results, Section& section, const Model& model) {
  std::vector<double> flow;
  std::vector<double> ours;
  std::vector<std::string> texts;
  std::size_t smaller = 0;
  for (const std::string& data : results.data()) {
    const auto a = nll_of(results, data, kFlow, Moment::last);
    const auto b = nll_of(results, data, model, Moment::last);
    if (!a || !b || a->n < 3 || b->n < 3) continue;
    if (!(a->standard_deviation > 0) || !(b->standard_deviation > 0)) continue;
    flow.push_back(std::log(a->standard_deviation));
    ours.push_back(std::log(b->standard_deviation));
    if (b->standard_deviation < a->standard_deviation) ++smaller;
    texts.push_back(fmt::format("{} {:.4f} against {:.4f}", data, b->standard_deviation,
                                a->standard_deviation));
  }
  Claim claim{
      "ssec:density",
      fmt::format("The NLL of {} is more consistent than that of {}.", model.phrase, kFlow.phrase),
      "Deviation over seeds after all iterations, ours against flow: –"};
  if (!flow.empty()) {
    const PairedInterval ratio = paired_interval(flow, ours);
    claim.numbers = fmt::format(
        "Deviation over seeds after all iterations, ours against flow: {}; ratio {:.2f} [{:.2f}, "
        "{:.2f}] over {} data sets",
        fmt::join(texts, "; "), std::exp(ratio.mean), std::exp(ratio.lower), std::exp(ratio.upper),
        ratio.n);
    claim.finding = lower(ratio);
    if (claim.finding == Finding::holds && smaller < flow.size()) claim.finding = Finding::in_part;
  }
  section.claim(std::move(claim));
}

// The paper shows maps; modes can be counted.
void modes_claim(const Results& results, Section& section) {
  std::vector<std::string> texts;
  std::vector<Finding> findings;
  for (const std::string& data : results.data()) {
    const auto covered = results.summary(data, kMain.method, "main.modes_covered", Moment::last);
    const auto modes = results.summary(data, kMain.method, "main.modes", Moment::last);
    const auto precision = results.summary(data, kMain.method, "main.mode_precision", Moment::last);
    if (!covered || !modes || !precision) continue;
    texts.push_back(
        fmt::format("{} {:.1f} of {:.0f} modes ({} runs), {:.1f} % of the samples within "
                    "3 deviations of one",
                    data, covered->mean, modes->mean, covered->n, 100 * precision->mean));
    findings.push_back(covered->n < 3                 ? Finding::not_enough_runs
                       : covered->mean >= modes->mean ? Finding::holds
                                                      : Finding::fails);
  }
  section.claim({"ssec:density, fig:main_density",
                 "The model captures all modes, where the source has modes.",
                 texts.empty() ? "–" : fmt::format("Main: {}", fmt::join(texts, "; ")),
                 together(findings)});
}

void user_claims(const Results& results, Section& section) {
  const auto add = [&](const std::string& text, const std::string& compared, const auto& a,
                       const auto& b) {
    Comparison comparison;
    for (const std::string& data : results.data()) {
      comparison.add(data, difference_of(a(data), b(data)));
    }
    section.claim({kBeyond, text, compared + ": " + comparison.text(), comparison.finding()});
  };
  const auto validated = [&](const char* method) {
    return [&results, method](const std::string& data) {
      return values_of(results, data, method, validated_nll());
    };
  };
  const auto ours = validated(kOursValidated);
  add("Ours, validated, is better than a flow that is stopped early, in equal steps.",
      "ours - flow, each where validation chooses", validated(kFlowValidated), ours);
  add("Ours is better than a flow that is stopped early, in equal processor time.",
      "ours within the time of the flow - flow", validated(kFlowValidated),
      [&](const std::string& data) {
        return validated_in_time_of(results, data, kOursValidated, kFlowValidated);
      });
  add("Ours, validated, is better than a mixture of Gaussians.", "ours - mixture",
      validated("mixture"), ours);
  add("Ours, validated, is better than a kernel density estimate.", "ours - kernel",
      validated("kernel"), ours);
}

}  // namespace

void describe_density(const Results& results, Section& section) {
  if (results.empty()) {
    section.page().notice("No runs yet.");
    return;
  }
  section.page().paragraph(
      "A flow trained by our method with an energy model as proxy, and the same flow trained by "
      "maximum likelihood, on 1000 rows of five sources in the plane whose densities are known.");
  note_diverged(results, section.page());
  dots_figure(results, section);
  curves_figure(results, section);
  maps_figure(results, section);
  paper_table(results, section);
  user_table(results, section);
  chosen_table(results, {kOursValidated, kFlowValidated}, section.page());
  nll_claims(results, section);
  consistency_claim(results, section, kMain);
  consistency_claim(results, section, kProxy);
  modes_claim(results, section);
  user_claims(results, section);
}

}  // namespace jeffreys::experiment

// Section "Density estimation" and appendix ap:shapes: figures fig:main_density and
// fig:appendix_density.
// Differs from the paper: its formulas as written and our stable form of them stand side by side.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "experiment/consistency.h"
#include "experiment/nll_table.h"
#include "experiment/zeta_course.h"
#include "jeffreys/truth/source.h"

namespace jeffreys::experiment {
namespace {

constexpr const char* kBeyond = "beyond the paper";
constexpr const char* kStableValidated = "stable-validated";
constexpr const char* kWrittenValidated = "ours-validated";
constexpr const char* kFlowValidated = "flow-validated";

struct Model {
  const char* name;
  const char* phrase;
  const char* word;  // in narrow legends
  const char* method;
  const char* column;
  const char* map;
  int color;
  bool written = false;  // the formulas as the paper writes them: dashed
};
constexpr Model kFlow{"flow (MLE)",    "a pure flow", "flow",          "flow",
                      "main.test_nll", "main",        likelihood_color};
constexpr Model kWrittenMain{"ours, as written: main",
                             "our main model (as written)",
                             "as written: main",
                             "ours",
                             "main.test_nll",
                             "main",
                             third_color,
                             true};
constexpr Model kWrittenProxy{"ours, as written: proxy",
                              "our proxy (as written)",
                              "as written: proxy",
                              "ours",
                              "proxy.test_nll",
                              "proxy",
                              fourth_color,
                              true};
constexpr Model kStableMain{"ours, stable form: main",
                            "our main model (in the stable form)",
                            "stable: main",
                            "stable",
                            "main.test_nll",
                            "main",
                            ours_color};
constexpr Model kStableProxy{"ours, stable form: proxy",
                             "our proxy (in the stable form)",
                             "stable: proxy",
                             "stable",
                             "proxy.test_nll",
                             "proxy",
                             proxy_color};
// As tables and claims name them.
constexpr Model kModels[] = {kFlow, kWrittenMain, kWrittenProxy, kStableMain, kStableProxy};
// As figures show them: what may leave the picture comes last.
constexpr Model kDrawn[] = {kFlow, kStableMain, kStableProxy, kWrittenMain, kWrittenProxy};
constexpr Model kMapped[] = {kFlow, kWrittenMain, kStableMain, kStableProxy};
// Only in the table, on one data set.
constexpr Model kClipped[] = {
    {"ours, as written, clipped at 5: main", "", "", "clipped", "main.test_nll", "main", 0},
    {"ours, as written, clipped at 5: proxy", "", "", "clipped", "proxy.test_nll", "proxy", 0}};

Form form_of(const Model& model) { return model.written ? Form::written : Form::stable; }

std::optional<SeedSummary> nll_of(const Results& results, const std::string& data,
                                  const Model& model, Moment moment) {
  return results.summary(data, model.method, model.column, moment);
}

SeedValues nlls_of(const Results& results, const std::string& data, const Model& model,
                   Moment moment) {
  return values_of(results, data, model.method, at(model.column, moment));
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
    std::size_t calm = 0;
    for (const Model& model : kDrawn) {
      report::Bars::Series series{.name = model.word, .color = model.color};
      for (const Moment moment : {Moment::best, Moment::last}) {
        const auto summary = nll_of(results, data, model, moment);
        series.values.push_back(summary ? summary->mean : kNotMeasured);
        series.deviation.push_back(summary && summary->n > 1 ? summary->standard_deviation
                                                             : kNotMeasured);
      }
      if (!std::isfinite(series.values[0])) continue;
      bars.series.push_back(std::move(series));
      if (!model.written) ++calm;
    }
    if (bars.series.empty()) continue;
    const double entropy = entropy_of(results, data);
    if (std::isfinite(entropy)) bars.references = {{"entropy", entropy}};
    hide_high(bars, calm);
    panels.emplace_back(std::move(bars));
  }
  if (panels.empty()) return;
  section.figure(
      "nll", in_rows(std::move(panels)),
      "Test NLL in nats for each row of the flow and of our main model and proxy, by the formulas "
      "as written and in the stable form: mean and deviation over seeds. Best: chosen on the test "
      "rows, as the paper does. The source's entropy is what a perfect model would have. Last "
      "values of runs that diverged are missing; what is far above the others is above the "
      "picture.");
}

void curves_figure(const Results& results, Section& section) {
  std::vector<report::Panel> panels;
  for (const std::string& data : results.data()) {
    report::Curves curves{.title = data, .x_label = "iteration", .y_label = "test NLL"};
    for (const Model& model : kDrawn) {
      auto line = mean_line(results, data, model.method, model.column, model.word, model.color);
      if (line.x.empty()) continue;
      line.dashed = model.written;
      if (model.written) {
        // Its bands would hide the others.
        line.lower.clear();
        line.upper.clear();
      }
      curves.lines.push_back(std::move(line));
    }
    if (curves.lines.empty()) continue;
    const double entropy = entropy_of(results, data);
    if (std::isfinite(entropy)) curves.references = {{"entropy", entropy}};
    hide_start(curves, 0.2);
    panels.emplace_back(std::move(curves));
  }
  if (panels.empty()) return;
  section.figure("curves", in_rows(std::move(panels)),
                 "Test NLL over iterations: mean over seeds with a band of one deviation. Dashed, "
                 "without bands: the formulas as written. The start is above the picture.");
}

// The densities of the run with seed 0 after all iterations.
void maps_figure(const Results& results, Section& section) {
  std::vector<std::vector<report::Panel>> rows;
  for (const std::string& data : results.data()) {
    std::vector<report::Panel> row;
    for (const Model& model : kMapped) {
      const auto runs = results.runs(data, model.method);
      if (runs.empty()) continue;
      const Workload::DensityGrid& grid = runs.front()->grid;
      const auto found = grid.density.find(model.map);
      if (found == grid.density.end() || found->second.size() != grid.pixels * grid.pixels) {
        continue;
      }
      row.emplace_back(report::DensityMap{.title = fmt::format("{}, {}", data, model.word),
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
    const auto add = [&, when = moment, said = taken](const Model& model) {
      rows.push_back(row_of(results, model.name, said,
                            [&](const auto& data) { return nll_of(results, data, model, when); }));
    };
    for (const Model& model : kModels) add(model);
    for (const Model& model : kClipped) add(model);
  }
  rows.push_back(row_of(results, "entropy of the source", "", [&](const auto& data) {
    const double entropy = entropy_of(results, data);
    return std::isfinite(entropy) ? std::optional(SeedSummary{.mean = entropy}) : std::nullopt;
  }));
  rows.back().reference = true;
  for (const Model& model : {kWrittenProxy, kStableProxy}) {
    rows.push_back(row_of(results, fmt::format("{}, effective share of zeta's samples", model.name),
                          "last", [&](const auto& data) {
                            return results.summary(data, model.method,
                                                   "proxy.effective_sample_size", Moment::last);
                          }));
    rows.back().reference = true;
  }
  value_table(
      section.page(), results.data(), rows,
      "Test NLL in nats for each row: mean ± deviation over seeds (their number), the "
      "lowest in bold. Last: after all iterations, of runs that did not diverge. Best: the lowest "
      "point of each run, chosen on the test rows as the paper does; nobody can stop there. The "
      "proxy's NLL needs zeta, estimated from 10,000 samples of the main model; the noise of that "
      "estimate lowers its best point, the more the smaller their effective share. Clipped: "
      "gradients as in the paper's experiment with 40 Gaussians, on one source.");
}

void user_table(const Results& results, Section& section) {
  std::vector<TableRow> rows;
  const auto add = [&](const std::string& model, const auto& values) {
    rows.push_back(row_of(results, model, "by validation",
                          [&](const auto& data) { return summary_of(values(data)); }));
  };
  // Rows of methods that hold nothing out have no value, so the table leaves them out.
  for (const std::string& method : results.methods()) {
    add(results.label(method),
        [&](const auto& data) { return values_of(results, data, method, validated_nll()); });
  }
  for (const auto& [name, method] :
       {std::pair{"stable form", kStableValidated}, {"as written", kWrittenValidated}}) {
    add(fmt::format("ours, {}, in the time of the flow", name),
        [&, ours = method](const auto& data) {
          return validated_in_time_of(results, data, ours, kFlowValidated);
        });
    add(fmt::format("flow, in the time of ours, {}", name), [&, ours = method](const auto& data) {
      return validated_in_time_of(results, data, kFlowValidated, ours);
    });
  }
  value_table(section.page(), results.data(), rows,
              "Test NLL of what a user would do: a fifth of the training rows is held out, and "
              "chooses the iteration and, for ours, between main, proxy and the averages of their "
              "weights; the Gaussian has nothing to choose and uses all rows. All in equal steps, "
              "but for the rows that say so: these may use only the processor time that the other "
              "needed until its chosen point.");
}

// Whether b is below a on every data set.
Comparison below(const Results& results, const Model& a, const Model& b, Moment moment) {
  Comparison comparison;
  for (const std::string& data : results.data()) {
    comparison.add(
        data, difference_of(nlls_of(results, data, a, moment), nlls_of(results, data, b, moment)));
  }
  return comparison;
}

void nll_claims(const Results& results, Section& section) {
  for (const auto& [written, stable] :
       {std::pair{kWrittenMain, kStableMain}, {kWrittenProxy, kStableProxy}}) {
    for (const Moment moment : {Moment::last, Moment::best}) {
      for (const Model& model : {written, stable}) {
        const bool last = moment == Moment::last;
        const Comparison comparison = below(results, kFlow, model, moment);
        const bool headline = last && std::string_view(model.map) == "main";
        section.claim(
            {"ssec:density, fig:main_density, fig:appendix_density",
             fmt::format("On all data sets {} has a lower NLL than {}, {}.", model.phrase,
                         kFlow.phrase, last ? "at the end" : "each at its best"),
             fmt::format("{} - {}, {}: {}", model.name, kFlow.name,
                         last ? "last" : "best (on the test rows)", comparison.numbers()),
             comparison.finding(),
             comparison.brief(),
             headline ? "On all five data sets a lower NLL than a flow (main model, at the end)."
                      : "",
             form_of(model),
             {model.method, kFlow.method}});
      }
    }
  }
}

void consistency_claims(const Results& results, Section& section) {
  for (const Model& model : {kWrittenMain, kStableMain, kWrittenProxy, kStableProxy}) {
    Consistency consistency;
    for (const std::string& data : results.data()) {
      consistency.add(data, nlls_of(results, data, kFlow, Moment::last),
                      nlls_of(results, data, model, Moment::last));
    }
    const bool headline = std::string_view(model.map) == "main";
    section.claim(
        {headline ? "ssec:density, fig:main_density, fig:appendix_density" : "ssec:density",
         fmt::format("The NLL of {} is more consistent than that of {}.", model.phrase,
                     kFlow.phrase),
         "Deviation over seeds after all iterations, ours against flow: " + consistency.numbers(),
         consistency.finding(),
         consistency.brief(),
         headline ? "A more consistent NLL than a flow." : "",
         form_of(model),
         {model.method, kFlow.method}});
  }
}

void add_modes(const std::string& data, const std::vector<const RunResult*>& runs,
               Comparison& comparison) {
  std::vector<double> covered;
  double modes = 0;
  double precision = 0;
  std::size_t diverged = 0;
  for (const RunResult* run : runs) {
    const double found = value_at(*run, "main.modes_covered", Moment::last);
    if (has_diverged(*run)) ++diverged;
    if (!std::isfinite(found)) continue;
    covered.push_back(found);
    modes = value_at(*run, "main.modes", Moment::last);
    precision += value_at(*run, "main.mode_precision", Moment::last);
  }
  const bool enough = covered.size() >= kFewestSeeds;
  if (covered.empty()) {
    comparison.add(data, "–", diverged > 0 ? Finding::fails : Finding::not_enough_runs, false);
    return;
  }
  const double lowest = *std::min_element(covered.begin(), covered.end());
  std::string text = fmt::format(
      "at least {:.0f} of {:.0f} modes (by seed {:.0f}), {:.1f} % of the samples within 3 "
      "deviations of one",
      lowest, modes, fmt::join(covered, ", "),
      100 * precision / static_cast<double>(covered.size()));
  if (diverged > 0) text += fmt::format(", {} of {} seeds diverged", diverged, runs.size());
  const bool missed = lowest < modes || diverged > 0;
  comparison.add(data, text,
                 missed   ? Finding::fails
                 : enough ? Finding::holds
                          : Finding::not_enough_runs,
                 enough);
}

// The paper shows maps; modes can be counted.
void modes_claims(const Results& results, Section& section) {
  for (const Model& model : {kWrittenMain, kStableMain}) {
    Comparison comparison;
    std::vector<std::string> with_modes;
    for (const std::string& data : results.data()) {
      if (make_source(data)->modes().centers.rows() == 0) continue;
      with_modes.push_back(data);
      add_modes(data, results.runs(data, model.method), comparison);
    }
    section.claim({"ssec:density, fig:main_density",
                   fmt::format("With every seed {} captures all modes, where the source has modes.",
                               model.phrase),
                   comparison.numbers(),
                   comparison.finding(),
                   comparison.brief(),
                   "Every mode is captured, where there are modes.",
                   form_of(model),
                   {model.method},
                   with_modes});
  }
}

void user_claims(const Results& results, Section& section) {
  const auto add = [&](const std::string& other, const char* method, const std::string& compared,
                       const auto& a, const auto& b) {
    Comparison comparison;
    for (const std::string& data : results.data()) {
      comparison.add(data, difference_of(a(data), b(data)));
    }
    section.claim({kBeyond,
                   fmt::format("Ours (in the stable form), validated, is better than {}.", other),
                   compared + ": " + comparison.numbers(),
                   comparison.finding(),
                   comparison.brief(),
                   "",
                   Form::stable,
                   {kStableValidated, method}});
  };
  const auto validated = [&](const char* method) {
    return [&results, method](const std::string& data) {
      return values_of(results, data, method, validated_nll());
    };
  };
  const auto ours = validated(kStableValidated);
  add("a flow that is stopped early, in equal steps", kFlowValidated,
      "ours - flow, each where validation chooses", validated(kFlowValidated), ours);
  add("a flow that is stopped early, in equal processor time", kFlowValidated,
      "ours within the time of the flow - flow", validated(kFlowValidated),
      [&](const std::string& data) {
        return validated_in_time_of(results, data, kStableValidated, kFlowValidated);
      });
  add("a mixture of Gaussians", "mixture", "ours - mixture", validated("mixture"), ours);
  add("a kernel density estimate", "kernel", "ours - kernel", validated("kernel"), ours);
}

}  // namespace

void describe_density(const Results& results, Section& section) {
  nll_claims(results, section);
  consistency_claims(results, section);
  modes_claims(results, section);
  zeta_claims(results, {kStableMain.method, kStableValidated}, section);
  user_claims(results, section);
  if (results.empty()) {
    section.page().notice("No runs yet.");
    return;
  }
  dots_figure(results, section);
  section.details();
  section.page().paragraph(
      "A flow trained by our method with an energy model as proxy, and the same flow trained by "
      "maximum likelihood, on 1000 rows of five sources in the plane whose densities are known. "
      "Ours runs in two forms: the formulas as the paper writes them, and a stable form with log "
      "zeta in the constraints and one set of samples for the reverse KL and for zeta. The numbers "
      "of rows, iterations and samples, the learning rates, the slack and the initial multipliers "
      "are the paper's. It does not state the sizes of the networks in this experiment: a flow of "
      "4 transforms with 8 bins and 64 x 64 hidden units and an energy model of 2 blocks of 128 "
      "are our choice.");
  note_diverged(results, section.page());
  curves_figure(results, section);
  maps_figure(results, section);
  paper_table(results, section);
  zeta_table(results, {kWrittenProxy.method, "clipped", kStableProxy.method},
             "from 10,000 fresh samples of the main model at every point", section.page());
  user_table(results, section);
  chosen_table(results, {kStableValidated, kWrittenValidated, kFlowValidated}, section.page());
}

}  // namespace jeffreys::experiment

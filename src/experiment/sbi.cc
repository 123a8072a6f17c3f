// Section "Simulation-based inference" and appendix ap:sbi: figure fig:sbi_c2st.
// Differs from the paper: its formulas as written and our stable form of them stand side by side;
// "best" is the point of a run whose C2ST is nearest to 0.5, since values below 0.5 are chance; the
// proxy is sampled by independence Metropolis at every point of a run, and by the paper's Langevin
// steps at its end.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>

#include "experiment/comparison.h"
#include "experiment/nll_table.h"
#include "experiment/zeta_course.h"

namespace jeffreys::experiment {
namespace {

constexpr double kIdeal = 0.5;
constexpr const char* kLength =
    "The paper does not state how long it trains; the numbers of iterations are ours.";

struct Model {
  const char* name;
  const char* word;  // in narrow legends
  const char* method;
  const char* column;
  int color;
  bool dashed = false;
};
constexpr Model kFlow{"flow (MLE)", "flow", "flow", "main.c2st", fifth_color, true};
constexpr Model kFlowLong{"flow (MLE), long", "flow, long", "flow-long", "main.c2st",
                          likelihood_color};
constexpr Model kFlowFalling{"flow (MLE), falling rate", "flow, falling rate", "flow-falling",
                             "main.c2st", sixth_color};
constexpr Model kWrittenMain{
    "ours, as written: main", "as written: main", "ours", "main.c2st", third_color, true};
constexpr Model kWrittenProxy{
    "ours, as written: proxy", "as written: proxy", "ours", "proxy.c2st", fourth_color, true};
constexpr Model kWrittenLangevin{"ours, as written: proxy by Langevin",
                                 "as written: Langevin",
                                 "ours",
                                 "proxy_langevin.c2st",
                                 reference_color,
                                 true};
constexpr Model kStableMain{"ours, stable form: main", "stable: main", "stable", "main.c2st",
                            ours_color};
constexpr Model kStableProxy{"ours, stable form: proxy", "stable: proxy", "stable", "proxy.c2st",
                             proxy_color};

// As written, and the stable form, each with the flows that it is compared with: as many iterations
// at the same rates, and for the stable form also many more iterations at the paper's rate.
struct Side {
  Form form;
  std::vector<Model> flows;   // claims of the overview compare with the first
  std::vector<Model> models;  // at every point of a run
  std::vector<Model> only_at_end;
};
std::vector<Side> sides() {
  return {{Form::written, {kFlow}, {kWrittenMain, kWrittenProxy}, {kWrittenLangevin}},
          {Form::stable, {kFlowFalling, kFlowLong}, {kStableMain, kStableProxy}, {}}};
}

// A task's data sets, one for each number of simulations.
struct SizedTask {
  struct Size {
    std::string data;
    std::int64_t simulations = 0;
  };
  std::string name;
  std::vector<Size> sizes = {};
};

// Data sets are called TASK-ROWS.
std::vector<SizedTask> tasks_of(const Results& results) {
  std::vector<SizedTask> tasks;
  for (const std::string& data : results.data()) {
    const std::size_t dash = data.rfind('-');
    if (dash == std::string::npos) continue;
    std::int64_t simulations = 0;
    std::from_chars(data.data() + dash + 1, data.data() + data.size(), simulations);
    std::string name = data.substr(0, dash);
    std::replace(name.begin(), name.end(), '_', ' ');
    if (tasks.empty() || tasks.back().name != name) tasks.push_back({std::move(name)});
    tasks.back().sizes.push_back({data, simulations});
  }
  return tasks;
}

// C2ST at a moment; at best, where it is nearest to 0.5.
Measure c2st(const Model& model, Moment moment) {
  const std::string column = model.column;
  if (moment != Moment::best) {
    // Langevin's is no part of the curve.
    return [column, moment](const RunResult& run) {
      return has_diverged(run) ? kDiverged : value_at(run, column, moment);
    };
  }
  return [column](const RunResult& run) {
    double nearest = kNotMeasured;
    for (const double value : run.curve.column(column)) {
      if (!std::isfinite(value)) continue;
      const bool nearer = std::abs(value - kIdeal) < std::abs(nearest - kIdeal);
      if (std::isnan(nearest) || nearer) nearest = value;
    }
    return nearest;
  };
}

Measure distance(const Model& model, Moment moment) {
  return [measure = c2st(model, moment)](const RunResult& run) {
    return std::abs(measure(run) - kIdeal);
  };
}

std::vector<Model> models_at(Moment moment) {
  std::vector<Model> models;
  for (const Side& side : sides()) {
    models.insert(models.end(), side.flows.begin(), side.flows.end());
    models.insert(models.end(), side.models.begin(), side.models.end());
    if (moment == Moment::best) continue;
    models.insert(models.end(), side.only_at_end.begin(), side.only_at_end.end());
  }
  return models;
}

std::optional<report::Panel> dots_panel(const Results& results, const SizedTask& task,
                                        Moment moment) {
  report::Bars bars{.title = fmt::format("{}, {}", task.name,
                                         moment == Moment::best ? "best of the run" : "last"),
                    .x_label = "simulations",
                    .y_label = "C2ST",
                    .from_zero = false,
                    .references = {{"ideal", kIdeal}}};
  for (const SizedTask::Size& size : task.sizes)
    bars.groups.push_back(fmt::format("{}", size.simulations));
  double lowest = kNotMeasured;
  for (const Model& model : models_at(moment)) {
    report::Bars::Series series{.name = model.word, .color = model.color};
    for (const SizedTask::Size& size : task.sizes) {
      const auto summary =
          summary_of(values_of(results, size.data, model.method, c2st(model, moment)));
      series.values.push_back(summary ? summary->mean : kNotMeasured);
      series.deviation.push_back(summary && summary->n > 1 ? summary->standard_deviation
                                                           : kNotMeasured);
      if (summary) lowest = std::fmin(lowest, summary->mean);
    }
    const auto known = [](double value) { return std::isfinite(value); };
    if (std::none_of(series.values.begin(), series.values.end(), known)) continue;
    bars.series.push_back(std::move(series));
  }
  if (std::isnan(lowest)) return std::nullopt;
  bars.y_min = std::min(lowest, kIdeal) - 0.01;
  return bars;
}

void dots_figure(const Results& results, Section& section) {
  std::vector<std::vector<report::Panel>> rows;
  for (const SizedTask& task : tasks_of(results)) {
    std::vector<report::Panel> row;
    for (const Moment moment : {Moment::best, Moment::last}) {
      if (auto panel = dots_panel(results, task, moment)) row.push_back(std::move(*panel));
    }
    if (!row.empty()) rows.push_back(std::move(row));
  }
  if (rows.empty()) return;
  section.figure(
      "c2st", rows,
      fmt::format(
          "Accuracy of a classifier that tells samples of the model from exact samples of "
          "the posterior: mean and deviation over seeds, for the flow and for our main model and "
          "proxy (sampled by independence Metropolis or Langevin), by the formulas as written and "
          "in the stable form. 0.5 is ideal. Left: the best value of each run, as the paper "
          "reports; right: after all iterations, of runs that did not diverge. {}",
          kLength));
}

void curves_figure(const Results& results, Section& section) {
  std::vector<std::vector<report::Panel>> rows;
  for (const SizedTask& task : tasks_of(results)) {
    std::vector<report::Panel> row;
    for (const SizedTask::Size& size : task.sizes) {
      report::Curves curves{.title = fmt::format("{}, {} simulations", task.name, size.simulations),
                            .x_label = "iteration",
                            .y_label = "C2ST",
                            .references = {{"ideal", kIdeal}}};
      for (const Model& model : models_at(Moment::best)) {
        auto line =
            mean_line(results, size.data, model.method, model.column, model.word, model.color);
        if (line.x.empty()) continue;
        line.dashed = model.dashed;
        curves.lines.push_back(std::move(line));
      }
      if (!curves.lines.empty()) row.emplace_back(std::move(curves));
    }
    if (!row.empty()) rows.push_back(std::move(row));
  }
  if (rows.empty()) return;
  section.figure("curves", rows,
                 fmt::format("C2ST over iterations: mean over seeds with a band of one deviation. "
                             "Dashed: the formulas as written, and the flow for as many "
                             "iterations. {}",
                             kLength));
}

// Adds a row of a table: a value of each seed for each data set.
template <typename Values>
void add_row(const Results& results, const char* name, const std::string& taken, bool reference,
             const Values& values, std::vector<TableRow>& rows) {
  TableRow row{.model = name, .taken = taken, .values = {}, .reference = reference};
  for (const std::string& data : results.data()) row.values.push_back(summary_of(values(data)));
  rows.push_back(std::move(row));
}

void c2st_table(const Results& results, Section& section) {
  std::vector<TableRow> rows;
  for (const auto& [moment, taken] : {std::pair{Moment::best, "best"}, {Moment::last, "last"}}) {
    for (const Model& model : models_at(moment)) {
      add_row(
          results, model.name, taken, false,
          [&, when = moment](const std::string& data) {
            return values_of(results, data, model.method, c2st(model, when));
          },
          rows);
    }
  }
  for (const Side& side : sides()) {
    for (const Model& flow : side.flows) {
      std::vector<Model> models = side.models;
      models.insert(models.begin(), flow);
      for (const Model& model : models) {
        add_row(
            results, model.name, fmt::format("in the time of {}", flow.name), false,
            [&](const std::string& data) {
              return values_in_time_of(results, data, model.method, flow.method,
                                       c2st(model, Moment::last));
            },
            rows);
      }
    }
  }
  for (const auto& [name, method] : {std::pair{kFlow.name, kFlow.method},
                                     {kFlowFalling.name, kFlowFalling.method},
                                     {kFlowLong.name, kFlowLong.method},
                                     {"ours, as written", kWrittenMain.method},
                                     {"ours, stable form", kStableMain.method}}) {
    add_row(
        results, name, "minutes", true,
        [&, of = method](const std::string& data) {
          SeedValues minutes = values_of(results, data, of, seconds_of_run());
          for (auto& [seed, value] : minutes) value /= 60;
          return minutes;
        },
        rows);
  }
  value_table(
      section.page(), results.data(), rows,
      fmt::format(
          "C2ST: mean ± deviation over seeds (their number), the nearest to 0.5 in bold. Best: the "
          "point of each run nearest to 0.5, chosen by the exact posterior as the paper does; "
          "nobody can stop there. Last: after all iterations, of runs that did not diverge. In the "
          "time of a flow: at the last point within the processor time of its run. Minutes: "
          "processor time of a whole run, without its evaluations. The flow with a falling rate "
          "has the stable form's rates, batches and number of iterations, the long one the paper's "
          "rate. {}",
          kLength),
      kIdeal);
}

// The density itself, where the posterior at one observation says little about the others.
void nll_table(const Results& results, Section& section) {
  std::vector<TableRow> rows;
  for (const auto& [moment, taken] : {std::pair{Moment::last, "last"}, {Moment::best, "best"}}) {
    const auto add = [&, when = moment](const Model& model, const char* column,
                                        const std::string& said) {
      add_row(
          results, model.name, said, false,
          [&](const std::string& data) {
            return values_of(results, data, model.method, at(column, when));
          },
          rows);
    };
    for (const Model& model : {kFlowFalling, kFlowLong, kStableMain})
      add(model, "main.test_nll", taken);
    add(kStableProxy, "proxy.test_nll", fmt::format("{}, 200 pairs", taken));
  }
  value_table(
      section.page(), results.data(), rows,
      fmt::format("Test NLL of the parameters given the outcome, in nats for each pair: mean "
                  "± deviation over seeds (their number), the lowest of the flow and of our "
                  "main model in bold. Best: the lowest point of each run, chosen on the "
                  "test pairs. The proxy needs zeta for every outcome: it is estimated from "
                  "1,000 fresh samples of the main model for each of 200 test pairs, and "
                  "its NLL is that of these pairs, while the others have all test pairs. {}",
                  kLength));
}

// |C2ST - 0.5| of each seed, for a data set.
using Distances = std::function<SeedValues(const std::string& data)>;

// Whether the model with these simulations is nearer to 0.5 than the flow with those.
void compare(const Results& results, const Distances& model, const Distances& flow,
             std::size_t ahead, Comparison& comparison) {
  for (const SizedTask& task : tasks_of(results)) {
    for (std::size_t i = 0; i + ahead < task.sizes.size(); ++i) {
      const SizedTask::Size& less = task.sizes[i];
      const SizedTask::Size& more = task.sizes[i + ahead];
      const std::string name = ahead == 0 ? fmt::format("{} {}", task.name, more.simulations)
                                          : fmt::format("{} {} against {}", task.name,
                                                        less.simulations, more.simulations);
      comparison.add(name, difference_of(flow(more.data), model(less.data)));
    }
  }
}

// Of the longest run of a method; 0 if there is none.
std::int64_t iterations_of(const Results& results, const std::string& method) {
  std::int64_t most = 0;
  for (const std::string& data : results.data()) {
    for (const RunResult* run : results.runs(data, method)) {
      if (!run->curve.iteration.empty()) most = std::max(most, run->curve.iteration.back());
    }
  }
  return most;
}

void claims(const Results& results, Section& section, const Side& side, const Model& flow) {
  constexpr const char* kPaper = "ssec:sbi, fig:sbi_c2st";
  constexpr const char* kBeyond = "beyond the paper";
  const auto distances = [&](const Model& model, Moment moment) -> Distances {
    return [&results, model, moment](const std::string& data) {
      return values_of(results, data, model.method, distance(model, moment));
    };
  };
  const auto add = [&](const char* paper, const std::string& text, const Model& model,
                       const char* taken, const Distances& ours, const Distances& other,
                       std::size_t ahead, const std::string& headline = "") {
    Comparison comparison;
    compare(results, ours, other, ahead, comparison);
    section.claim({paper,
                   fmt::format("{} ({} against {}).", text, model.name, flow.name),
                   fmt::format("|C2ST - 0.5| of {} ({} iterations) - that of {} ({}), {}: {}",
                               model.name, iterations_of(results, model.method), flow.name,
                               iterations_of(results, flow.method), taken, comparison.numbers()),
                   comparison.finding(),
                   comparison.brief(),
                   flow.method == side.flows.front().method ? headline : "",
                   side.form,
                   {model.method, flow.method}});
  };
  const Distances flow_best = distances(flow, Moment::best);
  for (const Model& model : side.models) {
    const Distances ours = distances(model, Moment::best);
    const bool main = std::string_view(model.column) == "main.c2st";
    add(kPaper, "C2ST nearer to 0.5 than a flow with as many simulations, at the best", model,
        "best of each run", ours, flow_best, 0,
        fmt::format("Posteriors: C2ST nearer to 0.5 than a flow with as many simulations ({}).",
                    main ? "main model" : "proxy"));
    add(kPaper, "Fewer simulations suffice: nearer to 0.5 than a flow with the next larger number",
        model, "best of each run", ours, flow_best, 1);
  }
  const Distances flow_last = distances(flow, Moment::last);
  std::vector<Model> at_end = side.models;
  at_end.insert(at_end.end(), side.only_at_end.begin(), side.only_at_end.end());
  for (const Model& model : at_end) {
    add(kBeyond, "C2ST nearer to 0.5 than a flow with as many simulations, after all iterations",
        model, "last", distances(model, Moment::last), flow_last, 0);
  }
  for (const Model& model : side.models) {
    const Distances ours = [&](const std::string& data) {
      return values_in_time_of(results, data, model.method, flow.method,
                               distance(model, Moment::last));
    };
    add(kBeyond, "C2ST nearer to 0.5 than a flow with as many simulations, in equal processor time",
        model, "ours at its last point within the time of the flow's run", ours, flow_last, 0);
  }
}

}  // namespace

void describe_sbi(const Results& results, Section& section) {
  for (const Side& side : sides()) {
    for (const Model& flow : side.flows) claims(results, section, side, flow);
  }
  zeta_claims(results, {kStableProxy.method}, section);
  if (results.empty()) {
    section.page().notice("No runs yet.");
    return;
  }
  dots_figure(results, section);
  section.details();
  section.page().paragraph(fmt::format(
      "Posteriors of two simulators, learned from pairs of parameters and outcomes, and judged at "
      "the paper's observation by a classifier (C2ST). The proxy's samples come from independence "
      "Metropolis with the main model as proposal; at the end of a run also from the paper's "
      "Langevin steps. Ours runs in two forms. As written: the paper's formulas and settings; the "
      "hidden layers of the flow and the ten samples behind zeta for each outcome are our choice. "
      "Stable form: log zeta in the constraints, one set of samples for the reverse KL and for "
      "zeta, a bounded energy model, and with them a slack, learning rates and a batch of our "
      "choice. {}",
      kLength));
  note_diverged(results, section.page());
  curves_figure(results, section);
  c2st_table(results, section);
  nll_table(results, section);
  zeta_table(results, {kWrittenProxy.method, kStableProxy.method},
             "the mean over 200 test outcomes, from 1,000 fresh samples of the main model for each",
             section.page());
}

}  // namespace jeffreys::experiment

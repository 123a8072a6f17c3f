// Section "Simulation-based inference" and appendix ap:sbi: figure fig:sbi_c2st.
// Differs from the paper: "best" is the point of a run whose C2ST is nearest to 0.5, since values
// below 0.5 are chance; the proxy is sampled by independence Metropolis at every point of a run,
// and by the paper's Langevin steps at its end.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "experiment/comparison.h"
#include "experiment/nll_table.h"

namespace jeffreys::experiment {
namespace {

constexpr double kIdeal = 0.5;

struct Model {
  const char* name;
  const char* word;  // in narrow legends
  const char* method;
  const char* column;
  int color;
};
constexpr Model kFlow{"flow (MLE)", "flow", "flow", "main.c2st", likelihood_color};
constexpr Model kMain{"ours, main", "main", "ours", "main.c2st", ours_color};
constexpr Model kProxy{"ours, proxy", "proxy", "ours", "proxy.c2st", proxy_color};
constexpr Model kLangevin{"ours, proxy by Langevin", "Langevin", "ours", "proxy_langevin.c2st",
                          third_color};

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
  if (moment != Moment::best) return at(column, moment);
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
  if (moment == Moment::best) return {kFlow, kMain, kProxy};
  return {kFlow, kMain, kProxy, kLangevin};
}

std::optional<report::Panel> dots_panel(const Results& results, const SizedTask& task,
                                        Moment moment) {
  report::Bars bars{.title = fmt::format("{}, {}", task.name,
                                         moment == Moment::best ? "best of the run" : "last"),
                    .x_label = "simulations",
                    .y_label = "C2ST",
                    .from_zero = false};
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
      "Accuracy of a classifier that tells samples of the model from exact samples of "
      "the posterior: mean and deviation over seeds, for the flow and for our main model and "
      "proxy (sampled by independence Metropolis or Langevin). 0.5 is ideal. Left: the best value "
      "of each run, as the paper reports; right: after all iterations.");
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
            mean_line(results, size.data, model.method, model.column, model.name, model.color);
        if (!line.x.empty()) curves.lines.push_back(std::move(line));
      }
      if (!curves.lines.empty()) row.emplace_back(std::move(curves));
    }
    if (!row.empty()) rows.push_back(std::move(row));
  }
  if (rows.empty()) return;
  section.figure("curves", rows,
                 "C2ST over iterations: mean over seeds with a band of one deviation.");
}

void c2st_table(const Results& results, Section& section) {
  std::vector<TableRow> rows;
  const auto add = [&](const char* name, const char* taken, bool reference, const auto& values) {
    TableRow row{.model = name, .taken = taken, .values = {}, .reference = reference};
    for (const std::string& data : results.data()) row.values.push_back(summary_of(values(data)));
    rows.push_back(std::move(row));
  };
  for (const auto& [moment, taken] : {std::pair{Moment::best, "best"}, {Moment::last, "last"}}) {
    for (const Model& model : models_at(moment)) {
      add(model.name, taken, false, [&, at = moment](const std::string& data) {
        return values_of(results, data, model.method, c2st(model, at));
      });
    }
  }
  for (const Model& model : {kFlow, kMain, kProxy}) {
    add(model.name, "equal time", false, [&](const std::string& data) {
      return values_in_time_of(results, data, model.method, kFlow.method,
                               c2st(model, Moment::last));
    });
  }
  for (const auto& [name, method] :
       {std::pair{"flow (MLE)", kFlow.method}, {"ours", kMain.method}}) {
    add(name, "minutes", true, [&, of = method](const std::string& data) {
      SeedValues minutes = values_of(results, data, of, seconds_of_run());
      for (auto& [seed, value] : minutes) value /= 60;
      return minutes;
    });
  }
  value_table(section.page(), results.data(), rows,
              "C2ST: mean ± deviation over seeds (their number), the nearest to 0.5 in bold. Best: "
              "the point of each run nearest to 0.5, chosen by the exact posterior as the paper "
              "does; nobody can stop there. Equal time: ours at its last point within the "
              "processor time of the flow's run. Minutes: processor time of a whole run, without "
              "its evaluations.",
              kIdeal);
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
      const std::string name = ahead == 0 ? fmt::format("{}, {}:", task.name, more.simulations)
                                          : fmt::format("{}, {} against {}:", task.name,
                                                        less.simulations, more.simulations);
      comparison.add(name, difference_of(flow(more.data), model(less.data)));
    }
  }
}

void claims(const Results& results, Section& section) {
  constexpr const char* kPaper = "ssec:sbi, fig:sbi_c2st";
  constexpr const char* kBeyond = "beyond the paper";
  const auto distances = [&](const Model& model, Moment moment) -> Distances {
    return [&results, model, moment](const std::string& data) {
      return values_of(results, data, model.method, distance(model, moment));
    };
  };
  const auto add = [&](const char* paper, const std::string& text, const Model& model,
                       const char* taken, const Distances& ours, const Distances& flow,
                       std::size_t ahead) {
    Comparison comparison;
    compare(results, ours, flow, ahead, comparison);
    section.claim({paper, text,
                   fmt::format("|C2ST - 0.5| of {} - that of the flow, {}: {}", model.name, taken,
                               comparison.text()),
                   comparison.finding()});
  };
  for (const Model& model : {kMain, kProxy}) {
    const Distances ours = distances(model, Moment::best);
    const Distances flow = distances(kFlow, Moment::best);
    add(kPaper,
        fmt::format("C2ST nearer to 0.5 than a flow with as many simulations ({}).", model.name),
        model, "best of each run", ours, flow, 0);
    add(kPaper,
        fmt::format("Fewer simulations suffice: nearer to 0.5 than a flow with the next larger "
                    "number ({}).",
                    model.name),
        model, "best of each run", ours, flow, 1);
  }
  const Distances flow = distances(kFlow, Moment::last);
  for (const Model& model : {kMain, kProxy, kLangevin}) {
    add(kBeyond, fmt::format("The same after all iterations ({}).", model.name), model, "last",
        distances(model, Moment::last), flow, 0);
  }
  for (const Model& model : {kMain, kProxy}) {
    const Distances ours = [&results, model](const std::string& data) {
      return values_in_time_of(results, data, model.method, kFlow.method,
                               distance(model, Moment::last));
    };
    add(kBeyond, fmt::format("The same in equal processor time ({}).", model.name), model,
        "ours at its last point within the time of the flow's run", ours, flow, 0);
  }
}

}  // namespace

void describe_sbi(const Results& results, Section& section) {
  if (results.empty()) {
    section.page().notice("No runs yet.");
    return;
  }
  section.page().paragraph(
      "Posteriors of two simulators, learned from pairs of parameters and outcomes, and judged at "
      "the paper's observation by a classifier (C2ST). The proxy's samples come from independence "
      "Metropolis with the main model as proposal; at the end of a run also from the paper's "
      "Langevin steps.");
  note_diverged(results, section.page());
  dots_figure(results, section);
  curves_figure(results, section);
  c2st_table(results, section);
  claims(results, section);
}

}  // namespace jeffreys::experiment

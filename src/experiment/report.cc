#include "experiment/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiment/embedded.h"
#include "experiment/folder.h"
#include "experiment/overview.h"
#include "experiment/section.h"
#include "jeffreys/base/input_error.h"

namespace jeffreys::experiment {
namespace {

// Every experiment that was asked for; those without a folder have no runs.
std::vector<Told> load(const ReproduceOptions& options) {
  std::vector<Told> list;
  bool any = false;
  for (const std::string& name : options.names) {
    const std::filesystem::path folder = options.output / name;
    const auto scale = scale_of_folder(folder);
    any = any || scale.has_value();
    Plan plan = plan_of(name);
    Results results(plan, scale.value_or(1), folder);
    list.push_back({std::move(plan), scale.value_or(1), std::move(results)});
  }
  if (!any) list.clear();
  return list;
}

// The claims come first on the page but follow from the sections: these are made twice, at first
// without figures, on a page that nobody sees.
void collect_claims(Told& told, const std::filesystem::path& folder) {
  report::Page unseen("");
  Section section(unseen, folder, told.plan.name);
  find_experiment(told.plan.name).describe(told.results, section);
  told.claims = section.claims();
}

std::string runs_text(const Told& told, const IterationTimes& times) {
  std::vector<std::string> methods;
  for (const MethodSpec& method : told.plan.methods) methods.push_back(method.name);
  const NeededRuns plan = needed_runs(told.plan, told.results, times, methods, {});
  if (told.is_short()) return fmt::format("{} runs.", told.results.size());
  if (plan.lacking == 0) return fmt::format("All {} runs of the experiment are there.", plan.all);
  return fmt::format(
      "{} of the {} runs of the experiment are there; the other {} cost about {} core-hours.",
      plan.all - plan.lacking, plan.all, plan.lacking, hours_text(plan.hours));
}

void describe(const Told& told, const IterationTimes& times, Section& section) {
  report::Page& page = section.page();
  page.heading(told.plan.title, 2, told.plan.name);
  answer(page, told, times);
  for (const std::string& problem : told.results.problems()) {
    page.notice(problem, report::Notice::warning);
  }
  section.first_detail([&](report::Page& at) {
    at.paragraph(runs_text(told, times));
    claims_table(at, told, times);
  });
  find_experiment(told.plan.name).describe(told.results, section);
  section.details();
  page.unfold();
}

// Jobs of this call without a result.
void note_missing(report::Page& page, const std::vector<FinishedJob>& jobs) {
  std::map<std::string, std::vector<std::string>> why;
  for (const FinishedJob& job : jobs) {
    if (!job.message.empty()) why[job.message].push_back(job.name);
  }
  for (const auto& [message, names] : why) {
    page.notice(fmt::format("{} ({})", message, fmt::join(names, ", ")), report::Notice::warning);
  }
}

}  // namespace

std::filesystem::path write_report(const ReproduceOptions& options,
                                   const std::vector<FinishedJob>& jobs,
                                   ReproduceObserver& observer) {
  std::vector<Told> all = load(options);
  if (all.empty()) {
    if (options.train) return {};
    throw InputError(options.output.string(),
                     fmt::format("holds no results of {}; train without --no-training, or name "
                                 "another folder with --output",
                                 fmt::join(options.names, ", ")));
  }
  const IterationTimes times = read_iteration_times(options.output / "cost.json");
  for (Told& told : all) collect_claims(told, options.output);
  report::Page page("Adaptive symmetrization of the KL divergence, reproduced",
                    "made by jeffreys reproduce");
  note_missing(page, jobs);
  overview(page, all, times);
  for (const Told& told : all) {
    Section section(page, options.output, told.plan.name,
                    [&](const std::filesystem::path& path) { observer.on_figure(path); });
    describe(told, times, section);
  }
  std::vector<CostRow> costs;
  for (const std::string& name : options.names) {
    const Plan plan = plan_of(name);
    const auto rows = cost_of(plan, Results(plan, 1, options.output / name), times);
    costs.insert(costs.end(), rows.begin(), rows.end());
  }
  cost_table(page, costs);
  page.save(options.output / "results.md");
  page.save(options.output / "index.html");
  return options.output / "index.html";
}

}  // namespace jeffreys::experiment

#include "experiment/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "experiment/cost.h"
#include "experiment/embedded.h"
#include "experiment/folder.h"
#include "experiment/section.h"
#include "jeffreys/base/input_error.h"

namespace jeffreys::experiment {
namespace {

report::Verdict colour(Finding finding) {
  switch (finding) {
    case Finding::holds: return report::Verdict::good;
    case Finding::in_part: return report::Verdict::mixed;
    case Finding::fails: return report::Verdict::bad;
    case Finding::not_enough_runs: break;
  }
  return report::Verdict::none;
}

void claims_table(report::Page& page, const std::vector<std::pair<std::string, Claim>>& claims) {
  page.heading("Claims of the paper", 2, "claims");
  page.paragraph(
      "Each verdict is decided by the program from the runs below. On one data set a claim is "
      "decided by at least three seeds and the 95 % interval of the paired difference over them, "
      "which has to exclude zero. A claim about several data sets holds if it holds on every one. "
      "It holds in part if it holds on some and fails on others, or is undecided there with enough "
      "runs. Where nothing fails and a data set lacks runs, there are not enough. At the end of a "
      "run a divergence counts against the method: a data set fails where it alone diverged with "
      "some seed, and a seed is won where only the other diverged. Where an experiment has one "
      "seed, as in the paper, two standard errors of the evaluation decide, and the numbers say "
      "so.");
  std::vector<std::vector<report::Cell>> rows;
  for (const auto& [experiment, claim] : claims) {
    rows.push_back({experiment, claim.text, claim.numbers,
                    report::Cell(text_of(claim.finding), colour(claim.finding)), claim.paper});
  }
  page.table({"experiment", "claim", "our numbers", "verdict", "in the paper"}, rows,
             {.numeric = {false, false, false, false, false}});
}

struct Loaded {
  Plan plan;
  double scale = 1;
  Results results;
};

std::vector<Loaded> load(const ReproduceOptions& options) {
  std::vector<Loaded> list;
  for (const std::string& name : options.names) {
    const std::filesystem::path folder = options.output / name;
    const auto scale = scale_of_folder(folder);
    if (!scale) continue;
    Plan plan = plan_of(name);
    Results results(plan, *scale, folder);
    list.push_back({std::move(plan), *scale, std::move(results)});
  }
  return list;
}

// "10000 or 40000": of the plan's methods, from the shortest on.
std::string lengths(const Plan& plan, double scale) {
  std::set<std::int64_t> all;
  for (const Job& job : make_jobs(plan, scale, 1)) {
    if (job.baseline.empty()) all.insert(job.options.train.iterations);
  }
  return fmt::format("{}", fmt::join(all, " or "));
}

void describe(const Loaded& loaded, Section& section) {
  report::Page& page = section.page();
  page.heading(loaded.plan.title, 2, loaded.plan.name);
  page.paragraph(fmt::format(
      "{} runs of {} iterations{}.", loaded.results.size(), lengths(loaded.plan, loaded.scale),
      loaded.scale < 1
          ? fmt::format(" (scale {}; at full length {})", loaded.scale, lengths(loaded.plan, 1))
          : ", the full length"));
  for (const std::string& problem : loaded.results.problems()) {
    page.notice(problem, report::Notice::warning);
  }
  find_experiment(loaded.plan.name).describe(loaded.results, section);
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
  const std::vector<Loaded> all = load(options);
  if (all.empty()) {
    if (options.train) return {};
    throw InputError(options.output.string(),
                     fmt::format("holds no results of {}; train without --no-training, or name "
                                 "another folder with --output",
                                 fmt::join(options.names, ", ")));
  }
  // The claims come first on the page but follow from the sections: these are made twice, at first
  // without figures, on a page that nobody sees.
  std::vector<std::pair<std::string, Claim>> claims;
  for (const Loaded& loaded : all) {
    report::Page unseen("");
    Section section(unseen, options.output, loaded.plan.name);
    describe(loaded, section);
    for (const Claim& claim : section.claims()) claims.emplace_back(loaded.plan.name, claim);
  }
  report::Page page("Adaptive symmetrization of the KL divergence, reproduced",
                    "made by jeffreys reproduce");
  note_missing(page, jobs);
  claims_table(page, claims);
  for (const Loaded& loaded : all) {
    Section section(page, options.output, loaded.plan.name,
                    [&](const std::filesystem::path& path) { observer.on_figure(path); });
    describe(loaded, section);
  }
  const IterationTimes times = read_iteration_times(options.output / "cost.json");
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

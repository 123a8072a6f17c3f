#include "jeffreys/sbi/posterior_fit.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

namespace jeffreys {
namespace {

// 1 where there is to be one fit alone: members leave out pairs of their own, and learn by
// likelihood.
int member_count(const FitOptions& options, const Table& pairs, std::size_t parameters) {
  const char* reason = nullptr;
  if (needs_proxy(options.train.method)) reason = "a proxy model";
  if (options.validation_fraction >= 0) reason = "a validation.fraction";
  if (options.members > 1 && reason != nullptr) {
    throw std::invalid_argument(
        fmt::format("--members {} does not go with {}: leave one out", options.members, reason));
  }
  if (options.members > 0) return options.members;
  if (reason != nullptr) return 1;
  return default_members(usable_rows(pairs, options.schema).size(), parameters);
}

CommitteeFit fit_one(FitPlan plan, const FitRun& run) {
  TableFit one = fit_table(std::move(plan), run);
  const std::size_t rows = one.table.rows();
  return {std::move(one.table), std::move(one.fit), rows, {}};
}

struct PosteriorPlan {
  Table pairs;
  FitPlan fit;
  int members;
};

PosteriorPlan plan_posterior(const Table& file, const PairColumns& columns,
                             const std::optional<Prior>& prior, const ChosenSettings& settings) {
  if (settings.has("simple")) {
    throw std::invalid_argument(
        "simple: posteriors are not mixed with simple models: leave it out");
  }
  if (settings.has("distill")) {
    throw std::invalid_argument(
        "distill: several fits of a posterior are always learned by one flow: leave it out");
  }
  Table pairs = ordered_by_content(file);
  const PairColumns all = complete_columns(columns, pairs, prior);
  FitPlan plan =
      plan_fit(pairs, pair_schema(pairs, all, prior), settings, default_posterior_options);
  const FitOptions options = plan.options_for(plan.table.rows());
  if (options.schema.missing == Missing::keep) {
    throw std::invalid_argument(
        "missing: expected drop or error for a posterior, whose pairs must be complete; got keep");
  }
  const int members = member_count(options, pairs, all.parameters.size());
  return {std::move(pairs), std::move(plan), members};
}

}  // namespace

int posterior_members(const Table& pairs, const PairColumns& columns,
                      const std::optional<Prior>& prior, const ChosenSettings& settings) {
  return plan_posterior(pairs, columns, prior, settings).members;
}

PosteriorFit fit_posterior(const Table& pairs, const PairColumns& columns,
                           const std::optional<Prior>& prior, const ChosenSettings& settings,
                           const FitRun& run) {
  const auto [used, plan, members] = plan_posterior(pairs, columns, prior, settings);
  if (members > 1) run.check_unfinished();
  CommitteeFit made = members > 1
                          ? fit_committee(used, prior, plan.options_for, {.members = members}, run)
                          : fit_one(plan, run);
  FitReport& report = made.fit.report;
  // Of several fits that were interrupted between two of them none was under way.
  const std::size_t rows = made.trained_on > 0 ? made.trained_on : plan.table.rows();
  const bool several = report.members > 1;
  return {.posterior = make_posterior(made.table, std::move(made.fit.density), prior),
          .table = std::move(made.table),
          .options = plan.options_for(rows),
          .defaults = plan.defaults_for(rows),
          .report = std::move(report),
          .trained_on = made.trained_on,
          .committee = several ? std::optional(made.report) : std::nullopt};
}

}  // namespace jeffreys

// From pairs of parameters and outcomes to a posterior with its report, in one call: by one fit, or
// by several that correct each other (jeffreys/sbi/committee_fit.h).
#pragma once

#include <optional>

#include "jeffreys/fit/fit_table.h"
#include "jeffreys/sbi/committee_fit.h"

namespace jeffreys {

struct PosteriorFit {
  Posterior posterior;     // if the run was interrupted: of the fit that was under way
  PreparedTable table;     // the pairs, as the posterior sees them
  FitOptions options;      // of the last fit
  FitOptions defaults;     // what they would be without settings
  FitReport report;        // if the run was interrupted, report.training.stop_reason says so
  std::size_t trained_on;  // rows of the last fit: pairs, or draws of several fits' mixture
  std::optional<CommitteeReport> committee;  // nothing of a single fit
};

// How many fits fit_posterior will make before the last one; 1: a single fit. Throws as it does.
[[nodiscard]] int posterior_members(const Table& pairs, const PairColumns& columns,
                                    const std::optional<Prior>& prior,
                                    const ChosenSettings& settings = {});

// Columns that are left empty are those of complete_columns(). The setting `members` says how many
// fits; by default it is default_members(), or one where the settings allow only that. Throws as
// pair_schema, plan_fit and FitRun::check_unfinished do; std::invalid_argument for several members
// with a proxy or a validation fraction; and InputError for pairs that are too few for the members.
// An interrupted run goes on if the same call says run.resume.
[[nodiscard]] PosteriorFit fit_posterior(const Table& pairs, const PairColumns& columns,
                                         const std::optional<Prior>& prior,
                                         const ChosenSettings& settings = {},
                                         const FitRun& run = {});

}  // namespace jeffreys

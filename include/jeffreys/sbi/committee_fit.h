// A posterior from few pairs: several fits that each leave out other pairs, corrected by what those
// pairs say about them, and then one flow that learns what they say together.
//
// One fit to few pairs sees too much in them. Several see less, but nothing says how far to trust
// their mixture; so each pair is left out by two of them, and the places of the left-out truths
// among the densities of these two (src/sbi/rank_correction.h) tell what the mixture has too much
// and too little of. The last flow is fitted to as many draws of the corrected mixture as it takes:
// it is as fast as any other, and no larger.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "jeffreys/sbi/posterior_fit.h"

namespace jeffreys {

struct CommitteeOptions {
  int members = 10;  // 2 to 100
  // Members that leave a pair out: one alone says nothing about mixtures, and many learn little. 0:
  // two, or one of fewer than five members.
  int left_out_by = 0;
  Eigen::Index observations = 3000;  // outcomes for which the mixture is asked
  Eigen::Index draws = 20;           // of it that the posterior learns from, for each of them

  // Throws std::invalid_argument naming the field, expected and actual value.
  void validate() const;
};

// How many members to take: 10, from 5,000 pairs on 5. A single fit (1) for fewer than 100 pairs,
// from 20,000 on, and for more than ten parameters, which were not tried.
[[nodiscard]] int default_members(std::size_t pairs, std::size_t parameters);

// What the pairs say about the members that left them out.
struct CommitteeReport {
  MeanNll alone;          // of one member
  MeanNll corrected;      // of these members' mixture, corrected
  double coverage90 = 0;  // share of pairs in the mixture's 90 % regions, before the correction
};

struct CommitteeFit {
  PreparedTable table;  // all pairs, as the posterior sees them: as training and as held-out rows
  // Its held-out NLLs are those of the members that left the pairs out. Interrupted: that of the
  // fit that was under way, to be resumed; diverged: that of the member that did.
  Fit fit;
  std::size_t trained_on = 0;  // rows of `fit`: draws of the mixture
  CommitteeReport report;
};

// How it goes about it.
struct CommitteeRun {
  std::size_t threads = 1;  // no result depends on it
  // Members that are done are kept there until all is; empty: nothing is kept. resume: go on from
  // them, and from the checkpoint of the fit under way.
  std::filesystem::path folder = {};
  bool resume = false;
  // Watches one of the fits; label: "fit 3 of 11". May be empty, or give nothing.
  std::function<std::unique_ptr<TrainObserver>(const std::string& label, const FitOptions& options,
                                               const PreparedTable& table)>
      observe = {};
  // Asked between the fits.
  std::function<bool()> should_stop = {};
  // Called before what takes a while without a fit: judging the members, and drawing from them.
  std::function<void()> members_done = {};
};

// options_for: those of a fit to so many training rows, all with the same seed and the schema of
// pair_schema(); only likelihood methods, and no rejection. A time limit is for the training of
// all fits together.
// Throws InputError for a table that no posterior can be fitted to, and for members in the folder
// that are of other pairs or settings.
[[nodiscard]] CommitteeFit fit_committee(
    const Table& pairs, const std::optional<Prior>& prior,
    const std::function<FitOptions(std::size_t rows)>& options_for,
    const CommitteeOptions& committee = {}, const CommitteeRun& run = {});

}  // namespace jeffreys

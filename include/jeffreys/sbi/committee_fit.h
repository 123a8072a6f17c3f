// A posterior from few pairs: several fits ("members") that each leave out other pairs, a
// correction of their mixture by the pairs that they left out, and then one flow that learns the
// corrected mixture.
//
// One fit to few pairs sees too much in them. The mixture of several sees less, but nothing says
// how far to trust it. So each pair is left out by two members, and the ranks of the true
// parameters among the densities of these two (src/sbi/rank_correction.h) tell which densities the
// mixture has too much of, and which too little. The last flow is fitted to many draws of the
// corrected mixture. It is as fast as a flow fitted to the pairs, and as large.
#pragma once

#include <functional>
#include <optional>

#include "jeffreys/sbi/pairs.h"

namespace jeffreys {

struct CommitteeOptions {
  int members = 10;  // 2 to 100
  // How many members leave each pair out. From one alone nothing can be learned about mixtures;
  // with many, each member is fitted to few pairs. 0: two, or one if there are fewer than five
  // members.
  int left_out_by = 0;
  Eigen::Index observations = 3000;  // outcomes at which the mixture is drawn from
  Eigen::Index draws = 20;           // that the last flow learns from, for each of these outcomes

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
  // The last flow; its held-out NLLs are those of the members that left the pairs out. If the run
  // was interrupted: the fit that was under way, to be resumed. If a member diverged: that member.
  Fit fit;
  std::size_t trained_on = 0;  // rows of `fit`: draws of the mixture
  CommitteeReport report;
};

// options_for gives the options of a fit to so many training rows, always with the same seed and
// the schema of pair_schema(). Only likelihood methods are possible, and no rejection. A time limit
// is for the training of all fits together. Finished members are kept in run.folder until the last
// fit is done. Throws InputError for a table that no posterior can be
// fitted to, and for members in the folder that are of other pairs or settings.
[[nodiscard]] CommitteeFit fit_committee(
    const Table& pairs, const std::optional<Prior>& prior,
    const std::function<FitOptions(std::size_t rows)>& options_for,
    const CommitteeOptions& committee = {}, const FitRun& run = {});

}  // namespace jeffreys

#include "experiment/consistency.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace jeffreys::experiment {

void Consistency::add(const std::string& name, const SeedValues& theirs, const SeedValues& ours) {
  const Difference runs = difference_of(theirs, ours);
  const auto a = summary_of(theirs);
  const auto b = summary_of(ours);
  if (runs.lost > 0) {
    lost_.push_back(name);
    texts_.push_back(fmt::format("{} {} of {} seeds diverged", name, runs.lost, runs.seeds()));
  } else if (!a || !b || std::min(a->n, b->n) < kFewestSeeds || !(a->standard_deviation > 0) ||
             !(b->standard_deviation > 0)) {
    lacking_.push_back(name);
  } else {
    theirs_.push_back(std::log(a->standard_deviation));
    ours_.push_back(std::log(b->standard_deviation));
    texts_.push_back(fmt::format("{} {:.4f} against {:.4f}", name, b->standard_deviation,
                                 a->standard_deviation));
  }
}

std::optional<PairedInterval> Consistency::ratio() const {
  if (theirs_.empty()) return std::nullopt;
  return paired_interval(theirs_, ours_);
}

std::string Consistency::numbers() const {
  std::string text = texts_.empty() ? "–" : fmt::format("{}", fmt::join(texts_, "; "));
  if (const auto all = ratio()) {
    text += fmt::format("; ratio {:.2f} [{:.2f}, {:.2f}] over {} data sets", std::exp(all->mean),
                        std::exp(all->lower), std::exp(all->upper), all->n);
  }
  if (!lacking_.empty()) text += fmt::format("; too few runs on {}", fmt::join(lacking_, ", "));
  return text;
}

std::size_t Consistency::smaller() const {
  std::size_t count = 0;
  for (std::size_t i = 0; i < ours_.size(); ++i) count += ours_[i] < theirs_[i] ? 1 : 0;
  return count;
}

std::string Consistency::brief() const {
  const std::size_t all = ours_.size() + lost_.size() + lacking_.size();
  if (lacking_.size() == all) return "";
  std::string text = fmt::format("deviations are smaller on {} of {} data sets", smaller(), all);
  if (!lost_.empty()) text += fmt::format("; diverged on {}", fmt::join(lost_, ", "));
  if (!lacking_.empty()) text += fmt::format("; too few runs on {}", fmt::join(lacking_, ", "));
  return text;
}

Finding Consistency::finding() const {
  const Finding over_all = lower(ratio());
  if (!lost_.empty()) return over_all == Finding::holds ? Finding::in_part : Finding::fails;
  if (over_all != Finding::holds) return over_all;
  if (smaller() < ours_.size()) return Finding::in_part;
  return lacking_.empty() ? Finding::holds : Finding::not_enough_runs;
}

}  // namespace jeffreys::experiment

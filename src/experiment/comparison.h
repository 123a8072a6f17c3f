// Numbers of runs, compared seed by seed, and what comparisons on several data sets say together.
#pragma once

#include "experiment/section.h"

namespace jeffreys::experiment {

// A number of one run; NaN where the run has none.
using Measure = std::function<double(const RunResult&)>;

// A column at a moment, see value_at().
[[nodiscard]] Measure at(std::string column, Moment moment);
// The test NLL where validation stops the run, of the model that validation chooses; of a baseline
// that has nothing to choose its only one.
[[nodiscard]] Measure validated_nll();
// What the whole run took, without its evaluations.
[[nodiscard]] Measure seconds_of_run();

// By seed, finite.
using SeedValues = std::map<std::uint64_t, double>;

[[nodiscard]] SeedValues values_of(const Results& results, const std::string& data,
                                   const std::string& method, const Measure& measure);
[[nodiscard]] std::optional<SeedSummary> summary_of(const SeedValues& values);
// b - a over the seeds that both have.
[[nodiscard]] std::optional<PairedInterval> difference_of(const SeedValues& a, const SeedValues& b);

// Of the values themselves.
[[nodiscard]] std::optional<PairedInterval> interval_of(const SeedValues& values);

// validated_nll() of a method's runs that may use only the processor time that the run of the other
// method with the same seed needed until its own chosen point.
[[nodiscard]] SeedValues validated_in_time_of(const Results& results, const std::string& data,
                                              const std::string& method, const std::string& other);

// A number of a method's runs that are stopped at their last point within the processor time that
// the whole run of the other method with the same seed took.
[[nodiscard]] SeedValues values_in_time_of(const Results& results, const std::string& data,
                                           const std::string& method, const std::string& other,
                                           const Measure& measure);

// Whether a difference over seeds can decide anything.
[[nodiscard]] bool enough_seeds(const std::optional<PairedInterval>& difference);

// Comparisons of the same kind on several data sets.
class Comparison {
 public:
  explicit Comparison(int digits = 3) : digits_(digits) {}

  // difference: what is expected to be below 0.
  void add(const std::string& name, const std::optional<PairedInterval>& difference);
  // As above with a decision of the caller's.
  void add(const std::string& name, const std::optional<PairedInterval>& difference,
           Finding finding);

  // Whether no data set has runs of both sides.
  [[nodiscard]] bool empty() const;
  // Whether one of the comparisons ended so.
  [[nodiscard]] bool any(Finding finding) const;
  // Holds if it holds wherever there are enough seeds: a difference that might be 0 in spite of
  // them is no support. Fails if it fails somewhere and holds nowhere.
  [[nodiscard]] Finding finding() const;
  // "ring -0.18 [-0.21, -0.15], 5 seeds; grid –"
  [[nodiscard]] std::string text() const;

 private:
  struct Entry {
    std::string text;
    Finding finding = Finding::not_enough_runs;
    bool known = false;
    bool enough = false;
  };
  int digits_;
  std::vector<Entry> entries_;
};

}  // namespace jeffreys::experiment

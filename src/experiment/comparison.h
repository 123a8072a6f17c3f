// Numbers of runs, compared seed by seed, and what comparisons on several data sets say together.
#pragma once

#include "experiment/section.h"

namespace jeffreys::experiment {

// A number of one run; NaN where the run has none.
using Measure = std::function<double(const RunResult&)>;

// A column at a moment, see value_at().
[[nodiscard]] Measure at(std::string column, Moment moment);
// A column at the last point up to an iteration.
[[nodiscard]] Measure at_iteration(std::string column, std::int64_t iteration);
// The test NLL where validation stops the run, of the model that validation chooses; of a baseline
// that has nothing to choose its only one.
[[nodiscard]] Measure validated_nll();
// What the whole run took, without its evaluations.
[[nodiscard]] Measure seconds_of_run();

// By seed; infinite where a run that diverged has no last value.
using SeedValues = std::map<std::uint64_t, double>;

// Of the runs that have a number.
[[nodiscard]] SeedValues values_of(const Results& results, const std::string& data,
                                   const std::string& method, const Measure& measure);
// Of those that did not diverge.
[[nodiscard]] std::optional<SeedSummary> summary_of(const SeedValues& values);

// b - a over the seeds that both have. Nothing can be subtracted from what diverged, so such seeds
// are counted.
struct Difference {
  std::optional<PairedInterval> interval = {};  // over the seeds where neither diverged
  std::size_t lost = 0;                         // seeds where only b diverged
  std::size_t won = 0;                          // seeds where only a diverged
  std::size_t both = 0;                         // seeds where both did

  [[nodiscard]] std::size_t seeds() const;
  // Whether so many seeds can decide anything: those where both diverged cannot.
  [[nodiscard]] bool enough() const;
};
[[nodiscard]] Difference difference_of(const SeedValues& a, const SeedValues& b);
// Of the values themselves; those of runs that diverged are lost.
[[nodiscard]] Difference interval_of(const SeedValues& values);

// "lower is better": whether b is below a. A seed where only b diverged decides against it,
// whatever the other seeds say; one where only a did counts for b.
[[nodiscard]] Finding lower(const Difference& difference);
// "+0.98 [-1.72, +3.68], 3 seeds (2 of 5 seeds diverged)"
[[nodiscard]] std::string text_of(const Difference& difference, int digits = 3);

// validated_nll() of a method's runs that may use only the processor time that the run of the other
// method with the same seed needed until its own chosen point.
[[nodiscard]] SeedValues validated_in_time_of(const Results& results, const std::string& data,
                                              const std::string& method, const std::string& other);

// A number of a method's runs that are stopped at their last point within the processor time that
// the whole run of the other method with the same seed took.
[[nodiscard]] SeedValues values_in_time_of(const Results& results, const std::string& data,
                                           const std::string& method, const std::string& other,
                                           const Measure& measure);

// A claim about several data sets, one after the other.
class Comparison {
 public:
  explicit Comparison(int digits = 3) : digits_(digits) {}

  // difference: what is expected to be below 0.
  void add(const std::string& name, const Difference& difference);
  // As above with a decision of the caller's and a note beside the name.
  void add(const std::string& name, const Difference& difference, Finding finding,
           const std::string& note = "");
  // What is no difference. enough: whether there are enough runs to decide.
  void add(const std::string& name, const std::string& text, Finding finding, bool enough);

  // Whether no data set has runs of both sides.
  [[nodiscard]] bool empty() const;
  // Whether one of the comparisons ended so.
  [[nodiscard]] bool any(Finding finding) const;
  // As together(). In addition it holds in part where every data set has enough runs and none
  // fails, but only some hold: more runs of the same kind would hardly change that.
  [[nodiscard]] Finding finding() const;
  // "ring: -0.18 [-0.21, -0.15], 5 seeds; grid: –"
  [[nodiscard]] std::string text() const;
  // "1 of 2 data sets; too few runs on grid"; nothing if that is so on all of them.
  [[nodiscard]] std::string brief() const;
  // Both: "ring: -0.18 [-0.21, -0.15], 5 seeds; grid: –. Holds on 1 of 2 data sets; ..."
  [[nodiscard]] std::string numbers() const;

 private:
  struct Entry {
    std::string name;
    std::string text;
    Finding finding = Finding::not_enough_runs;
    bool known = false;
    bool enough = false;
  };
  // Whether no data set has enough runs or has failed already.
  [[nodiscard]] bool has_too_few() const;
  [[nodiscard]] std::string counts() const;

  int digits_;
  std::vector<Entry> entries_;
};

}  // namespace jeffreys::experiment

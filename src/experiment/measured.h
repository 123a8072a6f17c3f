// Numbers of single runs. Experiments that the paper ran once have one seed: the only error that is
// known is then the Monte-Carlo error of the evaluation, which says nothing about another training.
#pragma once

#include "experiment/comparison.h"

namespace jeffreys::experiment {

// A column of a curve and the column with its standard error.
struct Quantity {
  const char* column;
  const char* error;
};
inline constexpr Quantity kJeffreys{"main.jeffreys", "main.jeffreys_error"};
// The forward KL is the NLL less the entropy of the source on the same rows.
inline constexpr Quantity kNll{"main.test_nll", "main.forward_error"};
inline constexpr Quantity kProxyNll{"proxy.test_nll", "proxy.forward_error"};

// NaN where a run has none.
struct Measured {
  double value;
  double error;
};
[[nodiscard]] Measured measured_at(const RunResult& run, const Quantity& quantity, Moment moment);

// A setting of the run as a number; NaN if there is none.
[[nodiscard]] double setting_of(const RunResult& run, const std::string& key);

// The finite values of a column after the first 5 % of the iterations, where most is transient.
[[nodiscard]] std::vector<double> settled(const RunResult& run, const std::string& column);

// One method less another over the seeds that both have.
struct Contrast {
  Difference difference;
  double error = 0;  // Monte-Carlo, of the mean

  // By three seeds and their interval; with fewer by two Monte-Carlo errors. A seed where only one
  // of the two diverged decides against it.
  [[nodiscard]] bool below() const;
  [[nodiscard]] bool above() const;
};
// Nothing unless with one seed neither diverged.
[[nodiscard]] std::optional<Contrast> contrast(const Results& results, const std::string& data,
                                               const std::string& method, const std::string& other,
                                               const Quantity& quantity, Moment moment);
// At the end of the shorter of each two runs.
[[nodiscard]] std::optional<Contrast> contrast_in_equal_iterations(const Results& results,
                                                                   const std::string& data,
                                                                   const std::string& method,
                                                                   const std::string& other,
                                                                   const Quantity& quantity);
[[nodiscard]] std::string text_of(const Contrast& contrast);

// "0.330 ± 0.004" with the Monte-Carlo error for one seed, as text_of(SeedSummary) for several.
[[nodiscard]] std::string measured_text(const Results& results, const std::string& data,
                                        const std::string& method, const Quantity& quantity,
                                        Moment moment);
// Whether there are runs and all of them diverged.
[[nodiscard]] bool all_diverged(const std::vector<const RunResult*>& runs);

// Lowest and highest of what lines have after the first 5 % of the iterations; NaN for nothing.
struct AxisRange {
  double min = report::kFit;
  double max = report::kFit;
};
[[nodiscard]] AxisRange settled_range(const std::vector<report::Curves::Line>& lines);

// As hide_start(), on a logarithmic axis of whole decades where it covers more than one.
void hide_start_wide(report::Curves& curves);

// "1e-3"
[[nodiscard]] std::string rate_text(double rate);

}  // namespace jeffreys::experiment

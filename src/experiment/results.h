// The runs of one experiment as they lie in its folder, and the numbers that tables and claims are
// made of.
#pragma once

#include <limits>
#include <optional>

#include "experiment/run_file.h"
#include "jeffreys/evaluate/seeds.h"

namespace jeffreys::experiment {

// When in a run a number is taken.
enum class Moment {
  last,      // after all iterations
  best,      // where it is lowest: chosen on test rows, as the paper does
  selected,  // where the same model's validation NLL is lowest: what a user can do
};

// What a run that diverged has in place of a last value: worse than any number.
inline constexpr double kDiverged = std::numeric_limits<double>::infinity();

// Also of a run that was stopped because it was lost: it has no last value either.
[[nodiscard]] bool has_diverged(const RunResult& run);

// What a run would be if it had been stopped at its last point up to an iteration,
// where what is only measured at the end was not.
[[nodiscard]] RunResult run_until(const RunResult& run, std::int64_t iteration);

// A column of a run at a moment: NaN where it was not measured, kDiverged for the last value of a
// curve that ended so. What was measured only once is the same at every moment.
[[nodiscard]] double value_at(const RunResult& run, const std::string& column, Moment moment);

// Above it importance weights have no variance to speak of (Vehtari et al. 2024).
inline constexpr double kTrustedTail = 0.7;

// The point that validation chooses among all models of a run (main, proxy, their averages). An
// energy proxy is none of them if its zeta cannot be trusted: its pareto_k is above kTrustedTail at
// any point of the second half.
struct Chosen {
  std::string model;  // "main", "proxy_averaged", ...
  std::int64_t iteration = 0;
  double test_nll = 0;
  double seconds = 0;  // of processor time until then; NaN if unknown
};
[[nodiscard]] std::optional<Chosen> chosen_by_validation(const RunResult& run);

class Results {
 public:
  // Everything below the folder; damaged files are named in problems(). The order of data and
  // methods is the plan's, whatever is missing.
  Results(const Plan& plan, double scale, const std::filesystem::path& folder);

  [[nodiscard]] const std::vector<std::string>& data() const { return data_; }
  [[nodiscard]] const std::vector<std::string>& methods() const { return methods_; }
  [[nodiscard]] const std::string& label(const std::string& method) const;
  // By seed; empty if there are none.
  [[nodiscard]] std::vector<const RunResult*> runs(const std::string& data,
                                                   const std::string& method) const;
  [[nodiscard]] bool empty() const { return runs_.empty(); }
  // Runs of all data, methods and seeds.
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] const std::vector<std::string>& problems() const { return problems_; }

  // One value for each seed, without those that are not finite.
  [[nodiscard]] std::vector<double> values(const std::string& data, const std::string& method,
                                           const std::string& column, Moment moment) const;
  [[nodiscard]] std::optional<SeedSummary> summary(const std::string& data,
                                                   const std::string& method,
                                                   const std::string& column, Moment moment) const;

 private:
  std::vector<std::string> data_;
  std::vector<std::string> methods_;
  std::map<std::string, std::string> labels_;
  std::map<std::pair<std::string, std::string>, std::map<std::uint64_t, RunResult>> runs_;
  std::vector<std::string> problems_;
};

}  // namespace jeffreys::experiment

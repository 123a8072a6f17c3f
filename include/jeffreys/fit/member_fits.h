// Several fits ("members") that each leave out other rows: how rows are shared out, and how the
// fits are run on all threads, kept, and resumed one by one. Tables (several_fits.h) and posteriors
// (jeffreys/sbi/committee_fit.h) are both made of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "jeffreys/fit/fit.h"

namespace jeffreys {

// Rows in a random order are cut into as many parts as there are members. Member m leaves out part
// m and those after it, so many as `left_out_by` says, around the circle.
class MemberParts {
 public:
  // Throws std::invalid_argument unless 2 <= members <= rows and 1 <= left_out_by < members.
  MemberParts(std::size_t rows, int members, int left_out_by, std::uint64_t seed);

  [[nodiscard]] int members() const { return members_; }
  [[nodiscard]] int left_out_by() const { return left_out_by_; }
  [[nodiscard]] const std::vector<std::size_t>& part() const { return part_; }  // of each row
  [[nodiscard]] std::vector<std::size_t> rows_of(int part) const;
  [[nodiscard]] std::vector<std::size_t> rows_without(int part) const;
  // Validation: all rows that the member leaves out.
  [[nodiscard]] Split split(int member) const;
  // The members that leave a part out; that of the part's own number comes first.
  [[nodiscard]] std::vector<int> leaving_out(int part) const;

 private:
  int members_;
  int left_out_by_;
  std::vector<std::size_t> part_;
};

struct MemberJobs {
  int members = 0;
  int fits = 0;  // of which the members are the first; for what is shown and for time limits
  std::function<PreparedTable(int member)> table;
  std::function<FitOptions(int member, std::size_t rows)> options;
  // All that a member depends on. It is kept in the member's file, and compared when one resumes.
  std::function<std::string(int member)> fingerprint;
};

struct Member {
  TabularDensity<float> density;
  StopReason stop_reason = StopReason::finished;
  std::int64_t iterations = 0;
};

struct FittedMembers {
  std::vector<Member> members = {};  // all of them, unless something is unfinished
  double seconds = 0;                // of training, on all threads together, in this run
  // Where the run was interrupted: a fit that was under way.
  std::optional<Fit> unfinished = {};
};

// Fits all members, several at a time if run.threads allow it; the result is the same for any
// number of threads. Finished ones are kept in run.folder, and so are checkpoints of the others.
// Throws InputError for a member in the folder that is of other rows or settings.
[[nodiscard]] FittedMembers fit_members(const MemberJobs& jobs, const FitRun& run);

// What members took before another fit follows.
struct SpentOnMembers {
  int members = 0;
  double seconds = 0;  // of training, on all threads together
};

// A fit that follows the members and learns from them, as train_fit() makes it. Without it all of
// their time would be in vain: of a time limit it has what they leave. Its checkpoint is in
// run.folder.
[[nodiscard]] Fit fit_after_members(const PreparedTable& table, FitOptions options,
                                    const SpentOnMembers& spent, const FitRun& run);

}  // namespace jeffreys

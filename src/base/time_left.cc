#include "base/time_left.h"

#include <algorithm>
#include <limits>
#include <map>

namespace jeffreys {
namespace {

struct Pace {
  double seconds = 0;
  std::int64_t iterations = 0;

  void add(const JobPace& job) {
    seconds += job.seconds;
    iterations += job.iterations;
  }
  [[nodiscard]] double per_iteration() const { return seconds / static_cast<double>(iterations); }
};

}  // namespace

double seconds_left(const std::vector<JobPace>& jobs, std::size_t workers) {
  std::map<std::string, Pace> paces;
  Pace of_all;
  for (const JobPace& job : jobs) {
    if (job.iterations <= 0) continue;
    for (const std::string& kind : job.kinds) paces[kind].add(job);
    of_all.add(job);
  }
  if (of_all.iterations == 0) return std::numeric_limits<double>::quiet_NaN();
  const auto pace_of = [&](const JobPace& job) {
    for (const std::string& kind : job.kinds) {
      if (const auto found = paces.find(kind); found != paces.end()) return found->second;
    }
    return of_all;
  };
  double sum = 0;
  double longest = 0;
  for (const JobPace& job : jobs) {
    const double seconds = static_cast<double>(job.left) * pace_of(job).per_iteration();
    sum += seconds;
    longest = std::max(longest, seconds);
  }
  // No run is shared out among the workers.
  return std::max(longest, sum / static_cast<double>(std::max<std::size_t>(workers, 1)));
}

}  // namespace jeffreys

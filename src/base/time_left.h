// How long a queue of runs will still take, from what its runs took so far.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace jeffreys {

struct JobPace {
  // What it has in common with others, the most telling first: runs of one method on the same data
  // take about the same time for an iteration, those of other methods may take fifty times as long.
  std::vector<std::string> kinds = {};
  double seconds = 0;           // spent in this process
  std::int64_t iterations = 0;  // done in them
  std::int64_t left = 0;
};

// NaN while no run has been through an iteration.
[[nodiscard]] double seconds_left(const std::vector<JobPace>& jobs, std::size_t workers);

}  // namespace jeffreys

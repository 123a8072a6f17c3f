#include "cli/job_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

namespace jeffreys::cli {
namespace {

const char* word(JobState state) {
  switch (state) {
    case JobState::done: return "done";
    case JobState::was_done: return "was done";
    case JobState::interrupted: return "interrupted, goes on at the next start";
    case JobState::elsewhere: return "another process works on it";
    case JobState::failed: return "FAILED";
    case JobState::missing_data:
    case JobState::left_out: return "left out";
  }
  return "";
}

}  // namespace

JobLine::JobLine(const Globals& globals)
    : globals_(globals), line_(globals, std::chrono::minutes(1)) {}

void JobLine::on_finished(const FinishedJob& job) {
  if (job.state == JobState::was_done) return;
  line_.clear();
  say(globals_, fmt::format("{}: {}{}", job.name, word(job.state),
                            job.message.empty() ? "" : ": " + job.message));
}

void JobLine::on_status(const QueueStatus& status) {
  if (status.running.empty() || !line_.due()) return;
  std::string line = fmt::format("{}/{} done", status.done, status.all);
  if (std::isfinite(status.seconds_left)) {
    line += fmt::format(", {} left", duration(status.seconds_left));
  }
  for (const RunningJob& job : status.running) {
    line += " | " + job.name;
    if (!job.stage.empty()) {
      line += fmt::format(" ({})", job.stage);
      continue;
    }
    // Of a single one nothing is known until it is over.
    if (job.iterations <= 1) continue;
    line += fmt::format(" {:.0f} %", 100.0 * static_cast<double>(job.iteration) /
                                         static_cast<double>(job.iterations));
  }
  line_.draw(line);
}

std::string jobs_text(const std::vector<FinishedJob>& jobs) {
  std::map<JobState, std::size_t> count;
  for (const FinishedJob& job : jobs) ++count[job.state];
  std::string line;
  for (const auto& [state, number] : count) {
    line += fmt::format("{}{} {}", line.empty() ? "" : ", ", number, word(state));
  }
  return line;
}

Json jobs_json(const std::vector<FinishedJob>& jobs) {
  Json json = Json::array();
  for (const FinishedJob& job : jobs) {
    json.push_back({{"name", job.name}, {"state", word(job.state)}, {"message", job.message}});
  }
  return json;
}

void set_exit_code(const std::vector<FinishedJob>& jobs, bool interrupted, Globals& globals) {
  const auto any = [&](JobState state) {
    return std::any_of(jobs.begin(), jobs.end(),
                       [&](const FinishedJob& job) { return job.state == state; });
  };
  if (any(JobState::missing_data)) globals.exit_code = ExitCode::bad_input;
  if (any(JobState::failed) || interrupted) globals.exit_code = ExitCode::failed;
}

Shard parse_shard(const std::string& text) {
  Shard shard;
  char rest = 0;
  if (std::sscanf(text.c_str(), "%d/%d%c", &shard.index, &shard.count, &rest) != 2) {
    throw UsageError(fmt::format("--shard: expected i/n such as 2/8, got '{}'", text));
  }
  return shard;
}

}  // namespace jeffreys::cli

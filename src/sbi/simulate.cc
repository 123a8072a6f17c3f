#include "jeffreys/sbi/simulate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <utility>

#include "jeffreys/base/input_error.h"
#include "sbi/finished_calls.h"
#include "sbi/journal.h"
#include "sbi/journal_text.h"

namespace jeffreys {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kTick{100};
constexpr std::int64_t kEnoughToJudge = 200;

void require_positive(const char* name, std::int64_t value) {
  if (value >= 1) return;
  throw std::invalid_argument(fmt::format("{}: expected at least 1, got {}", name, value));
}

// Hands out rows to the threads and takes what they made. The mutex guards all members below it.
class SimulationRun {
 public:
  SimulationRun(const Simulator& simulator, const DrawParameters& draw,
                const SimulateOptions& options);

  Simulations run(SimulateObserver* observer);

 private:
  void adopt_journal();
  void work(const std::stop_token& stop);
  bool next(const std::stop_token& stop, CallRows& rows);
  void make(const CallRows& rows, const std::stop_token& stop);
  void keep(const FinishedCall& call, std::int64_t calls);
  void know_outcomes(Eigen::Index count);
  void require_hope() const;
  void watch(std::vector<std::jthread>& threads, SimulateObserver* observer);
  SimulateProgress progress() const;

  const Simulator& simulator_;
  const DrawParameters& draw_;
  const SimulateOptions& options_;
  const Clock::time_point start_ = Clock::now();

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::unique_ptr<Journal> journal_;
  std::vector<std::string> outcome_names_;  // empty while unknown
  FinishedCalls finished_;
  std::vector<FinishedCall> unnamed_;  // not in the journal until the outcomes are known
  std::vector<CallRows> missing_;
  std::size_t next_missing_ = 0;
  int working_ = 0;
  int threads_ = 0;
  std::int64_t resumed_ = 0;
  std::int64_t calls_ = 0;
  std::exception_ptr error_;
};

SimulationRun::SimulationRun(const Simulator& simulator, const DrawParameters& draw,
                             const SimulateOptions& options)
    : simulator_(simulator),
      draw_(draw),
      options_(options),
      outcome_names_(options.outcome_names),
      finished_(options.rows) {
  if (simulator.outcomes() > 0) know_outcomes(simulator.outcomes());
  if (!options.journal.empty()) adopt_journal();
  missing_ = finished_.missing(options_.rows_per_call);
}

void SimulationRun::adopt_journal() {
  journal_ = std::make_unique<Journal>(
      options_.journal, JournalHeader{options_.parameter_names, outcome_names_, options_.seed,
                                      options_.rows_per_call, options_.identity});
  outcome_names_ = journal_->header().outcome_names;
  for (const FinishedCall& call : journal_->take_found()) {
    if (finished_.add(call)) continue;
    throw InputError(options_.journal.string(),
                     fmt::format("is damaged: some rows from {} on are there twice; {}", call.first,
                                 kJournalAdvice));
  }
  if (options_.retry_failed) finished_.forget_failed();
  resumed_ = finished_.all();
}

void SimulationRun::know_outcomes(Eigen::Index count) {
  const auto expected = static_cast<Eigen::Index>(outcome_names_.size());
  if (expected == count) return;
  if (expected > 0) {
    throw InputError("", fmt::format("the simulator gives {} outcomes, but {} are named: {}; name "
                                     "all of them, or correct the simulator",
                                     count, expected, fmt::join(outcome_names_, ", ")));
  }
  const std::vector<std::string>& taken = options_.parameter_names;
  for (Eigen::Index i = 1; i <= count; ++i) {
    outcome_names_.push_back(fmt::format("x{}", i));
    if (std::find(taken.begin(), taken.end(), outcome_names_.back()) == taken.end()) continue;
    throw InputError("", fmt::format("a parameter has the name of outcome {}; name the outcomes",
                                     outcome_names_.back()));
  }
  if (journal_) journal_->name_outcomes(outcome_names_);
}

// False when there is nothing more to do. Only one call at a time until the outcomes are known.
bool SimulationRun::next(const std::stop_token& stop, CallRows& rows) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, stop,
                [&] { return working_ == 0 || !outcome_names_.empty() || error_ != nullptr; });
  if (error_ || stop.stop_requested() || next_missing_ == missing_.size()) return false;
  rows = missing_[next_missing_++];
  ++working_;
  return true;
}

void SimulationRun::make(const CallRows& rows, const std::stop_token& stop) {
  FinishedCall call{rows.first, draw_(rows.first, rows.count), {}, {}};
  const auto columns = static_cast<Eigen::Index>(options_.parameter_names.size());
  if (call.parameters.rows() != rows.count || call.parameters.cols() != columns) {
    throw std::invalid_argument(fmt::format("draw: expected parameters [{}, {}], got [{}, {}]",
                                            rows.count, columns, call.parameters.rows(),
                                            call.parameters.cols()));
  }
  SimulatedBatch batch = simulator_.simulate(call.parameters, options_.seed, rows.first, stop);
  call.outcomes = std::move(batch.outcomes);
  call.failures = std::move(batch.failures);
  keep(call, batch.calls);
}

void SimulationRun::keep(const FinishedCall& call, std::int64_t calls) {
  const std::lock_guard lock(mutex_);
  --working_;
  calls_ += calls;
  const bool cut_short =
      std::any_of(call.failures.begin(), call.failures.end(),
                  [](const Failure& failure) { return failure.kind == FailureKind::stopped; });
  if (cut_short) return;
  if (call.outcomes.cols() > 0) know_outcomes(call.outcomes.cols());
  if (journal_) unnamed_.push_back(call);
  if (!outcome_names_.empty()) {
    for (const FinishedCall& each : std::exchange(unnamed_, {})) journal_->append(each);
  }
  finished_.add(call);
  require_hope();
  changed_.notify_all();
}

void SimulationRun::require_hope() const {
  const std::int64_t rows = finished_.all();
  const bool none = rows == options_.rows && finished_.good() == 0;
  if (!none && (rows < kEnoughToJudge || finished_.bad() * 2 <= rows)) return;
  std::vector<std::string> reasons;
  for (const auto& [kind, failures] : finished_.failures()) {
    reasons.push_back(
        fmt::format("{} {} ({})", failures.rows, name_of(kind), failures.first_message));
  }
  // Until the outcomes are known the journal is empty.
  const bool kept = journal_ && !outcome_names_.empty();
  throw InputError(
      kept ? options_.journal.string() : "",
      fmt::format("{} of {} simulations failed: {}. Correct the simulator{}", finished_.bad(), rows,
                  fmt::join(reasons, ", "),
                  kept ? " and try the failed rows again (--retry-failed); or correct the prior, "
                         "delete the journal and start again"
                       : " or the prior, and start again"));
}

void SimulationRun::work(const std::stop_token& stop) {
  try {
    for (CallRows rows; next(stop, rows);) make(rows, stop);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::current_exception();
  }
  const std::lock_guard lock(mutex_);
  --threads_;
  changed_.notify_all();
}

SimulateProgress SimulationRun::progress() const {
  return {options_.rows, finished_.good(), finished_.bad(),
          std::chrono::duration<double>(Clock::now() - start_).count()};
}

void SimulationRun::watch(std::vector<std::jthread>& threads, SimulateObserver* observer) {
  std::unique_lock lock(mutex_);
  while (threads_ > 0) {
    changed_.wait_for(lock, kTick);
    const SimulateProgress now = progress();
    bool stop = error_ != nullptr;
    // The observer may take its time, which the threads do not wait for.
    lock.unlock();
    if (observer != nullptr) {
      observer->on_progress(now);
      stop = observer->should_stop() || stop;
    }
    if (stop) {
      for (std::jthread& thread : threads) thread.request_stop();
    }
    lock.lock();
  }
}

Simulations SimulationRun::run(SimulateObserver* observer) {
  require_hope();
  const auto most = std::min(static_cast<std::size_t>(options_.processes), missing_.size());
  threads_ = static_cast<int>(most);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < most; ++i) {
      threads.emplace_back([this](const std::stop_token& stop) { work(stop); });
    }
    watch(threads, observer);
  }
  if (error_) std::rethrow_exception(error_);
  if (journal_) journal_->synchronize();
  std::vector<std::string> names = options_.parameter_names;
  names.insert(names.end(), outcome_names_.begin(), outcome_names_.end());
  return {finished_.table(names),
          {.requested = options_.rows,
           .finished = finished_.good(),
           .resumed = resumed_,
           .calls = calls_,
           .stopped = finished_.all() < options_.rows,
           .seconds = progress().seconds,
           .failures = finished_.failures()}};
}

}  // namespace

void SimulateOptions::validate() const {
  require_positive("rows", rows);
  require_positive("rows_per_call", rows_per_call);
  require_positive("processes", processes);
  if (parameter_names.empty()) {
    throw std::invalid_argument("parameter_names: expected at least one, got none");
  }
  std::set<std::string> names;
  for (const std::vector<std::string>& some : {parameter_names, outcome_names}) {
    for (const std::string& name : some) {
      if (!name.empty() && names.insert(name).second) continue;
      throw std::invalid_argument(
          fmt::format("parameter_names and outcome_names: expected different names, got '{}' {}",
                      name, name.empty() ? "as one of them" : "twice"));
    }
  }
}

std::int64_t SimulateReport::failed() const {
  std::int64_t sum = 0;
  for (const auto& [kind, count] : failures) sum += count.rows;
  return sum;
}

Simulations simulate(const Simulator& simulator, const DrawParameters& draw,
                     const SimulateOptions& options, SimulateObserver* observer) {
  options.validate();
  if (!draw) throw std::invalid_argument("draw: expected a function to call, got none");
  return SimulationRun(simulator, draw, options).run(observer);
}

}  // namespace jeffreys

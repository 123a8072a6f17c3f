#include "base/run_queue.h"

#include <fmt/format.h>

#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "base/time_left.h"

namespace jeffreys {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

class Queue {
 public:
  Queue(const std::vector<QueuedJob>& jobs, std::size_t workers, JobObserver& observer)
      : jobs_(jobs),
        workers_(workers),
        observer_(observer),
        progress_(jobs.size()),
        paces_(jobs.size()),
        first_(jobs.size(), -1),
        started_(jobs.size()),
        running_(jobs.size(), false) {
    for (std::size_t i = 0; i < jobs.size(); ++i) paces_[i].kinds = jobs[i].kinds;
  }

  std::vector<FinishedJob> run() {
    std::vector<std::thread> workers;
    for (std::size_t i = 0; i < workers_; ++i) workers.emplace_back([this] { work(); });
    {
      std::unique_lock lock(mutex_);
      while (finished_.size() < jobs_.size() && workers_done_ < workers_) {
        changed_.wait_for(lock, std::chrono::milliseconds(500));
        report();
      }
      report();
    }
    for (std::thread& worker : workers) worker.join();
    return std::move(finished_);
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    while (next_ < jobs_.size() && !stop_) {
      const std::size_t index = next_++;
      running_[index] = true;
      started_[index] = Clock::now();
      lock.unlock();
      FinishedJob finished = run_one(index);
      lock.lock();
      running_[index] = false;
      // A job that told nothing on its way is over in one.
      if (finished.state == JobState::done && first_[index] < 0) {
        paces_[index].iterations = jobs_[index].iterations;
        paces_[index].seconds = seconds_since(started_[index]);
      }
      finished_.push_back(std::move(finished));
      changed_.notify_all();
    }
    ++workers_done_;
    changed_.notify_all();
  }

  FinishedJob run_one(std::size_t index) {
    const QueuedJob& queued = jobs_[index];
    try {
      const JobEnd end = queued.run(progress_[index], stop_);
      return {queued.name, end.state, end.message};
    } catch (const std::exception& error) {
      return {queued.name, JobState::failed, error.what()};
    }
  }

  // Called with the lock.
  void report() {
    if (observer_.should_stop()) stop_ = true;
    for (; told_ < finished_.size(); ++told_) observer_.on_finished(finished_[told_]);
    QueueStatus status{
        .done = finished_.size(), .all = jobs_.size(), .seconds = seconds_since(begin_)};
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      const std::int64_t now = progress_[i].iteration();
      if (running_[i]) {
        if (first_[i] < 0 && now > 0) {
          first_[i] = now;
          started_[i] = Clock::now();
        }
        status.running.push_back({jobs_[i].name, now, jobs_[i].iterations, progress_[i].stage()});
      }
      paces_[i].left = i >= next_ || running_[i] ? jobs_[i].iterations - now : 0;
      if (!running_[i] || first_[i] < 0) continue;
      paces_[i].iterations = now - first_[i];
      paces_[i].seconds = seconds_since(started_[i]);
    }
    status.seconds_left = seconds_left(paces_, workers_);
    observer_.on_status(status);
  }

  const std::vector<QueuedJob>& jobs_;
  const std::size_t workers_;
  JobObserver& observer_;
  const Clock::time_point begin_ = Clock::now();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> stop_ = false;
  std::vector<JobProgress> progress_;
  std::vector<JobPace> paces_;
  // Where a job's progress was when it was first seen, perhaps after a resume, and when that was;
  // -1: not yet.
  std::vector<std::int64_t> first_;
  std::vector<Clock::time_point> started_;
  std::vector<bool> running_;
  std::vector<FinishedJob> finished_;
  std::size_t next_ = 0;
  std::size_t told_ = 0;
  std::size_t workers_done_ = 0;
};

}  // namespace

void JobProgress::set_stage(std::string stage) {
  const std::scoped_lock lock(mutex_);
  stage_ = std::move(stage);
}

std::string JobProgress::stage() const {
  const std::scoped_lock lock(mutex_);
  return stage_;
}

void Shard::validate() const {
  if (count >= 1 && index >= 1 && index <= count) return;
  throw std::invalid_argument(
      fmt::format("shard: expected i/n with 1 <= i <= n, got {}/{}", index, count));
}

std::vector<FinishedJob> run_queue(const std::vector<QueuedJob>& jobs, std::size_t workers,
                                   JobObserver& observer) {
  return Queue(jobs, workers, observer).run();
}

}  // namespace jeffreys

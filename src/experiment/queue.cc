#include "experiment/queue.h"

#include <condition_variable>
#include <limits>
#include <mutex>
#include <thread>

#include "experiment/learner.h"
#include "experiment/time_left.h"
#include "jeffreys/base/input_error.h"

namespace jeffreys::experiment {
namespace {

using Clock = std::chrono::steady_clock;

class Queue {
 public:
  Queue(const std::vector<QueuedJob>& jobs, const ReproduceOptions& options,
        ReproduceObserver& observer)
      : jobs_(jobs),
        options_(options),
        observer_(observer),
        progress_(jobs.size()),
        paces_(jobs.size()),
        first_(jobs.size(), -1),
        started_(jobs.size()),
        running_(jobs.size(), false) {
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const Job& job = jobs[i].job;
      paces_[i].kinds = {job.experiment + "/" + job.data + "/" + job.method,
                         job.experiment + "//" + job.method, job.experiment};
    }
  }

  std::vector<FinishedJob> run() {
    std::vector<std::thread> workers;
    for (std::size_t i = 0; i < options_.jobs; ++i) workers.emplace_back([this] { work(); });
    {
      std::unique_lock lock(mutex_);
      while (finished_.size() < jobs_.size() && workers_done_ < options_.jobs) {
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
      lock.unlock();
      FinishedJob finished = run_one(index);
      lock.lock();
      running_[index] = false;
      finished_.push_back(std::move(finished));
      changed_.notify_all();
    }
    ++workers_done_;
    changed_.notify_all();
  }

  FinishedJob run_one(std::size_t index) {
    const QueuedJob& queued = jobs_[index];
    FinishedJob finished{queued.job.experiment + "/" + queued.job.name()};
    if (queued.job.wgan && !can_train_wgan()) {
      finished.state = JobState::left_out;
      finished.message =
          "WGANs need the module libjeffreys_wgan.so beside the program, which ./check builds "
          "(cmake -DJEFFREYS_TORCH=ON, Debian package libtorch-dev)";
      return finished;
    }
    try {
      const Outcome outcome = run_job(queued.job,
                                      {.folder = queued.folder,
                                       .data = options_.data,
                                       .should_stop = [this] { return stop_.load(); },
                                       .checkpoint_seconds = options_.checkpoint_seconds},
                                      progress_[index]);
      finished.state = outcome == Outcome::done          ? JobState::done
                       : outcome == Outcome::was_done    ? JobState::was_done
                       : outcome == Outcome::interrupted ? JobState::interrupted
                                                         : JobState::elsewhere;
    } catch (const MissingData& error) {
      finished.state = JobState::missing_data;
      finished.message = error.what();
    } catch (const std::exception& error) {
      finished.state = JobState::failed;
      finished.message = error.what();
    }
    return finished;
  }

  // Called with the lock.
  void report() {
    if (observer_.should_stop()) stop_ = true;
    for (; told_ < finished_.size(); ++told_) observer_.on_finished(finished_[told_]);
    QueueStatus status{.done = finished_.size(),
                       .all = jobs_.size(),
                       .seconds = std::chrono::duration<double>(Clock::now() - begin_).count()};
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      const std::int64_t iterations = jobs_[i].job.options.train.iterations;
      const std::int64_t now = progress_[i];
      if (running_[i]) {
        if (first_[i] < 0 && now > 0) {
          first_[i] = now;
          started_[i] = Clock::now();
        }
        status.running.push_back(
            {jobs_[i].job.experiment + "/" + jobs_[i].job.name(), now, iterations});
      }
      paces_[i].left = i >= next_ || running_[i] ? iterations - now : 0;
      if (!running_[i] || first_[i] < 0) continue;
      paces_[i].iterations = now - first_[i];
      paces_[i].seconds = std::chrono::duration<double>(Clock::now() - started_[i]).count();
    }
    status.seconds_left = seconds_left(paces_, options_.jobs);
    observer_.on_status(status);
  }

  const std::vector<QueuedJob>& jobs_;
  const ReproduceOptions& options_;
  ReproduceObserver& observer_;
  const Clock::time_point begin_ = Clock::now();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> stop_ = false;
  std::vector<std::atomic<std::int64_t>> progress_;
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

std::vector<FinishedJob> run_queue(const std::vector<QueuedJob>& jobs,
                                   const ReproduceOptions& options, ReproduceObserver& observer) {
  return Queue(jobs, options, observer).run();
}

}  // namespace jeffreys::experiment

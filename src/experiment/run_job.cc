#include "experiment/run_job.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <fstream>

#include "base/stopwatch.h"
#include "experiment/baseline.h"
#include "experiment/learner.h"
#include "experiment/lost_run.h"
#include "experiment/run_file.h"
#include "jeffreys/base/input_error.h"
#include "jeffreys/image/image_set.h"
#include "jeffreys/storage/file_lock.h"

namespace jeffreys::experiment {
namespace {

using Json = nlohmann::ordered_json;

// The most memory that this process has had, of all its jobs.
double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

// What a run leaves while it lasts.
std::filesystem::path checkpoint_of(const Job& job, const JobContext& context) {
  return context.folder / (job.name() + ".checkpoint");
}
std::filesystem::path partial_of(const Job& job, const JobContext& context) {
  return context.folder / (job.name() + ".partial.json");
}

void remove_unfinished(const Job& job, const JobContext& context) {
  std::filesystem::remove(checkpoint_of(job, context));
  std::filesystem::remove(partial_of(job, context));
}

class Run {
 public:
  Run(const Job& job, const JobContext& context, JobProgress& progress)
      : job_(job),
        context_(context),
        progress_(progress),
        checkpoint_(checkpoint_of(job, context)),
        partial_(partial_of(job, context)),
        workload_(make_workload(job, context)) {}

  Outcome train() {
    learner_ = make_learner(job_, *workload_);
    resume();
    const auto points = evaluation_points(job_.options.train.iterations, job_.evaluations);
    auto next = std::upper_bound(points.begin(), points.end(), learner_->iteration());
    for (; next != points.end() && !learner_->diverged() && !lost(); ++next) {
      if (!step_to(*next)) return Outcome::interrupted;
      measure();
    }
    finish();
    return Outcome::done;
  }

 private:
  // By the curve, so that a run that was taken up again ends at the same point.
  [[nodiscard]] bool lost() const { return job_.lost && lost_since(curve_, *job_.lost); }

  // False: asked to stop, and saved.
  bool step_to(std::int64_t point) {
    while (learner_->iteration() < point && !learner_->diverged()) {
      // Before a step, never between a step that reaches a point and its measurement: what is
      // measured includes what the step said about itself.
      const bool stop = context_.should_stop && context_.should_stop();
      const auto now = std::chrono::steady_clock::now();
      if (stop ||
          std::chrono::duration<double>(now - saved_).count() > context_.checkpoint_seconds) {
        save();
        saved_ = now;
      }
      if (stop) return false;
      // Other jobs and programs do not count.
      const double begin = processor_seconds(Worker::thread);
      learner_->step();
      spent_ += processor_seconds(Worker::thread) - begin;
      progress_.set_iteration(learner_->iteration());
    }
    return true;
  }

  // Time for measuring is no time of training.
  void measure() {
    const Models models = learner_->models();
    Numbers numbers = workload_->measure(models);
    numbers.merge(learner_->numbers());
    learner_->with_averaged(
        [&](const Models& averaged) { numbers.merge(workload_->measure(averaged)); });
    curve_.add(learner_->iteration(), numbers);
    seconds_.push_back(spent_);
  }

  void save() const {
    // The curve first: what it has beyond the checkpoint is cut off at the resume.
    write_text(partial_,
               Json{{"curve", to_json(curve_)}, {"seconds", seconds_}, {"spent", spent_}}.dump());
    learner_->save(checkpoint_);
  }

  void resume() {
    if (!std::filesystem::exists(checkpoint_) || !std::filesystem::exists(partial_)) return;
    try {
      std::ifstream stream(partial_);
      const Json json = Json::parse(stream);
      curve_ = curve_from_json(json.at("curve"));
      seconds_ = json.at("seconds").get<std::vector<double>>();
      spent_ = json.at("spent");
    } catch (const nlohmann::json::exception& error) {
      throw InputError(
          partial_.string(),
          fmt::format("is damaged ({}); remove it to begin this run anew", error.what()));
    }
    learner_->resume(checkpoint_);
    curve_.cut(learner_->iteration());
    seconds_.resize(curve_.iteration.size());
    progress_.set_iteration(learner_->iteration());
  }

  void finish() {
    progress_.set_stage("measures for the last time");
    const Models models = learner_->models();
    RunResult result{.experiment = job_.experiment,
                     .data = job_.data,
                     .method = job_.method,
                     .label = job_.label,
                     .seed = job_.seed,
                     .stop = learner_->diverged() ? "diverged"
                             : lost()             ? "lost"
                                                  : "finished"};
    for (const Setting& setting : list_settings(job_.options)) {
      result.settings.emplace_back(setting.key, setting.value);
    }
    result.last = workload_->measure_last(models);
    result.machine = workload_->machine();
    result.machine["peak_megabytes"] = peak_megabytes();
    if (job_.seed == 0) workload_->draw_pictures(models, job_.data + "-" + job_.method);
    if (job_.maps > 0) result.grid = workload_->density_grid(models, job_.maps);
    result.curve = std::move(curve_);
    result.seconds = std::move(seconds_);
    write_run(context_.folder, job_.name(), result);
    remove_unfinished(job_, context_);
  }

  const Job& job_;
  const JobContext& context_;
  JobProgress& progress_;
  std::filesystem::path checkpoint_;
  std::filesystem::path partial_;
  std::unique_ptr<Workload> workload_;
  std::unique_ptr<Learner> learner_;
  Curve curve_;
  std::vector<double> seconds_;
  double spent_ = 0;
  std::chrono::steady_clock::time_point saved_ = std::chrono::steady_clock::now();
};

}  // namespace

Outcome run_job(const Job& job, const JobContext& context, JobProgress& progress) try {
  const std::filesystem::path file = context.folder / (job.name() + ".json");
  const std::filesystem::path lock_file = context.folder / (job.name() + ".lock");
  const bool done = std::filesystem::exists(file);
  if (done && !std::filesystem::exists(lock_file)) return Outcome::was_done;
  std::filesystem::create_directories(file.parent_path());
  const storage::FileLock lock(lock_file);
  if (!lock.held()) return done ? Outcome::was_done : Outcome::elsewhere;
  if (std::filesystem::exists(file)) {
    remove_unfinished(job, context);  // killed before it could tidy up
    return Outcome::was_done;
  }
  if (!job.baseline.empty()) {
    run_baseline(job, *make_workload(job, context), context.folder);
    return Outcome::done;
  }
  return Run(job, context, progress).train();
} catch (const Interrupted&) {
  return Outcome::interrupted;
}

}  // namespace jeffreys::experiment

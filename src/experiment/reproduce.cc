#include "jeffreys/experiment/reproduce.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "base/run_queue.h"
#include "experiment/embedded.h"
#include "experiment/folder.h"
#include "experiment/learner.h"
#include "experiment/report.h"
#include "experiment/run_job.h"
#include "jeffreys/image/autoencoder.h"

namespace jeffreys::experiment {
namespace {

bool selected(const Job& job, const std::vector<std::string>& only) {
  if (only.empty()) return true;
  const std::string name = job.experiment + "/" + job.name();
  return std::any_of(only.begin(), only.end(),
                     [&](const std::string& part) { return name.find(part) != std::string::npos; });
}

JobState state_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::done: return JobState::done;
    case Outcome::was_done: return JobState::was_done;
    case Outcome::interrupted: return JobState::interrupted;
    case Outcome::elsewhere: break;
  }
  return JobState::elsewhere;
}

JobEnd run_experiment_job(const Job& job, const JobContext& context, JobProgress& progress) {
  if (job.wgan && !can_train_wgan()) {
    return {JobState::left_out,
            "WGANs need the module libjeffreys_wgan.so beside the program, which ./check builds "
            "(cmake -DJEFFREYS_TORCH=ON, Debian package libtorch-dev)"};
  }
  if (job.kind == DataKind::images && !has_autoencoder_network()) {
    return {JobState::left_out,
            "pictures need the module libjeffreys_images.so beside the program, which ./check "
            "builds (cmake -DJEFFREYS_TORCH=ON, Debian package libtorch-dev)"};
  }
  try {
    return {state_of(run_job(job, context, progress))};
  } catch (const MissingData& error) {
    return {JobState::missing_data, error.what()};
  }
}

QueuedJob queued(Job job, const std::filesystem::path& folder, const ReproduceOptions& options) {
  const std::string name = job.experiment + "/" + job.name();
  const std::vector<std::string> kinds = {job.experiment + "/" + job.data + "/" + job.method,
                                          job.experiment + "//" + job.method, job.experiment};
  const std::int64_t iterations = job.options.train.iterations;
  return {name, kinds, iterations,
          [job = std::move(job), folder, &options](JobProgress& progress,
                                                   const std::atomic<bool>& stop) {
            return run_experiment_job(
                job,
                {.folder = folder,
                 .data = options.data,
                 .should_stop = [&stop] { return stop.load(); },
                 .checkpoint_seconds = options.checkpoint_seconds,
                 .threads = options.jobs,
                 .on_stage = [&progress](const std::string& stage) { progress.set_stage(stage); }},
                progress);
          }};
}

// A word that is in no name would silently run nothing.
void require_known(const ReproduceOptions& options) {
  std::vector<std::string> missed = options.only;
  for (const std::string& name : options.names) {
    for (const Job& job : make_jobs(plan_of(name), options.scale, options.seeds)) {
      std::erase_if(missed, [&](const std::string& part) { return selected(job, {part}); });
    }
  }
  if (missed.empty()) return;
  throw std::invalid_argument(fmt::format(
      "--only {}: no run has this in its name, such as density/ring/ours/seed-0", missed.front()));
}

std::vector<QueuedJob> queue_of(const ReproduceOptions& options) {
  require_known(options);
  std::vector<QueuedJob> queue;
  std::size_t place = 0;
  for (const std::string& name : options.names) {
    const Plan plan = plan_of(name);
    const std::filesystem::path folder = options.output / name;
    claim_folder(folder, plan, options.scale);
    for (Job& job : make_jobs(plan, options.scale, options.seeds)) {
      if (!selected(job, options.only) || !options.shard.has(place++)) continue;
      queue.push_back(queued(std::move(job), folder, options));
    }
  }
  return queue;
}

}  // namespace

void ReproduceOptions::validate() const {
  const auto require = [](bool good, const std::string& problem) {
    if (!good) throw std::invalid_argument(problem);
  };
  require(!names.empty(), "names: expected at least one experiment, got none");
  for (const std::string& name : names) static_cast<void>(experiment_text(name));
  require(scale > 0 && scale <= 1, fmt::format("scale: expected 0 < scale <= 1, got {}", scale));
  require(!seeds || *seeds >= 1, "seeds: expected at least 1, got 0");
  require(jobs >= 1, "jobs: expected at least 1, got 0");
  shard.validate();
}

std::vector<ExperimentInfo> experiments() {
  std::vector<ExperimentInfo> list;
  for (const Experiment& experiment : all_experiments()) {
    const std::string name(experiment.name);
    list.push_back({name, plan_of(name).title});
  }
  return list;
}

const Experiment& find_experiment(std::string_view name) {
  std::vector<std::string_view> known;
  for (const Experiment& experiment : all_experiments()) {
    if (experiment.name == name) return experiment;
    known.push_back(experiment.name);
  }
  throw std::invalid_argument(
      fmt::format("there is no experiment '{}'; known: {}, all", name, fmt::join(known, ", ")));
}

std::string experiment_text(const std::string& name) {
  return std::string(find_experiment(name).text);
}

ReproduceResult reproduce(const ReproduceOptions& options, ReproduceObserver& observer) {
  options.validate();
  ReproduceResult result;
  if (options.train) {
    result.jobs = run_queue(queue_of(options), options.jobs, observer);
    result.interrupted = observer.should_stop();
  }
  if (options.figures && !result.interrupted) {
    result.page = write_report(options, result.jobs, observer);
  }
  return result;
}

}  // namespace jeffreys::experiment

#include "fit/compare_job.h"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <mutex>
#include <nlohmann/json.hpp>

#include "base/stopwatch.h"
#include "fit/compare_method.h"
#include "jeffreys/base/input_error.h"
#include "jeffreys/fit/fit_table.h"
#include "jeffreys/storage/atomic_file.h"
#include "jeffreys/storage/file_lock.h"

namespace jeffreys {
namespace {

using Json = nlohmann::ordered_json;

void write_json(const std::filesystem::path& path, const Json& json) {
  const std::string text = json.dump(1) + "\n";
  storage::write_file_atomically(path, std::as_bytes(std::span(text)));
}

// What a fit has taken so far, also in processes that were killed: it is kept in a file until the
// fit is done.
class SpentTime {
 public:
  SpentTime(std::filesystem::path file, Worker worker) : file_(std::move(file)), worker_(worker) {
    std::ifstream stream(file_);
    if (!stream) return;
    const Json json = Json::parse(stream, nullptr, /*allow_exceptions=*/false);
    if (json.is_discarded() || !json.contains("processor") || !json.contains("wall")) return;
    processor_before_ = json["processor"];
    wall_before_ = json["wall"];
    resumed_ = true;
  }

  [[nodiscard]] double processor() const {
    return processor_before_ + processor_seconds(worker_) - begin_;
  }
  [[nodiscard]] double wall() const { return wall_before_ + watch_.read(); }
  [[nodiscard]] bool resumed() const { return resumed_; }

  void save() { write_json(file_, {{"processor", processor()}, {"wall", wall()}}); }
  // Fits of one job may step at the same time.
  void save_if_due() {
    constexpr double kSeconds = 5;
    const std::lock_guard lock(mutex_);
    if (watch_.read() - saved_ < kSeconds) return;
    save();
    saved_ = watch_.read();
  }

 private:
  std::filesystem::path file_;
  Worker worker_;
  Stopwatch watch_;
  double begin_ = processor_seconds(worker_);
  double processor_before_ = 0;
  double wall_before_ = 0;
  double saved_ = 0;
  bool resumed_ = false;
  std::mutex mutex_;
};

class KeepsTime final : public TrainObserver {
 public:
  explicit KeepsTime(SpentTime& spent) : spent_(spent) {}
  void on_step(const StepRecord&) override { spent_.save_if_due(); }

 private:
  SpentTime& spent_;
};

FitRun unfinished_run(const std::string& base) {
  return {.checkpoint = base + ".checkpoint", .folder = base + ".members"};
}

std::string spent_file(const std::string& base) { return base + ".spent.json"; }

// What a job leaves while it runs. After its result is written: a kill in between loses nothing.
void remove_unfinished(const std::string& base) {
  unfinished_run(base).remove_unfinished();
  std::filesystem::remove(spent_file(base));
}

// The log densities of all test rows, and how the rows were seen.
struct Judged {
  Vector<double> log_prob = {};
  std::size_t columns = 0;
  std::size_t unseen = 0;
  bool interrupted = false;
};

class Run {
 public:
  Run(const CompareJob& job, const ComparedTable& data, const CompareOptions& options,
      const std::atomic<bool>& stop)
      : job_(job),
        options_(options),
        stop_(stop),
        base_((options.folder / job.name()).string()),
        settings_(settings_of(job.method, options, fit_seed())),
        spent_(spent_file(base_), options.jobs == 1 ? Worker::process : Worker::thread) {
    const Split rows = compare_split(data, options, job.split);
    training_ = take_rows(data.table, rows.training);
    test_ = take_rows(data.table, rows.validation);
  }

  // False: asked to stop, and saved.
  bool run() {
    const auto simple = simple_model(job_.method);
    const Judged judged = simple ? judge_simple(*simple) : judge_fit();
    if (judged.interrupted) return false;
    if (static_cast<std::size_t>(judged.log_prob.size()) != test_.rows()) {
      throw InputError(test_.source, fmt::format("{} of {} test rows have no density",
                                                 static_cast<std::ptrdiff_t>(test_.rows()) -
                                                     judged.log_prob.size(),
                                                 test_.rows()));
    }
    write(judged);
    remove_unfinished(base_);
    return true;
  }

 private:
  [[nodiscard]] std::uint64_t fit_seed() const {
    constexpr std::uint64_t kBetweenSeeds = 100003;  // more than anybody has splits
    return options_.seed + job_.split + kBetweenSeeds * job_.seed;
  }

  Judged judge_fit() {
    FitRun run = unfinished_run(base_);
    run.threads = options_.threads;
    run.resume = true;
    run.observe = [this](auto&&...) { return std::make_unique<KeepsTime>(spent_); };
    run.should_stop = [this] { return stop_.load(); };
    const TableFit made = fit_table(training_, options_.columns, settings_, run);
    if (made.fit.report.training.stop_reason == StopReason::interrupted) {
      spent_.save();
      return {.interrupted = true};
    }
    stop_watches();
    const TabularDensity<float>& density = made.fit.density;
    const TableLogProb scores = density.log_prob(test_, {}, Unusual::keep);
    return {scores.log_prob, density.schema().feature_names().size(), scores.unusual.size()};
  }

  // On all training rows: cross-validation holds out what it needs.
  Judged judge_simple(SimpleModel model) {
    FitOptions fit;
    fit.schema = options_.columns;
    settings_.apply_to(fit);
    const Schema schema = Schema::fit(training_, fit.schema);
    const auto go_on = interrupt_if([this] { return stop_.load(); });
    try {
      const TableBaseline baseline(row_shape(schema), schema.encode(training_), model, fit.seed,
                                   go_on);
      stop_watches();
      const Schema::Encoded rows = schema.encode(test_, Unusual::keep);
      return {baseline.log_prob(rows), schema.feature_names().size(), rows.unusual.size()};
    } catch (const Interrupted&) {
      return {.interrupted = true};
    }
  }

  void stop_watches() {
    processor_ = spent_.processor();
    wall_ = spent_.wall();
  }

  void write(const Judged& judged) const {
    const MeanNll nll = mean_nll(judged.log_prob);
    const auto number = [](double value) {
      return std::isfinite(value) ? Json(value) : Json(nullptr);
    };
    write_json(base_ + ".json", {{"method", job_.method.name},
                                 {"definition", job_.method.definition()},
                                 {"split", job_.split},
                                 {"seed", job_.seed},
                                 {"training_rows", training_.rows()},
                                 {"test_rows", test_.rows()},
                                 {"columns", judged.columns},
                                 {"unseen", judged.unseen},
                                 {"nll", number(nll.nll)},
                                 {"standard_error", number(nll.standard_error)},
                                 {"processor_seconds", processor_},
                                 {"wall_seconds", wall_},
                                 {"interrupted", spent_.resumed()}});
  }

  const CompareJob& job_;
  const CompareOptions& options_;
  const std::atomic<bool>& stop_;
  const std::string base_;
  const ChosenSettings settings_;
  Table training_;
  Table test_;
  SpentTime spent_;
  double processor_ = 0;
  double wall_ = 0;
};

}  // namespace

std::string CompareJob::name() const {
  return fmt::format("{}/split-{}-seed-{}", method.name, split, seed);
}

CompareRun read_compare_run(const std::filesystem::path& file) {
  try {
    std::ifstream stream(file);
    const Json json = Json::parse(stream);
    const auto number = [&](const char* key) {
      return json.at(key).is_null() ? std::numeric_limits<double>::infinity()
                                    : json.at(key).get<double>();
    };
    return {.method = json.at("method"),
            .definition = json.at("definition"),
            .split = json.at("split"),
            .seed = json.at("seed"),
            .training_rows = json.at("training_rows"),
            .test_rows = json.at("test_rows"),
            .columns = json.at("columns"),
            .unseen = json.at("unseen"),
            .nll = number("nll"),
            .standard_error = number("standard_error"),
            .processor_seconds = json.at("processor_seconds"),
            .wall_seconds = json.at("wall_seconds"),
            .interrupted = json.at("interrupted")};
  } catch (const nlohmann::json::exception& error) {
    throw InputError(file.string(),
                     fmt::format("is not the file of a run; remove it, and the same command makes "
                                 "it anew ({})",
                                 error.what()));
  }
}

Split compare_split(const ComparedTable& data, const CompareOptions& options, std::size_t split) {
  const std::uint64_t seed = options.seed + split;
  Split rows = split_groups(data.groups, options.test, seed);
  if (options.rows > 0) rows.training = random_rows(std::move(rows.training), options.rows, seed);
  rows.validation = random_rows(std::move(rows.validation), options.most_tests, seed);
  return rows;
}

JobEnd run_compare_job(const CompareJob& job, const ComparedTable& data,
                       const CompareOptions& options, const std::atomic<bool>& stop) {
  const std::filesystem::path file = options.folder / (job.name() + ".json");
  const std::filesystem::path lock_file = options.folder / (job.name() + ".lock");
  const bool done = std::filesystem::exists(file);
  if (done && !std::filesystem::exists(lock_file)) return {JobState::was_done};
  std::filesystem::create_directories(file.parent_path());
  const storage::FileLock lock(lock_file);
  if (!lock.held()) return {done ? JobState::was_done : JobState::elsewhere};
  if (std::filesystem::exists(file)) {
    // Killed before it could tidy up.
    remove_unfinished((options.folder / job.name()).string());
    return {JobState::was_done};
  }
  return {Run(job, data, options, stop).run() ? JobState::done : JobState::interrupted};
}

}  // namespace jeffreys

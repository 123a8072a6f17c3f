#include "jeffreys/fit/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "jeffreys/base/input_error.h"
#include "jeffreys/fit/models.h"

namespace jeffreys {
namespace {

// Held-out rows at several places of their cells each, so that the place does not choose a state;
// as many as keep an evaluation cheap.
constexpr Eigen::Index kValidationPoints = 1024;
constexpr Eigen::Index kMostPlaces = 8;

// Every row of the table at so many places.
EncodedRows spread(const EncodedRows& rows, Eigen::Index places, std::uint64_t seed) {
  std::vector<std::size_t> repeated;
  for (Eigen::Index p = 0; p < places; ++p) {
    for (Eigen::Index r = 0; r < rows.size(); ++r) repeated.push_back(static_cast<std::size_t>(r));
  }
  EncodedRows result = rows.take(repeated);
  constexpr std::uint64_t kNoIteration = ~std::uint64_t{0};
  rows.cells.place(repeated, random_points(result.size(), rows.cells.open(), seed, kNoIteration),
                   result.x);
  return result;
}

TrainingData<float> training_data(const PreparedTable& table, const FitOptions& options,
                                  bool conditional_energy) {
  const Cells& cells = table.training.cells;
  EncodedRows validation = table.validation;
  if (cells.open() > 0 && validation.size() > 0) {
    // An energy model draws samples for every row that has conditions.
    const Eigen::Index places =
        conditional_energy
            ? 1
            : std::clamp<Eigen::Index>(kValidationPoints / validation.size(), 1, kMostPlaces);
    validation = spread(validation, places, options.seed);
  }
  TrainingData<float> data{table.training.x.cast<float>(), table.training.context.cast<float>(),
                           validation.x.cast<float>(), validation.context.cast<float>()};
  if (cells.open() == 0) return data;
  data.redraw = [&cells, &all = table.training.x, seed = options.seed](
                    std::int64_t iteration, std::span<const std::size_t> rows, Matrix<float>& x) {
    Matrix<double> placed = all(rows, Eigen::all);
    cells.place(rows,
                random_points(x.rows(), cells.open(), seed, static_cast<std::uint64_t>(iteration)),
                placed);
    x = placed.cast<float>();
  };
  return data;
}

// What the caller watches a fit with, and whether the whole run is to stop.
class WatchedFit final : public TrainObserver {
 public:
  WatchedFit(std::unique_ptr<TrainObserver> own, const std::function<bool()>& stop)
      : own_(std::move(own)), stop_(stop) {}

  void on_step(const StepRecord& record) override {
    if (own_) own_->on_step(record);
  }
  void on_evaluation(const Evaluation& evaluation) override {
    if (own_) own_->on_evaluation(evaluation);
  }
  bool should_stop() override { return (own_ && own_->should_stop()) || (stop_ && stop_()); }

 private:
  std::unique_ptr<TrainObserver> own_;
  const std::function<bool()>& stop_;
};

}  // namespace

PreparedTable prepare(const Table& table, const FitOptions& options) {
  const std::size_t rows = complete_rows(table, options.schema).size();
  const double calibration =
      options.calibration_fraction < 0 ? calibration_fraction(rows) : options.calibration_fraction;
  const double fraction =
      options.validation_fraction < 0 ? validation_fraction(rows) : options.validation_fraction;
  const Split split = split_rows(rows, fraction, calibration, options.seed);
  constexpr std::size_t kLeastRows = 10;
  if (calibration > 0 && rows >= kLeastRows && split.training.size() < kLeastRows) {
    throw std::invalid_argument(fmt::format(
        "calibration.fraction: expected a share that leaves at least {} rows for training, got {}, "
        "which leaves {} of {}",
        kLeastRows, calibration, split.training.size(), rows));
  }
  return prepare(table, options, split);
}

PreparedTable prepare(const Table& table, const FitOptions& options, const Split& split) {
  return prepare(table, Schema::fit(table, options.schema, split.training), split);
}

PreparedTable prepare(const Table& table, Schema schema, const Split& split) {
  PreparedTable result{.schema = std::move(schema)};
  const Schema::Encoded encoded = result.schema.encode(table);
  result.dropped = encoded.dropped;
  result.training = encoded.take(split.training);
  result.validation = encoded.take(split.validation);
  result.calibration = encoded.take(split.calibration);
  return result;
}

void FitRun::check_unfinished() const {
  bool found = false;
  for (const auto& [path, what] :
       {std::pair{checkpoint, "the checkpoint"}, std::pair{folder, "the folder"}}) {
    if (path.empty() || !std::filesystem::exists(path)) continue;
    found = true;
    if (resume) continue;
    throw InputError(
        path.string(),
        fmt::format("{} of an unfinished fit: go on with --resume, or delete it", what));
  }
  if (resume && !found && tell) tell("no checkpoint to resume from: starting anew");
}

void FitRun::remove_unfinished() const {
  if (!checkpoint.empty()) std::filesystem::remove(checkpoint);
  if (!folder.empty()) std::filesystem::remove_all(folder);
}

Fit fit(const PreparedTable& table, const FitOptions& options, const FitRun& run,
        const std::string& label) {
  if (run.threads < 1) throw std::invalid_argument("threads: expected at least 1, got 0");
  options.validate();
  TrainOptions train = options.train;
  train.seed = options.seed;
  const RowShape shape = row_shape(table.schema);
  AnyDensity<float> main = make_main_model(options, shape);
  start_at_rows(*main, table.training.x);
  std::optional<AnyModel<float>> proxy;
  if (needs_proxy(train.method)) {
    proxy = make_proxy_model(options, shape);
    start_at_rows(**proxy, table.training.x);
  }
  const bool conditional_energy = proxy && !(*proxy)->normalized() && shape.context_features > 0;

  Fit result{TabularDensity<float>(table.schema, std::move(main), std::move(proxy)), {}};
  TabularDensity<float>& density = result.density;
  if (run.threads > 1) density.use_threads(std::make_shared<ThreadPool>(run.threads));
  {
    Trainer<float> trainer(density.edit_main(), density.edit_proxy(),
                           training_data(table, options, conditional_energy), train);
    if (run.resume && std::filesystem::exists(train.checkpoint.path)) {
      trainer.resume(train.checkpoint.path);
    }
    WatchedFit observer(run.observe ? run.observe(label, options, table) : nullptr,
                        run.should_stop);
    result.report.training = trainer.run(&observer);
  }
  density.history = result.report.training.history;
  // The model's bytes do not depend on how long its training took.
  for (StepRecord& step : density.history) step.times = {};
  density.evaluations = result.report.training.evaluations;
  if (result.report.training.stop_reason == StopReason::interrupted) return result;
  density.normalize(options.seed);
  result.report.energy = density.check_energy(
      (table.validation.size() > 0 ? table.validation : table.training).context, options.seed);
  assess(table, density, result.report);
  density.choose(result.report.chosen);
  return result;
}

}  // namespace jeffreys

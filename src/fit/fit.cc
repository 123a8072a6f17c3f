#include "jeffreys/fit/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "fit/gap_fills.h"
#include "jeffreys/base/input_error.h"
#include "jeffreys/fit/models.h"

namespace jeffreys {
namespace {

// Held-out rows at several places of their cells each, so that the place does not choose a state;
// as many as keep an evaluation cheap.
constexpr Eigen::Index kValidationPoints = 1024;
constexpr Eigen::Index kMostPlaces = 8;
constexpr Eigen::Index kGapPoints = 32;  // of rows with gaps, whose density is the mean over them

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

Matrix<double> filled(const EncodedRows& rows, const std::shared_ptr<GapFills>& fills) {
  Matrix<double> x = rows.x;
  std::vector<std::size_t> all(static_cast<std::size_t>(rows.size()));
  std::iota(all.begin(), all.end(), std::size_t{0});
  if (fills) fills->write(all, x);
  return x;
}

// Validation rows at some points each; see TrainingData.
void add_validation(const PreparedTable& table, const FitOptions& options, bool conditional_energy,
                    const GapFills* fills, TrainingData<float>& data) {
  EncodedRows validation = table.validation;
  if (validation.size() == 0) return;
  // An energy model draws samples for every row that has conditions.
  const Eigen::Index most = conditional_energy ? 1 : kMostPlaces;
  const bool open = table.training.cells.open() > 0;
  if (validation.gaps.size() > 0) {
    data.validation_points = conditional_energy ? kMostPlaces : kGapPoints;
    GapFills::HeldOut points = fills->held_out(validation, data.validation_points);
    validation = std::move(points.rows);
    data.validation_log_weights = std::move(points.log_weights);
  } else if (open) {
    data.validation_points =
        std::clamp<Eigen::Index>(kValidationPoints / validation.size(), 1, most);
    validation = spread(validation, data.validation_points, options.seed);
  }
  data.validation_x = validation.x.cast<float>();
  data.validation_context = validation.context.cast<float>();
  data.validation_weights = table.validation.weights;
}

// fills: those of the training rows, or nothing if no row of the table has gaps.
TrainingData<float> training_data(const PreparedTable& table, const FitOptions& options,
                                  bool conditional_energy, const Density<float>& main,
                                  const std::shared_ptr<GapFills>& fills) {
  TrainingData<float> data{filled(table.training, fills).cast<float>(),
                           table.training.context.cast<float>()};
  data.weights = table.training.weights.cast<float>();
  add_validation(table, options, conditional_energy, fills.get(), data);
  const Cells& cells = table.training.cells;
  if (cells.open() == 0 && !fills) return data;
  if (fills) data.redraw_state = fills->state();
  data.redraw = [&cells, &all = table.training.x, &main, fills, seed = options.seed](
                    std::int64_t iteration, std::span<const std::size_t> rows, Matrix<float>& x) {
    Matrix<double> placed = all(rows, Eigen::all);
    const auto now = static_cast<std::uint64_t>(iteration);
    cells.place(rows, random_points(x.rows(), cells.open(), seed, now), placed);
    if (fills) {
      if (fills->due(iteration)) fills->sweep(main, now);
      fills->write(rows, placed);
    }
    x = placed.cast<float>();
  };
  return data;
}

// Without the rows that have no cell at all, which say nothing, and without those of weight 0.
EncodedRows informative(const EncodedRows& rows, const std::vector<std::size_t>& chosen,
                        std::size_t& empty) {
  std::vector<std::size_t> result;
  for (const std::size_t i : chosen) {
    const auto row = static_cast<Eigen::Index>(i);
    if (rows.says_nothing(row)) ++empty;
    const bool counts = rows.weights.size() == 0 || rows.weights(row) > 0;
    if (!rows.says_nothing(row) && counts) result.push_back(i);
  }
  return rows.take(result);
}

constexpr std::size_t kLeastRows = 10;

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
  const std::size_t rows = usable_rows(table, options.schema).size();
  const double calibration =
      options.calibration_fraction < 0 ? calibration_fraction(rows) : options.calibration_fraction;
  const double fraction =
      options.validation_fraction < 0 ? validation_fraction(rows) : options.validation_fraction;
  const Split split = split_rows(rows, fraction, calibration, options.seed);
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
  Schema::Encoded encoded = result.schema.encode(table);
  if (!result.schema.weights().empty()) {
    encoded.weights = row_weights(table, result.schema.weights(), encoded.rows);
  }
  result.dropped = encoded.dropped;
  result.training = informative(encoded, split.training, result.dropped);
  result.validation = informative(encoded, split.validation, result.dropped);
  result.calibration = informative(encoded, split.calibration, result.dropped);
  if (encoded.weights.size() > 0 && result.rows() < std::min(kLeastRows, split.training.size())) {
    throw InputError(
        table.source,
        fmt::format(
            "only {} training rows have a positive weight in column \"{}\"; at least {} are "
            "needed: give more rows a weight, or leave --weights out",
            result.rows(), result.schema.weights(), kLeastRows));
  }
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

Fit train_fit(const PreparedTable& table, const FitOptions& options, const FitRun& run,
              const std::string& label) {
  if (run.threads < 1) throw std::invalid_argument("threads: expected at least 1, got 0");
  options.validate();
  TrainOptions train = options.train;
  train.seed = options.seed;
  const RowShape shape = row_shape(table.schema);
  std::shared_ptr<GapFills> fills;
  if (table.training.gaps.size() + table.validation.gaps.size() > 0) {
    const Eigen::Index batch =
        std::max<Eigen::Index>(train.batch_size > 0 ? train.batch_size : table.training.size(), 1);
    fills = std::make_shared<GapFills>(shape, table.training, options.seed,
                                       (table.training.size() + batch - 1) / batch);
  }
  const Matrix<double> x = filled(table.training, fills);
  AnyDensity<float> main = make_main_model(options, shape);
  start_at_rows(*main, x);
  std::optional<AnyModel<float>> proxy;
  if (needs_proxy(train.method)) {
    proxy = make_proxy_model(options, shape);
    start_at_rows(**proxy, x);
  }
  const bool conditional_energy = proxy && !(*proxy)->normalized() && shape.context_features > 0;

  Fit result{TabularDensity<float>(table.schema, std::move(main), std::move(proxy)), {}};
  TabularDensity<float>& density = result.density;
  if (run.threads > 1) density.use_threads(std::make_shared<ThreadPool>(run.threads));
  {
    Trainer<float> trainer(density.edit_main(), density.edit_proxy(),
                           training_data(table, options, conditional_energy, density.main(), fills),
                           train);
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
  return result;
}

Fit fit(const PreparedTable& table, const FitOptions& options, const FitRun& run,
        const std::string& label) {
  Fit result = train_fit(table, options, run, label);
  if (result.report.training.stop_reason == StopReason::interrupted) return result;
  TabularDensity<float>& density = result.density;
  density.normalize(options.seed);
  result.report.energy = density.check_energy(
      (table.validation.size() > 0 ? table.validation : table.training).context, options.seed);
  assess(table, density, result.report);
  density.choose(result.report.chosen);
  return result;
}

}  // namespace jeffreys

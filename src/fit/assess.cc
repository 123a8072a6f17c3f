#include "jeffreys/fit/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fit/table_baseline.h"

namespace jeffreys {
namespace {

constexpr std::size_t kFewHeldOut = 50;
// Nats a row. Many rows find smaller differences from a Gaussian that is the truth, which are no
// reason to do without the model.
constexpr double kImmaterial = 0.01;

// A conditional energy model draws samples for every row that it judges, and rows with cells take
// hundreds of points each: so many do. Rows are in a mixed order.
constexpr Eigen::Index kConditionalRows = 500;
constexpr Eigen::Index kTrainingRowsWithCells = 1000;
constexpr Eigen::Index kHeldOutRowsWithCells = 5000;
// Rows with gaps take thousands.
constexpr Eigen::Index kTrainingRowsWithGaps = 200;
constexpr Eigen::Index kHeldOutRowsWithGaps = 1000;

EncodedRows first_rows(const EncodedRows& rows, Eigen::Index most) {
  std::vector<std::size_t> first(static_cast<std::size_t>(std::min(most, rows.size())));
  std::iota(first.begin(), first.end(), std::size_t{0});
  return rows.take(first);
}

// Log densities of all rows in the user's units.
struct RowLogProbs {
  Vector<double> training;
  Vector<double> held_out;
  Vector<double> training_weights;
  Vector<double> held_out_weights;

  [[nodiscard]] const Vector<double>& judged() const {
    return held_out.size() > 0 ? held_out : training;
  }
  [[nodiscard]] const Vector<double>& weights() const {
    return held_out.size() > 0 ? held_out_weights : training_weights;
  }
};

// The held-out rows' log densities, if others have judged them.
struct KnownLogProbs {
  const Vector<double>& log_prob;
  const Vector<double>& weights;
};

template <typename LogProb>
RowLogProbs row_log_probs(const PreparedTable& table, const KnownLogProbs& known,
                          LogProb log_prob) {
  RowLogProbs result{log_prob(table.training), known.log_prob, table.training.weights,
                     known.weights};
  if (known.log_prob.size() == 0 && table.validation.size() > 0) {
    result.held_out = log_prob(table.validation);
    result.held_out_weights = table.validation.weights;
  }
  return result;
}

ModelReport describe(const RowLogProbs& rows, const RowLogProbs& gaussian) {
  return {.training = mean_nll(rows.training, rows.training_weights),
          .held_out = mean_nll(rows.held_out, rows.held_out_weights),
          .over_gauss = paired_difference(gaussian.judged(), rows.judged(), rows.weights())};
}

// Means over the last tenth of the history.
void summarize_multipliers(const std::vector<StepRecord>& history, FitReport& report) {
  const std::size_t tail = std::max<std::size_t>(history.size() / 10, 1);
  double balance_sum = 0;
  std::map<std::string, double> residual;
  double count = 0;
  for (std::size_t i = history.size() - std::min(tail, history.size()); i < history.size(); ++i) {
    const StepRecord& record = history[i];
    if (record.skipped) continue;
    balance_sum += record.balance;
    // A fixed bound need not be reached, and its multiplier then rests at 0.
    for (const ConstraintRecord& of : record.constraints) {
      if (of.delta > 0) residual[of.name] += of.residual;
    }
    ++count;
  }
  if (count == 0) return;
  report.balance = balance_sum / count;
  if (residual.empty()) return;
  double largest = 0;
  for (const auto& [name, sum] : residual) largest = std::max(largest, std::abs(sum));
  report.residual = largest / count;
}

void warn_about_training(const TrainResult& training, FitReport& report) {
  auto& warnings = report.warnings;
  if (training.stop_reason == StopReason::diverged) {
    warnings.push_back(
        fmt::format("training diverged after {} iterations; the model is the last good state: "
                    "lower the learning rates, or set optimizer.clip_norm=5",
                    training.iterations));
  } else if (training.skipped > 0) {
    warnings.push_back(fmt::format("{} of {} steps were not finite and were left out",
                                   training.skipped, training.iterations));
  }
  if (training.stop_reason == StopReason::time_limit) {
    warnings.push_back(
        fmt::format("stopped by the time limit after {} iterations", training.iterations));
  }
  const std::int64_t best = std::max(training.main.iteration, training.proxy.iteration);
  if (training.stop_reason == StopReason::finished && best > 0 &&
      static_cast<double>(best) > 0.98 * static_cast<double>(training.iterations)) {
    warnings.push_back(
        fmt::format("the best state was among the last of {} iterations: more may improve it",
                    training.iterations));
  }
}

void warn_about_fit(const PreparedTable& table, FitReport& report) {
  auto& warnings = report.warnings;
  const ModelReport& chosen = report.chosen == From::main ? report.main : *report.proxy;
  if (chosen.held_out.rows == 0) {
    warnings.push_back(fmt::format(
        "nothing was held out of {} rows: how well the model fits new ones is not known",
        table.rows()));
  } else if (chosen.held_out.rows < kFewHeldOut) {
    warnings.push_back(fmt::format("only {} rows were held out: their NLL is uncertain by {:.2g}",
                                   chosen.held_out.rows, chosen.held_out.standard_error));
  }
  constexpr std::size_t kVeryFew = 20;
  const std::size_t rows = table.rows() + static_cast<std::size_t>(table.validation.size());
  if (report.members == 1 && rows < kVeryFew) {
    warnings.push_back(
        fmt::format("{} rows say little: collect more, or leave columns out with --ignore", rows));
  }
  if (table.rows() < table.schema.features()) {
    warnings.push_back(fmt::format("more columns ({}) than training rows ({})",
                                   table.schema.features(), table.rows()));
  }
  for (std::string& warning : report.energy.warnings()) warnings.push_back(std::move(warning));
}

std::string make_verdict(const FitReport& report) {
  const ModelReport& chosen = report.chosen == From::main ? report.main : *report.proxy;
  const bool held_out = chosen.held_out.rows > 0;
  const char* rows = held_out ? "held-out rows" : "the training rows themselves";
  const PairedDifference& gain = chosen.over_gauss;
  if (report.training.stop_reason == StopReason::diverged) {
    return "training diverged: do not use this model without looking at it";
  }
  if (!std::isfinite(gain.mean)) return "the density of some rows is not finite";
  if (gain.mean > 2 * gain.standard_error) {
    return fmt::format("better than a Gaussian on {} by {:.3f} +- {:.3f} nats a row", rows,
                       gain.mean, gain.standard_error);
  }
  if (gain.mean > -std::max(2 * gain.standard_error, kImmaterial)) {
    return fmt::format(
        "not shown to be better than a Gaussian on {} ({:+.3f} +- {:.3f} nats a row): there may be "
        "nothing more to find, or too few rows to tell",
        rows, gain.mean, gain.standard_error);
  }
  return fmt::format("worse than a Gaussian on {} by {:.3f} +- {:.3f} nats a row: do not use it",
                     rows, -gain.mean, gain.standard_error);
}

}  // namespace

void assess(const PreparedTable& all, const TabularDensity<float>& density, FitReport& report,
            const HeldOutLogProbs& held_out) {
  PreparedTable table = all;
  // A mixture of several fits takes as many times as long.
  if (table.training.gaps.size() + table.validation.gaps.size() > 0) {
    table.training = first_rows(table.training, kTrainingRowsWithGaps / report.members);
    table.validation = first_rows(table.validation, kHeldOutRowsWithGaps);
  } else if (table.training.cells.open() > 0) {
    table.training = first_rows(table.training, kTrainingRowsWithCells / report.members);
    table.validation = first_rows(table.validation, kHeldOutRowsWithCells);
  }
  const TableBaseline baseline(row_shape(all.schema), all.training);
  const Vector<double> none;
  const auto gaussian_of = [&](const PreparedTable& rows) {
    return row_log_probs(rows, {held_out.gaussian, all.training.weights},
                         [&](const EncodedRows& part) { return baseline.log_prob(part); });
  };
  const auto of = [&](const PreparedTable& rows, const RowLogProbs& gaussian, From from) {
    return describe(
        row_log_probs(rows, {from == From::main ? held_out.main : none, all.training.weights},
                      [&](const EncodedRows& part) { return density.score(part, from).log_prob; }),
        gaussian);
  };
  const RowLogProbs gaussian = gaussian_of(table);
  report.gaussian = describe(gaussian, gaussian);
  report.main = of(table, gaussian, From::main);
  if (density.proxy()) {
    const bool few = !density.proxy()->normalized() && table.schema.context_features() > 0;
    PreparedTable rows = table;
    if (few) {
      rows.training = first_rows(table.training, kConditionalRows);
      rows.validation = first_rows(table.validation, kConditionalRows);
    }
    const RowLogProbs own_gaussian = few ? gaussian_of(rows) : gaussian;
    report.proxy = of(rows, own_gaussian, From::proxy);
    // Held-out rows decide which of the two speaks. An energy model also has to be one whose
    // normaliser and samples can be trusted.
    const bool usable = report.energy.conditions == 0 || report.energy.usable();
    const MeanNll main = few ? of(rows, own_gaussian, From::main).held_out : report.main.held_out;
    if (usable && main.rows > 0 && report.proxy->held_out.nll < main.nll) {
      report.chosen = From::proxy;
    }
  }
  if (report.proxy) summarize_multipliers(report.training.history, report);
  warn_about_training(report.training, report);
  warn_about_fit(all, report);
  report.verdict = make_verdict(report);
}

}  // namespace jeffreys

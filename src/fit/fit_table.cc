#include "jeffreys/fit/fit_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "fit/several_fits.h"
#include "jeffreys/base/input_error.h"

namespace jeffreys {
namespace {

constexpr std::size_t kFewFeatures = 4;  // where wide tails gain nothing
constexpr double kDegreesOfFreedom = 5;

// Several fits gain more from one another than each of them from a proxy, and are cheaper without;
// and single rows far out decide less if their base has wide tails: docs/evidence.md, "Several
// fits".
FitOptions default_member_options(std::size_t rows, std::size_t features,
                                  std::size_t context_features, const ModelChoice& proxy) {
  FitOptions options = default_fit_options(rows, features, context_features, proxy);
  options.train.method = Method::mle;
  if (features > kFewFeatures) options.flow.student_t = kDegreesOfFreedom;
  return options;
}

// Of these only what concerns the rows is looked at.
FitOptions row_options(const Table& table, const SchemaOptions& columns,
                       const ChosenSettings& settings, const DefaultOptions& by_size) {
  FitOptions options = by_size(table.rows(), 1, 1, FitOptions().proxy);
  options.schema = columns;
  settings.apply_to(options);
  return options;
}

constexpr std::size_t kRowsOfAPart = 4;
constexpr int kUsualMembers = 10;
constexpr std::size_t kManyRows = 20000;

// Usable rows that do not have the weight 0.
std::size_t counting_rows(const Table& table, const SchemaOptions& schema) {
  const std::vector<std::size_t> rows = usable_rows(table, schema);
  if (schema.weights.empty()) return rows.size();
  return static_cast<std::size_t>((row_weights(table, schema.weights, rows).array() > 0).count());
}

int member_count(const Table& table, const FitOptions& options, const ChosenSettings& settings) {
  const std::size_t rows = counting_rows(table, options.schema);
  const bool chosen = settings.has("method") || settings.has("proxy") || settings.has("main");
  if (options.members == 0) {
    return chosen || options.validation_fraction == 0 ? 1 : default_table_members(rows);
  }
  if (options.members < 0) {
    throw std::invalid_argument(
        fmt::format("members: expected a whole number from 0 on, got {}", options.members));
  }
  if (options.members == 1) return 1;
  if (options.validation_fraction == 0) {
    throw std::invalid_argument(
        fmt::format("members={} does not go with validation.fraction=0, since each of them holds "
                    "rows out: leave one out",
                    options.members));
  }
  const std::size_t least = kRowsOfAPart * static_cast<std::size_t>(options.members);
  if (rows < least) {
    throw InputError(table.source, fmt::format("{} usable rows are too few for {} fits, which "
                                               "need {}: take fewer with --members, or more rows",
                                               rows, options.members, least));
  }
  return options.members;
}

}  // namespace

int table_members(const Table& table, const SchemaOptions& columns,
                  const ChosenSettings& settings) {
  const FitOptions options = row_options(table, columns, settings, default_fit_options);
  const int members = member_count(table, options, settings);
  if (members == 1 && options.distill) {
    throw std::invalid_argument(
        "distill=true: this is a single fit, which is one flow already: leave it out, or ask for "
        "several fits, for example with members=10");
  }
  return members;
}

int default_table_members(std::size_t rows) {
  return rows < kRowsOfAPart * kUsualMembers || rows >= kManyRows ? 1 : kUsualMembers;
}

FitPlan plan_fit(const Table& table, const SchemaOptions& columns, const ChosenSettings& settings,
                 const DefaultOptions& by_size, HoldOut hold_out) {
  FitOptions data_options = row_options(table, columns, settings, by_size);
  check_cells(table, data_options.schema);
  if (hold_out == HoldOut::none) data_options.validation_fraction = 0;
  PreparedTable prepared = prepare(ordered_by_content(table, columns.ignore), data_options);
  const std::size_t features = prepared.schema.features();
  const std::size_t conditions = prepared.schema.context_features();
  const auto defaults_for = [=](std::size_t rows) {
    return settings.defaults(by_size, rows, features, conditions);
  };
  const auto options_for = [=](std::size_t rows) {
    FitOptions options = defaults_for(rows);
    options.schema = columns;
    settings.apply_to(options);
    options.validate();
    return options;
  };
  return {std::move(prepared), defaults_for, options_for, settings};
}

TableFit fit_table(const Table& table, const SchemaOptions& columns, const ChosenSettings& settings,
                   const FitRun& run) {
  const int members = table_members(table, columns, settings);
  if (members == 1) return fit_table(plan_fit(table, columns, settings), run);
  return fit_several(plan_fit(table, columns, settings, default_member_options, HoldOut::none),
                     members, run);
}

TableFit fit_table(FitPlan plan, const FitRun& run) {
  if (run.only_member) throw std::invalid_argument("member: this is a single fit, without members");
  const std::size_t rows = plan.table.rows();
  FitOptions options = plan.options_for(rows);
  options.train.checkpoint.path = run.checkpoint;
  run.check_unfinished();
  Fit made = fit(plan.table, options, run, "fit");
  if (made.report.training.stop_reason != StopReason::interrupted) {
    const bool kept = plan.table.calibration.size() > 0;
    made.density.calibrate(kept ? plan.table.calibration : plan.table.validation, kept);
  }
  return {std::move(plan.table), std::move(options), plan.defaults_for(rows), std::move(made)};
}

}  // namespace jeffreys

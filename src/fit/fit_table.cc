#include "jeffreys/fit/fit_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "fit/several_fits.h"
#include "jeffreys/base/input_error.h"

namespace jeffreys {
namespace {

// Several fits gain more from one another than each of them from a proxy, and are cheaper without:
// docs/evidence.md, "Several fits".
FitOptions default_member_options(std::size_t rows, std::size_t features,
                                  std::size_t context_features, const ModelChoice& proxy) {
  FitOptions options = default_fit_options(rows, features, context_features, proxy);
  options.train.method = Method::mle;
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

// What several fits do not go with; empty: these rows may have several. The rows that members leave
// out say how much each counts, by scores that would take thousands of points for a row with gaps.
std::string against_several(const Table& table, const SchemaOptions& schema) {
  if (!schema.weights.empty()) return "weights of rows";
  if (schema.missing != Missing::keep) return {};
  SchemaOptions complete = schema;
  complete.missing = Missing::drop;
  const bool gaps = usable_rows(table, complete).size() < usable_rows(table, schema).size();
  return gaps ? "rows with missing cells" : "";
}

// Of several that do go with the rows.
int member_count(const Table& table, const FitOptions& options, const ChosenSettings& settings) {
  const std::size_t rows = usable_rows(table, options.schema).size();
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
    throw InputError(table.source, fmt::format("{} complete rows are too few for {} fits, which "
                                               "need {}: take fewer with --members, or more rows",
                                               rows, options.members, least));
  }
  return options.members;
}

struct MemberPlan {
  int members = 1;       // that rows like these have
  std::string obstacle;  // why there is a single fit all the same, if there is

  [[nodiscard]] bool single() const { return members == 1 || !obstacle.empty(); }
};

MemberPlan plan_members(const Table& table, const SchemaOptions& columns,
                        const ChosenSettings& settings) {
  const FitOptions options = row_options(table, columns, settings, default_fit_options);
  std::string obstacle = against_several(table, options.schema);
  if (options.members > 1 && !obstacle.empty()) {
    throw std::invalid_argument(
        fmt::format("members={} does not go with {}: leave it out, or set members=1",
                    options.members, obstacle));
  }
  return {member_count(table, options, settings), std::move(obstacle)};
}

}  // namespace

int table_members(const Table& table, const SchemaOptions& columns,
                  const ChosenSettings& settings) {
  const MemberPlan plan = plan_members(table, columns, settings);
  return plan.single() ? 1 : plan.members;
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
  const MemberPlan plan = plan_members(table, columns, settings);
  if (plan.single()) {
    TableFit made = fit_table(plan_fit(table, columns, settings), run);
    if (plan.members > 1) {
      made.fit.report.warnings.push_back(
          fmt::format("a single fit instead of {}, because several do not go with {}", plan.members,
                      plan.obstacle));
    }
    return made;
  }
  return fit_several(plan_fit(table, columns, settings, default_member_options, HoldOut::none),
                     plan.members, run);
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

#include "jeffreys/sbi/committee_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "base/checks.h"
#include "base/fingerprint.h"
#include "jeffreys/base/input_error.h"
#include "jeffreys/evaluate/gaussian_baseline.h"
#include "jeffreys/fit/member_fits.h"
#include "sbi/committee.h"

namespace jeffreys {
namespace {

Matrix<double> columns_of(const Table& table, const std::vector<std::string>& names,
                          const std::vector<std::size_t>& rows) {
  Matrix<double> result(static_cast<Eigen::Index>(rows.size()),
                        static_cast<Eigen::Index>(names.size()));
  for (std::size_t c = 0; c < names.size(); ++c) {
    const std::vector<double>& numbers = table.find(names[c])->numbers;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      result(static_cast<Eigen::Index>(r), static_cast<Eigen::Index>(c)) = numbers[rows[r]];
    }
  }
  return result;
}

// A table with the original's columns, those of the pairs filled anew; the others say nothing, or
// the same in all rows: that of one row will do.
Table as_table(const Table& original, std::size_t row, const Posterior& names,
               const PairRows& pairs) {
  const Table parameters = table_from_matrix(pairs.parameters, names.parameter_names());
  const Table outcomes = table_from_matrix(pairs.outcomes, names.outcome_names());
  Table table{original.source, {}, {}};
  for (const Column& column : original.columns) {
    const Column* filled = parameters.find(column.name);
    if (filled == nullptr) filled = outcomes.find(column.name);
    if (filled != nullptr) {
      table.columns.push_back(*filled);
      continue;
    }
    Column same = column;
    if (same.is_text()) {
      same.codes.assign(parameters.rows(), column.codes[row]);
    } else {
      same.numbers.assign(parameters.rows(), column.numbers[row]);
    }
    same.text_cells = 0;
    table.columns.push_back(std::move(same));
  }
  return table;
}

// All the work of fit_committee.
class CommitteeFitting {
 public:
  CommitteeFitting(const Table& pairs, const std::optional<Prior>& prior,
                   const std::function<FitOptions(std::size_t)>& options_for,
                   const CommitteeOptions& committee, const FitRun& run)
      : pairs_(pairs),
        prior_(prior),
        options_for_(options_for),
        committee_(committee),
        run_(run),
        options_(options_for(pairs.rows())),
        rows_(usable_rows(pairs, options_.schema)) {
    committee_.validate();
    if (committee_.left_out_by == 0) committee_.left_out_by = committee_.members < 5 ? 1 : 2;
    const auto least = static_cast<std::size_t>(committee_.members) * kPairsPerPart;
    if (rows_.size() < least) {
      throw InputError(pairs.source,
                       fmt::format("{} pairs are too few for {} members, which need {}: take fewer "
                                   "members, or more pairs",
                                   rows_.size(), committee_.members, least));
    }
    parts_.emplace(rows_.size(), committee_.members, committee_.left_out_by, options_.seed);
  }

  CommitteeFit fit_all() {
    FittedMembers fitted = fit_members(jobs(), run_);
    if (fitted.unfinished) {
      FitReport report = std::move(fitted.unfinished->report);
      return {table_of(0), {std::move(fitted.unfinished->density), std::move(report)}, 0, {}};
    }
    std::vector<Posterior> members;
    for (int m = 0; m < committee_.members; ++m) {
      Member& member = fitted.members[static_cast<std::size_t>(m)];
      if (member.stop_reason == StopReason::diverged) return diverged(m, std::move(member));
      members.push_back(make_posterior(table_of(m), std::move(member.density), prior_));
    }
    training_seconds_ = fitted.seconds;
    use_threads(members);
    if (run_.tell) {
      run_.tell(
          fmt::format("{} fits are done; asking them about the pairs that they left out, and "
                      "for what the last fit is to learn",
                      committee_.members));
    }
    return learn_from(std::move(members));
  }

 private:
  static constexpr std::size_t kPairsPerPart = 5;

  [[nodiscard]] bool stopped() const { return run_.should_stop && run_.should_stop(); }

  static CommitteeFit interrupted(PreparedTable table, TabularDensity<float> density) {
    CommitteeFit result{std::move(table), {std::move(density), {}}, 0, {}};
    result.fit.report.training.stop_reason = StopReason::interrupted;
    return result;
  }

  [[nodiscard]] PreparedTable table_of(int member) const {
    const Split split = parts_->split(member);
    return prepare(pairs_, options_for_(split.training.size()), split);
  }

  [[nodiscard]] CommitteeFit diverged(int m, Member member) const {
    PreparedTable table = table_of(m);
    FitReport report;
    report.training.stop_reason = member.stop_reason;
    report.training.iterations = member.iterations;
    report.training.history = member.density.history;
    assess(table, member.density, report);
    const std::size_t rows = table.rows();
    return {std::move(table), {std::move(member.density), std::move(report)}, rows, {}};
  }

  // The members begin apart.
  [[nodiscard]] MemberJobs jobs() const {
    return {.members = committee_.members,
            .fits = committee_.members + 1,
            .table = [this](int m) { return table_of(m); },
            .options =
                [this](int m, std::size_t rows) {
                  FitOptions options = options_for_(rows);
                  options.seed += static_cast<std::uint64_t>(m) + 1;
                  return options;
                },
            .fingerprint = [this](int m) { return fingerprint(m); }};
  }

  // All draws for an outcome are held out, or none: otherwise the last flow could learn the
  // outcomes by heart, and nothing would say so.
  [[nodiscard]] Split split_of_draws() const {
    const auto observations = static_cast<std::size_t>(committee_.observations);
    const auto draws = static_cast<std::size_t>(committee_.draws);
    const Split outcomes =
        split_rows(observations, validation_fraction(observations * draws), options_.seed);
    const auto rows_of = [&](const std::vector<std::size_t>& chosen) {
      std::vector<std::size_t> rows;
      for (const std::size_t outcome : chosen) {
        for (std::size_t k = 0; k < draws; ++k) rows.push_back(outcome * draws + k);
      }
      return rows;
    };
    return {rows_of(outcomes.training), rows_of(outcomes.validation)};
  }

  // All that a member depends on.
  [[nodiscard]] std::string fingerprint(int member) const {
    FitOptions options = options_for_(parts_->split(member).training.size());
    options.train.time_limit = 0;
    std::string text =
        fmt::format("member {} of {}, left out by {}, {} pairs, {:016x};", member + 1,
                    committee_.members, committee_.left_out_by, rows_.size(), digest());
    for (const Setting& setting : list_settings(options)) {
      text += fmt::format("{}={};", setting.key, setting.value);
    }
    return text + (prior_ ? prior_->to_json() : "");
  }

  [[nodiscard]] std::uint64_t digest() const {
    Fingerprint numbers;
    for (const Column& column : pairs_.columns) {
      numbers.add(std::span<const double>(column.numbers));
    }
    return numbers.value();
  }

  void use_threads(std::vector<Posterior>& members) const {
    if (run_.threads < 2) return;
    const auto pool = std::make_shared<ThreadPool>(run_.threads);
    for (Posterior& member : members) member.use_threads(pool);
  }

  [[nodiscard]] CommitteeFit learn_from(std::vector<Posterior> members) {
    Split everything;
    for (std::size_t i = 0; i < rows_.size(); ++i) everything.training.push_back(i);
    PreparedTable all = prepare(pairs_, options_, everything);
    const Posterior first = members.front();
    const PairRows pairs{columns_of(pairs_, first.parameter_names(), rows_),
                         columns_of(pairs_, first.outcome_names(), rows_)};
    const Committee committee(std::move(members), pairs, parts_->part(), committee_.left_out_by,
                              options_.seed);
    const PairRows drawn =
        committee.draw(committee_.observations, committee_.draws, [&] { return stopped(); });
    if (drawn.parameters.rows() == 0) return interrupted(std::move(all), first.density());
    // By the schema of all pairs.
    const PreparedTable table =
        prepare(as_table(pairs_, rows_.front(), first, drawn), all.schema, split_of_draws());
    Fit last = fit_after_members(table, options_for_(table.rows()),
                                 {committee_.members, training_seconds_}, run_);
    CommitteeFit result{std::move(all), std::move(last), table.rows(), {}};
    if (result.fit.report.training.stop_reason == StopReason::interrupted) return result;
    report(committee.left_out(), result);
    return result;
  }

  // Log densities of all pairs, each by the mixture of Gaussians of the members that left it out:
  // as the members' own densities are judged, on pairs that neither has seen. `table` has all
  // pairs.
  [[nodiscard]] Vector<double> gaussian_left_out(const PreparedTable& table) const {
    constexpr double kNone = -std::numeric_limits<double>::infinity();
    Vector<double> result = Vector<double>::Constant(table.training.size(), kNone);
    for (int member = 0; member < committee_.members; ++member) {
      const Split split = parts_->split(member);
      const GaussianBaseline gaussian(table.training.x(split.training, Eigen::all),
                                      table.training.context(split.training, Eigen::all));
      const Vector<double> log_prob =
          gaussian.log_prob(table.training.x(split.validation, Eigen::all),
                            table.training.context(split.validation, Eigen::all));
      for (std::size_t i = 0; i < split.validation.size(); ++i) {
        double& sum = result(static_cast<Eigen::Index>(split.validation[i]));
        const double value = log_prob(static_cast<Eigen::Index>(i));
        const double most = std::max(sum, value);
        if (std::isfinite(most))
          sum = most + std::log(std::exp(sum - most) + std::exp(value - most));
      }
    }
    return result.array() - std::log(committee_.left_out_by) + table.training.log_jacobian.array();
  }

  // All pairs were left out by some of the members, which speak for the posterior.
  void report(const Committee::LeftOut& left_out, CommitteeFit& result) const {
    PreparedTable& table = result.table;
    table.validation = table.training;
    FitReport report;
    report.training = std::move(result.fit.report.training);
    assess(table, result.fit.density, report, {left_out.log_prob, gaussian_left_out(table)});
    report.members = committee_.members;
    report.held_out_by = committee_.left_out_by;
    result.fit.report = std::move(report);
    const auto inside = std::count_if(left_out.places.begin(), left_out.places.end(),
                                      [](double place) { return place < 0.9; });
    result.report = {.alone = mean_nll(left_out.log_prob_alone),
                     .corrected = mean_nll(left_out.log_prob),
                     .coverage90 = static_cast<double>(inside) / static_cast<double>(rows_.size())};
  }

  const Table& pairs_;
  const std::optional<Prior>& prior_;
  const std::function<FitOptions(std::size_t)>& options_for_;
  CommitteeOptions committee_;
  const FitRun& run_;
  FitOptions options_;
  std::vector<std::size_t> rows_;  // of the table: complete ones
  std::optional<MemberParts> parts_;
  double training_seconds_ = 0;  // of the fits up to now
};

}  // namespace

void CommitteeOptions::validate() const {
  check_between("CommitteeOptions.members", members, 2, 100);
  check_between("CommitteeOptions.left_out_by", left_out_by, 0, members - 1);
  check_at_least("CommitteeOptions.observations", observations, 10);
  check_at_least("CommitteeOptions.draws", draws, 1);
}

int default_members(std::size_t pairs, std::size_t parameters) {
  constexpr std::size_t kMostParameters = 10;
  constexpr std::size_t kFew = 100;
  constexpr std::size_t kMany = 5000;
  constexpr std::size_t kEnough = 20000;
  if (pairs < kFew || pairs >= kEnough || parameters > kMostParameters) return 1;
  return pairs < kMany ? 10 : 5;
}

CommitteeFit fit_committee(const Table& pairs, const std::optional<Prior>& prior,
                           const std::function<FitOptions(std::size_t rows)>& options_for,
                           const CommitteeOptions& committee, const FitRun& run) {
  return CommitteeFitting(pairs, prior, options_for, committee, run).fit_all();
}

}  // namespace jeffreys

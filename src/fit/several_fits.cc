#include "fit/several_fits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "base/fingerprint.h"
#include "fit/simple_models.h"
#include "jeffreys/evaluate/stacking.h"
#include "jeffreys/fit/member_fits.h"
#include "jeffreys/model/density_mixture.h"

namespace jeffreys {
namespace {

// What has less weight is left out: it would cost as much as the others at every evaluation.
constexpr double kLeastWeight = 0.01;

// Densities of one kind that would share a weight, and what those say about each row that have not
// seen it.
struct Candidate {
  std::string name;
  std::vector<AnyDensity<float>> densities;
  Vector<double> held_out;  // log densities in the user's units
};

// All the work of fit_several.
class SeveralFits {
 public:
  SeveralFits(FitPlan plan, int members, const FitRun& run)
      : plan_(std::move(plan)),
        run_(run),
        rows_(plan_.table.training),
        options_(plan_.options_for(plan_.table.rows())),
        shape_(row_shape(plan_.table.schema)),
        parts_(plan_.table.rows(), members, left_out_by(members), options_.seed),
        kinds_(kind_count()) {}

  TableFit fit_all() {
    run_.check_unfinished();
    FittedMembers fitted = fit_members(jobs(), run_);
    if (fitted.unfinished) return finished(std::move(*fitted.unfinished));
    if (run_.tell) {
      run_.tell(fmt::format("{} fits are done; weighing them by the rows that they left out",
                            parts_.members()));
    }
    FitReport report;
    summarize(fitted, report);
    std::vector<Candidate> candidates = member_candidates(fitted.members, report);
    Candidate gaussian = gaussian_candidate();
    HeldOutLogProbs held_out{.gaussian = gaussian.held_out};
    if (options_.simple) {
      candidates.push_back(std::move(gaussian));
      if (std::optional<Candidate> mixture = mixture_candidate()) {
        candidates.push_back(std::move(*mixture));
      }
    }
    Fit made = blend(std::move(candidates), std::move(report), held_out);
    // Of the first, for figures and records.
    made.density.history = fitted.members.front().density.history;
    made.density.evaluations = fitted.members.front().density.evaluations;
    made.report.training.history = made.density.history;
    made.report.training.evaluations = made.density.evaluations;
    return finished(std::move(made));
  }

 private:
  [[nodiscard]] int left_out_by(int members) const {
    const double share = options_.validation_fraction;
    if (share < 0) return members < 5 ? 1 : 2;
    return std::clamp(static_cast<int>(std::lround(share * members)), 1, members - 1);
  }

  // Flows with and without an affine transform, in turns, unless the user has chosen: with it some
  // tables gain much and others lose (docs/evidence.md), and the rows that are left out tell which.
  [[nodiscard]] int kind_count() const {
    const bool both = options_.main.name == "flow" && shape_.features > 2 &&
                      parts_.members() % 2 == 0 && parts_.left_out_by() == 2 &&
                      !plan_.settings.has("flow.affine");
    return both ? 2 : 1;
  }
  [[nodiscard]] int kind_of(int member) const { return member % kinds_; }
  [[nodiscard]] std::string name_of(int kind, const std::string& model) const {
    return kind == 1 ? "whitened " + model : model;
  }

  TableFit finished(Fit made) {
    const std::size_t rows = parts_.split(0).training.size();
    return {std::move(plan_.table), plan_.options_for(rows), plan_.defaults_for(rows),
            std::move(made)};
  }

  // The rows that stop a member are the first part that it leaves out.
  [[nodiscard]] MemberJobs jobs() const {
    return {.members = parts_.members(),
            .fits = parts_.members(),
            .table =
                [this](int m) {
                  PreparedTable table{.schema = plan_.table.schema};
                  table.training = rows_.take(parts_.split(m).training);
                  table.validation = rows_.take(parts_.rows_of(m));
                  return table;
                },
            .options =
                [this](int m, std::size_t rows) {
                  FitOptions options = plan_.options_for(rows);
                  options.seed += static_cast<std::uint64_t>(m) + 1;
                  if (kind_of(m) == 1) options.flow.affine = true;
                  return options;
                },
            .fingerprint = [this](int m) { return fingerprint(m); }};
  }

  [[nodiscard]] std::string fingerprint(int member) const {
    FitOptions options = plan_.options_for(parts_.split(member).training.size());
    options.train.time_limit = 0;
    Fingerprint numbers;
    numbers.add(rows_.x);
    numbers.add(rows_.context);
    std::string text =
        fmt::format("member {} of {}, left out by {}, {} rows, {:016x};", member + 1,
                    parts_.members(), parts_.left_out_by(), rows_.size(), numbers.value());
    for (const Setting& setting : list_settings(options)) {
      text += fmt::format("{}={};", setting.key, setting.value);
    }
    return text;
  }

  void summarize(const FittedMembers& fitted, FitReport& report) const {
    const auto count = [&](StopReason reason) {
      return std::count_if(fitted.members.begin(), fitted.members.end(),
                           [&](const Member& member) { return member.stop_reason == reason; });
    };
    report.members = parts_.members();
    report.held_out_by = parts_.left_out_by();
    report.training.seconds = fitted.seconds;
    for (const Member& member : fitted.members) report.training.iterations += member.iterations;
    const auto diverged = count(StopReason::diverged);
    if (diverged == parts_.members()) report.training.stop_reason = StopReason::diverged;
    if (diverged > 0 && diverged < parts_.members()) {
      report.warnings.push_back(fmt::format(
          "{} of {} fits diverged, and count by their last good state", diverged, report.members));
    }
    if (const auto limited = count(StopReason::time_limit); limited > 0) {
      report.warnings.push_back(
          fmt::format("the time limit stopped {} of {} fits", limited, report.members));
    }
  }

  // Scores of every row by the models of the members that left it out: [rows, left_out_by], where
  // those that it stopped come first.
  template <typename ScoreOfMember>
  [[nodiscard]] Matrix<double> left_out_scores(const ScoreOfMember& score) const {
    Matrix<double> result(rows_.size(), parts_.left_out_by());
    for (int m = 0; m < parts_.members(); ++m) {
      const std::vector<std::size_t> rows = parts_.split(m).validation;
      const Vector<double> scores = score(m, rows_.take(rows));
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto part = static_cast<int>(parts_.part()[rows[i]]);
        const int place = (part + parts_.members() - m) % parts_.members();
        result(static_cast<Eigen::Index>(rows[i]), place) = scores(static_cast<Eigen::Index>(i));
      }
    }
    return result;
  }

  // By how much scores are higher for the members that the rows have stopped. Of two kinds that
  // take turns, each row has stopped one and not the other, so that the differences between the
  // kinds tell.
  [[nodiscard]] double optimism_of(const Matrix<double>& scores) const {
    if (scores.cols() < 2) return 0;
    const Vector<double> gain =
        scores.col(0) - scores.rightCols(scores.cols() - 1).rowwise().mean();
    if (!gain.allFinite()) return 0;
    if (kinds_ == 1) return std::max(gain.mean(), 0.0);
    double mean = 0;  // of the two kinds, so that the difference between them cancels
    for (int kind = 0; kind < 2; ++kind) {
      double sum = 0;
      double count = 0;
      for (std::size_t i = 0; i < parts_.part().size(); ++i) {
        if (kind_of(static_cast<int>(parts_.part()[i])) != kind) continue;
        sum += gain(static_cast<Eigen::Index>(i));
        ++count;
      }
      mean += 0.5 * sum / count;
    }
    return std::max(mean, 0.0);
  }

  // The mixture of those of one kind that left a row out, without what those gain that were stopped
  // by it.
  [[nodiscard]] Vector<double> mixed_fairly(Matrix<double> scores, double optimism,
                                            std::optional<int> kind) const {
    scores.col(0).array() -= optimism;
    Vector<double> result(scores.rows());
    for (Eigen::Index i = 0; i < scores.rows(); ++i) {
      std::vector<double> own;
      const auto part = static_cast<int>(parts_.part()[static_cast<std::size_t>(i)]);
      const std::vector<int> members = parts_.leaving_out(part);
      for (std::size_t k = 0; k < members.size(); ++k) {
        if (!kind || kind_of(members[k]) == *kind) {
          own.push_back(scores(i, static_cast<Eigen::Index>(k)));
        }
      }
      const std::vector<double> even(own.size(), 1.0 / static_cast<double>(own.size()));
      result(i) =
          mixed_log_prob(Eigen::Map<const Matrix<double>>(own.data(), 1, std::ssize(own)), even)(0);
    }
    return result;
  }

  [[nodiscard]] Vector<double> score(const AnyDensity<float>& density,
                                     const EncodedRows& rows) const {
    TabularDensity<float> whole(plan_.table.schema, density);
    if (run_.threads > 1) whole.use_threads(std::make_shared<ThreadPool>(run_.threads));
    return whole.score(rows, From::main).log_prob;
  }

  [[nodiscard]] Matrix<double> scores_of(const std::vector<AnyDensity<float>>& by_member) const {
    return left_out_scores([&](int m, const EncodedRows& rows) {
      return score(by_member[static_cast<std::size_t>(m)], rows);
    });
  }

  // One for each kind. Returns the optimism.
  double add_candidates(const std::string& model, std::vector<AnyDensity<float>> by_member,
                        std::vector<Candidate>& candidates) const {
    const Matrix<double> scores = scores_of(by_member);
    const double optimism = optimism_of(scores);
    for (int kind = 0; kind < kinds_; ++kind) {
      Candidate candidate{name_of(kind, model), {}, mixed_fairly(scores, optimism, kind)};
      for (int m = 0; m < parts_.members(); ++m) {
        if (kind_of(m) == kind) {
          candidate.densities.push_back(std::move(by_member[static_cast<std::size_t>(m)]));
        }
      }
      candidates.push_back(std::move(candidate));
    }
    return optimism;
  }

  // The main models, and the proxies where they are normalised and can be drawn from.
  [[nodiscard]] std::vector<Candidate> member_candidates(const std::vector<Member>& members,
                                                         FitReport& report) const {
    std::vector<AnyDensity<float>> mains;
    std::vector<AnyDensity<float>> proxies;
    for (const Member& member : members) {
      mains.emplace_back(member.density.main().clone());
      const UnnormalizedDensity<float>* proxy = member.density.proxy();
      if (proxy != nullptr && proxy->as_density() != nullptr) proxies.emplace_back(proxy->clone());
    }
    std::vector<Candidate> result;
    report.optimism = add_candidates(options_.main.name, std::move(mains), result);
    if (proxies.size() == members.size()) {
      add_candidates(options_.proxy.name + " proxy", std::move(proxies), result);
    }
    return result;
  }

  [[nodiscard]] Candidate gaussian_candidate() const {
    Candidate result{"Gaussian", {gaussian_model(shape_, rows_)}, Vector<double>(rows_.size())};
    for (int part = 0; part < parts_.members(); ++part) {
      const std::vector<std::size_t> rows = parts_.rows_of(part);
      result.held_out(rows) =
          score(gaussian_model(shape_, rows_.take(parts_.rows_without(part))), rows_.take(rows));
    }
    return result;
  }

  [[nodiscard]] std::optional<Candidate> mixture_candidate() const {
    std::vector<AnyDensity<float>> mixtures;
    for (int m = 0; m < parts_.members(); ++m) {
      std::optional<AnyDensity<float>> mixture =
          mixture_model(shape_, rows_.take(parts_.split(m).training), rows_.take(parts_.rows_of(m)),
                        options_.seed + static_cast<std::uint64_t>(m));
      if (!mixture) return {};
      mixtures.push_back(std::move(*mixture));
    }
    const Matrix<double> scores = scores_of(mixtures);
    const double gain = (scores.col(0) - scores.col(scores.cols() - 1)).mean();
    const double optimism = std::isfinite(gain) ? std::max(gain, 0.0) : 0.0;
    Vector<double> held_out = mixed_fairly(scores, optimism, {});
    return Candidate{"mixture", std::move(mixtures), std::move(held_out)};
  }

  // Of each row by the candidates with the weights that the rows of the other parts give them.
  [[nodiscard]] Vector<double> judged(const Matrix<double>& held_out) const {
    Vector<double> result(held_out.rows());
    for (int part = 0; part < parts_.members(); ++part) {
      const std::vector<std::size_t> rows = parts_.rows_of(part);
      result(rows) =
          mixed_log_prob(held_out(rows, Eigen::all),
                         stacking_weights(held_out(parts_.rows_without(part), Eigen::all)));
    }
    return result;
  }

  [[nodiscard]] Fit blend(std::vector<Candidate> candidates, FitReport report,
                          HeldOutLogProbs by_others) const {
    Matrix<double> held_out(rows_.size(), std::ssize(candidates));
    for (std::size_t k = 0; k < candidates.size(); ++k) {
      held_out.col(static_cast<Eigen::Index>(k)) = candidates[k].held_out;
    }
    by_others.main = judged(held_out);
    const std::vector<double> weights = stacking_weights(held_out);
    std::vector<AnyDensity<float>> parts;
    std::vector<double> shares;
    for (std::size_t k = 0; k < candidates.size(); ++k) {
      const bool used = weights[k] >= kLeastWeight;
      const auto count = candidates[k].densities.size();
      report.blend.push_back({candidates[k].name, static_cast<int>(count), used ? weights[k] : 0,
                              mean_nll(candidates[k].held_out)});
      if (!used) continue;
      for (AnyDensity<float>& density : candidates[k].densities) {
        parts.push_back(std::move(density));
        shares.push_back(weights[k] / static_cast<double>(count));
      }
    }
    const double used = std::accumulate(shares.begin(), shares.end(), 0.0);
    for (BlendShare& share : report.blend) share.weight /= used;
    Fit result{
        TabularDensity<float>(plan_.table.schema, DensityMixture<float>(std::move(parts), shares)),
        std::move(report)};
    if (run_.threads > 1) result.density.use_threads(std::make_shared<ThreadPool>(run_.threads));
    assess(plan_.table, result.density, result.report, by_others);
    if (plan_.table.calibration.size() > 0) {
      result.density.calibrate(plan_.table.calibration, true);
    } else {
      result.density.calibrate_by(by_others.main);
    }
    return result;
  }

  FitPlan plan_;
  const FitRun& run_;
  const EncodedRows& rows_;
  FitOptions options_;
  RowShape shape_;
  MemberParts parts_;
  int kinds_;
};

}  // namespace

TableFit fit_several(FitPlan plan, int members, const FitRun& run) {
  return SeveralFits(std::move(plan), members, run).fit_all();
}

}  // namespace jeffreys

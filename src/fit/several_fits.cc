#include "fit/several_fits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "base/fingerprint.h"
#include "fit/distill.h"
#include "fit/gap_scores.h"
#include "fit/left_out_rows.h"
#include "fit/simple_models.h"
#include "fit/table_baseline.h"
#include "jeffreys/evaluate/stacking.h"
#include "jeffreys/fit/member_fits.h"
#include "jeffreys/model/density_mixture.h"

namespace jeffreys {
namespace {

// What has less weight is left out: it would cost as much as the others at every evaluation.
constexpr double kLeastWeight = 0.01;
constexpr double kDegreesOfFreedom = 5;  // of the base of a flow that learns the mixture

// Densities of one kind that would share a weight, and what those say about each row that have not
// seen it.
struct Candidate {
  std::string name;
  std::vector<AnyDensity<float>> densities;
  Vector<double> held_out;  // log densities in the user's units
};

// A mixture among the parts of a mixture counts as its own parts.
void add_parts(AnyDensity<float> density, double share, std::vector<AnyDensity<float>>& parts,
               std::vector<double>& shares) {
  const auto* mixture = dynamic_cast<const DensityMixture<float>*>(&*density);
  if (mixture == nullptr) {
    parts.push_back(std::move(density));
    shares.push_back(share);
    return;
  }
  for (std::size_t k = 0; k < mixture->size(); ++k) {
    parts.emplace_back(mixture->component(k).clone());
    shares.push_back(share * mixture->weights()[k]);
  }
}

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
    left_out_.emplace(plan_.table, parts_, kinds_, options_.seed, run_.threads);
    FitReport report;
    summarize(fitted, report);
    try {
      return finished(blend_all(fitted, report));
    } catch (const Interrupted&) {
      report.training.stop_reason = StopReason::interrupted;
      return finished({fitted.members.front().density, std::move(report)});
    }
  }

 private:
  [[nodiscard]] Fit blend_all(const FittedMembers& fitted, FitReport report) const {
    std::vector<Candidate> candidates = member_candidates(fitted.members, report);
    Candidate gaussian = gaussian_candidate();
    HeldOutLogProbs held_out{.gaussian = gaussian.held_out};
    if (options_.simple) {
      candidates.push_back(std::move(gaussian));
      if (std::optional<Candidate> mixture = mixture_candidate()) {
        candidates.push_back(std::move(*mixture));
      }
    }
    const DensityMixture<float> mixture = blend(std::move(candidates), report, held_out);
    return options_.distill
               ? distilled(mixture, fitted.seconds, std::move(report), held_out)
               : judged(mixture, fitted.members.front().density, std::move(report), held_out);
  }

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
            .fits = parts_.members() + (options_.distill ? 1 : 0),
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
                  if (m % kinds_ == 1) options.flow.affine = true;
                  return options;
                },
            .fingerprint = [this](int m) { return fingerprint(m); }};
  }

  [[nodiscard]] std::string fingerprint(int member) const {
    FitOptions options = plan_.options_for(parts_.split(member).training.size());
    options.train.time_limit = 0;
    options.distill = false;  // members do not depend on what becomes of them
    Fingerprint numbers;
    numbers.add(rows_.x);
    numbers.add(rows_.context);
    numbers.add(Matrix<double>(rows_.weights));
    numbers.add(Matrix<double>(rows_.gaps.cast<double>()));
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

  // One for each kind. Returns the optimism.
  double add_candidates(const std::string& model, std::vector<AnyDensity<float>> by_member,
                        std::vector<Candidate>& candidates) const {
    const Matrix<double> scores = left_out_->scores_of(by_member);
    const double optimism = left_out_->optimism_of(scores);
    for (int kind = 0; kind < kinds_; ++kind) {
      Candidate candidate{
          name_of(kind, model), {}, left_out_->mixed_fairly(scores, optimism, kind)};
      for (int m = 0; m < parts_.members(); ++m) {
        if (left_out_->kind_of(m) == kind) {
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
    const auto fitted = [&](const EncodedRows& rows) { return gaussian_model(shape_, rows); };
    return {"Gaussian", {fitted(rows_)}, left_out_->cross_fitted(fitted)};
  }

  // With categories, and where cells are missing, the mixture has class probabilities in its
  // components and leaves gaps out, and needs no rows to stop it. Conditions it could not have.
  [[nodiscard]] std::optional<Candidate> mixture_candidate() const {
    const bool classes = !shape_.categories.empty() || rows_.gaps.size() > 0;
    if (classes && shape_.context_features == 0) {
      const auto fitted = [&](const EncodedRows& rows) {
        return class_mixture_model(shape_, rows, options_.seed);
      };
      return Candidate{"mixture", {fitted(rows_)}, left_out_->cross_fitted(fitted)};
    }
    std::vector<AnyDensity<float>> mixtures;
    std::size_t components = 0;  // the first chooses for all, which saves most of the time
    for (int m = 0; m < parts_.members(); ++m) {
      std::optional<FittedMixture> mixture =
          mixture_model(shape_, rows_.take(parts_.split(m).training), rows_.take(parts_.rows_of(m)),
                        options_.seed + static_cast<std::uint64_t>(m),
                        interrupt_if(run_.should_stop), components);
      if (!mixture) return {};
      if (components == 0) components = mixture->components;
      mixtures.push_back(std::move(mixture->density));
    }
    const Matrix<double> scores = left_out_->scores_of(mixtures);
    Vector<double> held_out = left_out_->mixed_fairly(scores, left_out_->optimism_of(scores), {});
    return Candidate{"mixture", std::move(mixtures), std::move(held_out)};
  }

  [[nodiscard]] std::vector<double> weights_by(const Matrix<double>& held_out,
                                               const std::vector<std::size_t>& rows) const {
    const Vector<double> counts =
        rows_.weights.size() > 0 ? Vector<double>(rows_.weights(rows)) : Vector<double>();
    return stacking_weights(held_out(rows, Eigen::all), counts);
  }

  // Of each row by the candidates with the weights that the rows of the other parts give them.
  [[nodiscard]] Vector<double> mixed_by_others(const Matrix<double>& held_out) const {
    Vector<double> result(held_out.rows());
    for (int part = 0; part < parts_.members(); ++part) {
      const std::vector<std::size_t> rows = parts_.rows_of(part);
      result(rows) = mixed_log_prob(held_out(rows, Eigen::all),
                                    weights_by(held_out, parts_.rows_without(part)));
    }
    return result;
  }

  // The mixture of all candidates that rows give a weight.
  [[nodiscard]] DensityMixture<float> blend(std::vector<Candidate> candidates, FitReport& report,
                                            HeldOutLogProbs& by_others) const {
    Matrix<double> held_out(rows_.size(), std::ssize(candidates));
    for (std::size_t k = 0; k < candidates.size(); ++k) {
      held_out.col(static_cast<Eigen::Index>(k)) = candidates[k].held_out;
    }
    by_others.main = mixed_by_others(held_out);
    const std::vector<double> weights = stacking_weights(held_out, rows_.weights);
    std::vector<AnyDensity<float>> parts;
    std::vector<double> shares;
    for (std::size_t k = 0; k < candidates.size(); ++k) {
      const bool used = weights[k] >= kLeastWeight;
      const auto count = candidates[k].densities.size();
      report.blend.push_back({candidates[k].name, static_cast<int>(count), used ? weights[k] : 0,
                              mean_nll(candidates[k].held_out, rows_.weights)});
      if (!used) continue;
      for (AnyDensity<float>& density : candidates[k].densities) {
        add_parts(std::move(density), weights[k] / static_cast<double>(count), parts, shares);
      }
    }
    double used = 0;
    for (const BlendShare& share : report.blend) used += share.weight;
    for (BlendShare& share : report.blend) share.weight /= used;
    return {std::move(parts), shares};
  }

  // first: the first of the members, whose course is kept.
  [[nodiscard]] Fit judged(AnyDensity<float> main, const TabularDensity<float>& first,
                           FitReport report, const HeldOutLogProbs& by_others) const {
    Fit result{TabularDensity<float>(plan_.table.schema, std::move(main)), std::move(report)};
    TabularDensity<float>& density = result.density;
    if (run_.threads > 1) density.use_threads(std::make_shared<ThreadPool>(run_.threads));
    assess(plan_.table, density, result.report, by_others);
    if (plan_.table.calibration.size() > 0) {
      density.calibrate(plan_.table.calibration, true);
    } else {
      density.calibrate_by(by_others.main(complete_rows(rows_)));
    }
    // For figures and records.
    density.history = result.report.training.history = first.history;
    density.evaluations = result.report.training.evaluations = first.evaluations;
    return result;
  }

  // One flow in place of the mixture, with or without an affine transform, as the rows prefer. A
  // mixture has wider tails than a flow with a normal base can learn: docs/evidence.md.
  [[nodiscard]] Fit distilled(const DensityMixture<float>& mixture, double seconds,
                              FitReport report, const HeldOutLogProbs& by_others) const {
    const auto options_for = [&](std::size_t draws) {
      FitOptions options = plan_.options_for(draws);
      options.train.method = Method::mle;
      if (kinds_ == 2) options.flow.affine = report.blend[1].weight > report.blend[0].weight;
      if (!plan_.settings.has("flow.student_t")) options.flow.student_t = kDegreesOfFreedom;
      return options;
    };
    Distilled made = distill(mixture, plan_.table, options_for,
                             {.members = parts_.members(), .seconds = seconds}, run_);
    if (made.fit.report.training.stop_reason == StopReason::interrupted) return std::move(made.fit);
    report.distilled = made.loss;
    report.training.iterations += made.fit.report.training.iterations;
    report.training.seconds += made.fit.report.training.seconds;
    if (made.fit.report.training.stop_reason == StopReason::diverged) {
      report.training.stop_reason = StopReason::diverged;
    }
    return judged(AnyDensity<float>(made.fit.density.main().clone()), made.fit.density,
                  std::move(report), by_others);
  }

  FitPlan plan_;
  const FitRun& run_;
  const EncodedRows& rows_;
  FitOptions options_;
  RowShape shape_;
  MemberParts parts_;
  int kinds_;
  std::optional<LeftOutRows> left_out_;  // once the members are there
};

}  // namespace

TableFit fit_several(FitPlan plan, int members, const FitRun& run) {
  return SeveralFits(std::move(plan), members, run).fit_all();
}

}  // namespace jeffreys

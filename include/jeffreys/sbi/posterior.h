// What a simulator's outcomes say about its parameters: p(parameters | outcomes), fitted to pairs
// of both. One fit serves any observation.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "jeffreys/base/random_stream.h"
#include "jeffreys/fit/tabular_density.h"
#include "jeffreys/sbi/prior.h"

namespace jeffreys {

// How an energy model is sampled.
//   metropolis  independence Metropolis with the main model's draws as proposals
//   langevin    uncorrected steps, as in the paper (eq:mcmcsampling): slow, a reference
enum class EnergySampler { metropolis, langevin };

// What becomes of an observation beyond the training pairs (ObservationDistance::beyond).
//   refuse       std::invalid_argument that names its row, the outcome, its value and the range
//   extrapolate  an answer all the same, which may be very sure and quite wrong
enum class FarObservations { refuse, extrapolate };

struct PosteriorSampling {
  std::optional<From> from = {};  // the model that speaks; nothing: the posterior's own choice
  EnergySampler energy_sampler = EnergySampler::metropolis;
  int proposals = 100;  // of Metropolis, for each sample
  int langevin_steps = 2000;
  double langevin_step_size = 1e-4;  // in the model's standardised units
  // In all, after which Langevin chains that get lost are no longer drawn anew.
  double seconds = 60;
  FarObservations far = FarObservations::refuse;
  std::uint64_t seed = 0;

  // Throws std::invalid_argument naming the field, expected and actual value.
  void validate() const;
};

struct PosteriorSamples {
  Matrix<double> parameters = {};  // [observations * samples, parameters]
  double acceptance_rate = 1;      // of an energy model's Markov chain
  Eigen::Index lost = 0;           // Langevin chains that left the finite numbers, drawn anew
};

// How far an observation lies from the outcomes of the training pairs.
struct ObservationDistance {
  // The outcome that lies farthest outside the range of the training pairs, by shares of the
  // range's width; empty if none does.
  std::string outcome = {};
  double value = 0;    // of that outcome
  double minimum = 0;  // its range
  double maximum = 0;
  double beyond_range = 0;  // how far it is from there, in standard deviations
  double margin = 0;        // how far it may be from there by chance, in its units
  // Mahalanobis distance from the mean of the training pairs, and the largest one among them.
  double distance = 0;
  double largest_training = 0;

  // Whether there was nothing like it among the training pairs; a new pair may be so by chance.
  [[nodiscard]] bool far() const { return beyond_range > 0 || distance > largest_training; }
  // Whether that is more than chance: the outcome lies farther outside than the margin, which is a
  // tenth of the range's width and more with many outcomes, or the distance is more than one and a
  // half times the largest one. Chosen by the share of new pairs of which that is wrong:
  // docs/sbi.md.
  [[nodiscard]] bool beyond() const;
  // The outcome with its value and range, or the two distances; of one that is far.
  [[nodiscard]] std::string describe() const;
};

class Posterior {
 public:
  // The density's features are the parameters, its conditions the outcomes. Without a prior it is
  // the posterior under whatever the pairs' parameters were drawn from. With one nothing leaves its
  // support: what the model has beyond an end is folded back inside (a log_normal parameter is
  // modelled by its normal score, which has no ends). Throws std::invalid_argument where prior and
  // density do not fit together.
  explicit Posterior(TabularDensity<float> density, std::optional<Prior> prior = {});

  [[nodiscard]] const TabularDensity<float>& density() const { return density_; }
  [[nodiscard]] const std::optional<Prior>& prior() const { return prior_; }
  [[nodiscard]] std::vector<std::string> parameter_names() const;
  [[nodiscard]] std::vector<std::string> outcome_names() const;
  // How it was fitted, as a JSON text that its file keeps.
  void set_record(std::string record) { density_.record = std::move(record); }
  void use_threads(std::shared_ptr<ThreadPool> pool) { density_.use_threads(std::move(pool)); }

  // observed [observations, outcomes], in the order of outcome_names(). Samples of the first
  // observation come first. The same arguments give the same samples. Throws
  // std::invalid_argument for an observation beyond the training pairs unless options.far allows
  // it, and std::runtime_error if too many Langevin chains get lost.
  [[nodiscard]] PosteriorSamples sample(const MatrixView<double>& observed, Eigen::Index samples,
                                        const PosteriorSampling& options = {}) const;

  // Log density of parameters [rows, parameters] given observed [rows or 1, outcomes]; minus
  // infinity outside the prior's support. Throws for far observations as sample does.
  [[nodiscard]] Vector<double> log_prob(const MatrixView<double>& parameters,
                                        const MatrixView<double>& observed,
                                        std::optional<From> from = {},
                                        FarObservations far = FarObservations::refuse) const;

  // One for each row of observed [observations, outcomes].
  [[nodiscard]] std::vector<ObservationDistance> distances(
      const MatrixView<double>& observed) const;

  // A posterior is a model file like any other: `jeffreys sample --given` reads it too. load throws
  // InputError for a file that holds no posterior.
  void save(const std::filesystem::path& path) const;
  static Posterior load(const std::filesystem::path& path);

  // Remembers the spread of the training pairs' encoded outcomes [rows, context features], with
  // which distances() compares. If there are more than 100 context features, only ranges are kept.
  void set_training_outcomes(const MatrixView<double>& context);

 private:
  [[nodiscard]] Matrix<double> encode(const MatrixView<double>& observed) const;
  // The same, but for observations that are refused.
  [[nodiscard]] Matrix<double> encode(const MatrixView<double>& observed,
                                      FarObservations far) const;
  [[nodiscard]] ObservationDistance distance(const MatrixView<double>& observed,
                                             const MatrixView<double>& context) const;
  [[nodiscard]] Table pairs(const MatrixView<double>& parameters,
                            const MatrixView<double>& observed,
                            const std::vector<Eigen::Index>& rows) const;
  [[nodiscard]] Matrix<double> decode(const MatrixView<double>& x,
                                      const MatrixView<double>& context) const;
  [[nodiscard]] bool inside(const MatrixView<double>& parameters, Eigen::Index row) const;
  // For one context, or for as many as there are samples; without Langevin chains that got lost.
  [[nodiscard]] PosteriorSamples draw(const MatrixView<double>& context, Eigen::Index samples,
                                      From from, const PosteriorSampling& options,
                                      const RandomStream& random) const;
  [[nodiscard]] PosteriorSamples draw_all(const MatrixView<double>& context, Eigen::Index samples,
                                          From from, const PosteriorSampling& options,
                                          Eigen::Index place,
                                          std::chrono::steady_clock::time_point deadline) const;

  // Of encoded outcomes: Mahalanobis distances are norms of whitening * (context - center).
  struct TrainingOutcomes {
    Vector<double> center;
    Matrix<double> whitening;
    double largest = 0;
  };

  TabularDensity<float> density_;
  std::optional<Prior> prior_;
  TrainingOutcomes training_;
};

}  // namespace jeffreys

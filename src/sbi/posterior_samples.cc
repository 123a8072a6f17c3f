// Samples of a posterior: from a flow at once, from an energy model by a Markov chain.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "jeffreys/base/random_purpose.h"
#include "jeffreys/model/independence_metropolis.h"
#include "jeffreys/model/langevin.h"
#include "jeffreys/sbi/posterior.h"

namespace jeffreys {
namespace {

constexpr double kLongest = 1e9;               // seconds; a clock cannot count without end
constexpr Eigen::Index kRowsAtOnce = 1 << 16;  // bounds the memory
// Of Langevin chains that get lost. Metropolis leaves no more than 20 bits of a
// stream's iteration to its caller.
constexpr std::uint64_t kMostTries = 1 << 20;

// A seed for each observation, `place`. Multiples of this odd number, the golden ratio of 2^64, are
// far from each other and from 0, so that neighbouring seeds of the user do not meet.
RandomStream stream_of(const PosteriorSampling& options, Eigen::Index place, std::uint64_t tries) {
  constexpr std::uint64_t kGoldenRatio = 0x9e3779b97f4a7c15;
  return {options.seed + static_cast<std::uint64_t>(place) * kGoldenRatio, kPosteriorDraws, tries};
}

[[noreturn]] void give_up(Eigen::Index kept, Eigen::Index samples, Eigen::Index drawn,
                          Eigen::Index lost) {
  throw std::runtime_error(
      fmt::format("only {} of {} samples were there and the time was over: {} of {} Langevin "
                  "chains left the finite numbers. Take shorter steps, or Metropolis",
                  kept, samples, lost, drawn));
}

}  // namespace

void PosteriorSampling::validate() const {
  const auto refuse = [](const char* field, const auto& value) {
    throw std::invalid_argument(
        fmt::format("PosteriorSampling.{}: expected a number above 0, got {}", field, value));
  };
  if (proposals < 1) refuse("proposals", proposals);
  if (langevin_steps < 1) refuse("langevin_steps", langevin_steps);
  if (!(langevin_step_size > 0)) refuse("langevin_step_size", langevin_step_size);
  if (!(seconds > 0)) refuse("seconds", seconds);
}

PosteriorSamples Posterior::draw(const MatrixView<double>& context, Eigen::Index samples, From from,
                                 const PosteriorSampling& options,
                                 const RandomStream& random) const {
  const Matrix<float> c = context.cast<float>();
  const UnnormalizedDensity<float>& model = density_.model(from);
  if (const Density<float>* density = model.as_density()) {
    return {.parameters = decode(density->sample(samples, c, random).x.cast<double>(), context)};
  }
  if (options.energy_sampler == EnergySampler::metropolis) {
    const auto chain = independence_metropolis<float>(model, density_.main(), samples, c,
                                                      options.proposals, random);
    return {.parameters = decode(chain.x.cast<double>(), context),
            .acceptance_rate = chain.acceptance_rate};
  }
  const auto chain = langevin_from<float>(
      model, density_.main(), samples, c,
      {.steps = options.langevin_steps, .step_size = options.langevin_step_size}, random);
  std::vector<Eigen::Index> finite;
  for (Eigen::Index r = 0; r < samples; ++r) {
    if (std::isfinite(chain.log_unnormalized(r)) && chain.x.row(r).allFinite()) finite.push_back(r);
  }
  return {.parameters = decode(chain.x(finite, Eigen::all).cast<double>(), context),
          .lost = chain.lost};
}

// Chains that got lost are drawn anew.
PosteriorSamples Posterior::draw_all(const MatrixView<double>& context, Eigen::Index samples,
                                     From from, const PosteriorSampling& options,
                                     Eigen::Index place,
                                     std::chrono::steady_clock::time_point deadline) const {
  PosteriorSamples result;
  result.parameters.resize(samples, density_.main().features());
  Eigen::Index kept = 0;
  Eigen::Index drawn = 0;
  double accepted = 0;
  std::uint64_t tries = 0;
  for (; kept < samples; ++tries) {
    if (tries == kMostTries || (tries > 0 && std::chrono::steady_clock::now() > deadline)) {
      give_up(kept, samples, drawn, result.lost);
    }
    const Eigen::Index count = samples - kept;
    const PosteriorSamples part =
        draw(context, count, from, options, stream_of(options, place, tries));
    drawn += count;
    accepted += part.acceptance_rate;
    result.lost += part.lost;
    result.parameters.middleRows(kept, part.parameters.rows()) = part.parameters;
    kept += part.parameters.rows();
  }
  if (tries > 0) result.acceptance_rate = accepted / static_cast<double>(tries);
  return result;
}

PosteriorSamples Posterior::sample(const MatrixView<double>& observed, Eigen::Index samples,
                                   const PosteriorSampling& options) const {
  options.validate();
  if (samples < 0) {
    throw std::invalid_argument(fmt::format("samples: expected at least 0, got {}", samples));
  }
  const From from = options.from.value_or(density_.chosen());
  if (from == From::proxy && !density_.proxy()) {
    throw std::invalid_argument("from: there is no proxy model in this posterior, only main");
  }
  const Matrix<double> context = encode(observed, options.far);
  PosteriorSamples result;
  result.parameters.resize(observed.rows() * samples, density_.main().features());
  // Exact samples are drawn for several observations at once; others have chains of their own.
  const bool together = density_.model(from).as_density() != nullptr;
  const auto deadline = std::chrono::steady_clock::now() +
                        std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                            std::chrono::duration<double>(std::min(options.seconds, kLongest)));
  const Eigen::Index step =
      together ? std::max<Eigen::Index>(kRowsAtOnce / std::max<Eigen::Index>(samples, 1), 1) : 1;
  double parts = 0, accepted = 0;
  for (Eigen::Index first = 0; first < observed.rows(); first += step) {
    const Eigen::Index count = std::min(step, observed.rows() - first);
    Matrix<double> rows(count == 1 ? 1 : count * samples, context.cols());
    for (Eigen::Index r = 0; r < rows.rows(); ++r) {
      rows.row(r) = context.row(first + (count == 1 ? 0 : r / samples));
    }
    const PosteriorSamples part =
        together ? draw(rows, count * samples, from, options, stream_of(options, first, 0))
                 : draw_all(rows, samples, from, options, first, deadline);
    result.parameters.middleRows(first * samples, count * samples) = part.parameters;
    result.lost += part.lost;
    accepted += part.acceptance_rate;
    ++parts;
  }
  if (parts > 0) result.acceptance_rate = accepted / parts;
  return result;
}

}  // namespace jeffreys

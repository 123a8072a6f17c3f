#include "jeffreys/model/langevin.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "base/checks.h"
#include "jeffreys/base/random_purpose.h"
#include "kernels/random.h"

namespace jeffreys {
namespace {

constexpr int kMostSteps = (1 << 24) - 1;

// A chain's steps take the place of the stream's iterations; the stream itself is folded into the
// seed (by the finaliser of MurmurHash3, a bijection).
kernels::RandomKey step_key(const RandomStream& stream, std::uint16_t purpose, int step) {
  std::uint64_t mixed = stream.iteration ^ (static_cast<std::uint64_t>(stream.purpose) << 48);
  mixed = (mixed ^ (mixed >> 33)) * 0xff51afd7ed558ccdULL;
  mixed = (mixed ^ (mixed >> 33)) * 0xc4ceb9fe1a85ec53ULL;
  mixed ^= mixed >> 33;
  return {stream.seed ^ mixed, purpose, static_cast<std::uint64_t>(step)};
}

// Squared distances of rows from the mean of a Langevin move that starts at `from`.
template <typename T>
Vector<T> squared_miss(const Matrix<T>& to, const Matrix<T>& from, const Matrix<T>& gradient, T s) {
  return (to - from - s * gradient).rowwise().squaredNorm();
}

template <typename T>
class Chains {
 public:
  Chains(const UnnormalizedDensity<T>& density, const MatrixView<T>& start,
         const MatrixView<T>& context, const LangevinOptions& options, const RandomStream& stream)
      : density_(density),
        context_(context),
        stream_(stream),
        s_(static_cast<T>(options.step_size)),
        x_(start),
        noise_(start.rows(), start.cols()),
        here_(density.input_gradient(start, context, ContextGradient::no)) {}

  void step(int index) {
    draw_noise(index);
    x_ += s_ * here_.x + std::sqrt(2 * s_) * noise_;
    here_ = density_.input_gradient(x_, context_, ContextGradient::no);
  }

  // Returns how many moves were accepted.
  Eigen::Index metropolis_step(int index) {
    draw_noise(index);
    const Matrix<T> proposal = x_ + s_ * here_.x + std::sqrt(2 * s_) * noise_;
    const InputGradient<T> there = density_.input_gradient(proposal, context_, ContextGradient::no);
    const Vector<T> back = squared_miss<T>(x_, proposal, there.x, s_);
    const Vector<T> forth = squared_miss<T>(proposal, x_, here_.x, s_);
    Vector<T> uniform(x_.rows());
    kernels::fill_uniforms(kernels::RandomArguments<T>{step_key(stream_, kMetropolis, index), 0,
                                                       static_cast<std::size_t>(x_.rows()), 1,
                                                       uniform.data()});
    Eigen::Index accepted = 0;
    for (Eigen::Index r = 0; r < x_.rows(); ++r) {
      const T log_ratio = there.values[r] - here_.values[r] - (back[r] - forth[r]) / (4 * s_);
      if (!(std::log(uniform[r]) < log_ratio)) continue;  // NaN: rejected
      x_.row(r) = proposal.row(r);
      here_.x.row(r) = there.x.row(r);
      here_.values[r] = there.values[r];
      ++accepted;
    }
    return accepted;
  }

  LangevinResult<T> result(double acceptance_rate) const {
    LangevinResult<T> result{x_, here_.values, acceptance_rate, 0};
    for (Eigen::Index r = 0; r < x_.rows(); ++r) {
      if (!std::isfinite(here_.values[r])) ++result.lost;
    }
    return result;
  }

 private:
  void draw_noise(int index) {
    kernels::fill_normals(kernels::RandomArguments<T>{
        step_key(stream_, kLangevinNoise, index), 0, static_cast<std::size_t>(noise_.rows()),
        static_cast<std::size_t>(noise_.cols()), noise_.data()});
  }

  const UnnormalizedDensity<T>& density_;
  MatrixView<T> context_;
  RandomStream stream_;
  T s_;
  Matrix<T> x_;
  Matrix<T> noise_;
  InputGradient<T> here_;
};

}  // namespace

void LangevinOptions::validate() const {
  check_between("LangevinOptions.steps", steps, 0, kMostSteps);
  if (!(step_size > 0) || !std::isfinite(step_size)) {
    throw std::invalid_argument(fmt::format(
        "LangevinOptions.step_size: expected a finite number above 0, got {}", step_size));
  }
}

template <typename T>
LangevinResult<T> langevin(const UnnormalizedDensity<T>& density, const MatrixView<T>& start,
                           const MatrixView<T>& context, const LangevinOptions& options,
                           const RandomStream& stream) {
  options.validate();
  Chains<T> chains(density, start, context, options, stream);
  Eigen::Index accepted = 0;
  for (int k = 0; k < options.steps; ++k) {
    if (options.metropolis == Metropolis::yes) {
      accepted += chains.metropolis_step(k);
    } else {
      chains.step(k);
    }
  }
  const double moves = static_cast<double>(options.steps) * static_cast<double>(start.rows());
  const bool corrected = options.metropolis == Metropolis::yes && moves > 0;
  return chains.result(corrected ? static_cast<double>(accepted) / moves : 1.0);
}

template <typename T>
LangevinResult<T> langevin_from(const UnnormalizedDensity<T>& density, const Density<T>& start,
                                Eigen::Index rows, const MatrixView<T>& context,
                                const LangevinOptions& options, const RandomStream& stream) {
  return langevin<T>(density, start.sample(rows, context, stream).x, context, options, stream);
}

template LangevinResult<float> langevin(const UnnormalizedDensity<float>&, const MatrixView<float>&,
                                        const MatrixView<float>&, const LangevinOptions&,
                                        const RandomStream&);
template LangevinResult<double> langevin(const UnnormalizedDensity<double>&,
                                         const MatrixView<double>&, const MatrixView<double>&,
                                         const LangevinOptions&, const RandomStream&);
template LangevinResult<float> langevin_from(const UnnormalizedDensity<float>&,
                                             const Density<float>&, Eigen::Index,
                                             const MatrixView<float>&, const LangevinOptions&,
                                             const RandomStream&);
template LangevinResult<double> langevin_from(const UnnormalizedDensity<double>&,
                                              const Density<double>&, Eigen::Index,
                                              const MatrixView<double>&, const LangevinOptions&,
                                              const RandomStream&);

}  // namespace jeffreys

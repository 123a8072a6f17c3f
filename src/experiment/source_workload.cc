// Rows of a source in the plane, whose density is known: besides the held-out NLL the divergences
// to the truth can be measured.
#include "experiment/workload.h"
#include "jeffreys/base/random_purpose.h"
#include "jeffreys/evaluate/divergence.h"
#include "jeffreys/evaluate/mode_coverage.h"
#include "jeffreys/truth/source.h"

namespace jeffreys::experiment {
namespace {

constexpr Eigen::Index kSamples = 10000;  // of the main model at every point
constexpr double kModeRadius = 3;         // deviations

void note(const std::string& name, const DivergenceEstimate& estimate, Numbers& numbers) {
  numbers[name] = estimate.value;
  numbers[name + "_error"] = estimate.standard_error;
}

void note(const std::string& name, const Jeffreys& divergence, Numbers& numbers) {
  note(name + "forward", divergence.forward, numbers);
  note(name + "reverse", divergence.reverse, numbers);
  note(name + "jeffreys", divergence.jeffreys, numbers);
  numbers[name + "outside"] = divergence.reverse.outside;
}

class SourceWorkload final : public Workload {
 public:
  SourceWorkload(std::unique_ptr<Source> source, TrainingData<float> rows,
                 const Matrix<double>& test, std::uint64_t seed)
      : Workload(std::move(rows), test.cast<float>(), Matrix<float>(test.rows(), 0), seed),
        source_(std::move(source)),
        test_log_p_(source_->log_prob(test)) {}

  [[nodiscard]] Numbers measure(const Models& models) const override {
    Numbers numbers;
    const ImportanceSamples drawn = importance_samples(models, kSamples, seed_);
    const Vector<double> sample_log_p = source_->log_prob(drawn.samples.x.cast<double>());
    const Vector<double> sample_main = drawn.samples.log_prob.cast<double>();
    measure_nll(models.main, models.name("main"), 0, numbers);
    note(models.name("main"),
         jeffreys_divergence(test_log_p_, models.main.log_prob(test_).cast<double>(), sample_log_p,
                             sample_main),
         numbers);
    if (models.proxy == nullptr) return numbers;
    const std::string name = models.name("proxy");
    measure_nll(*models.proxy, name, drawn.log_zeta, numbers);
    if (models.proxy->normalized()) return numbers;
    const ProxyDivergence proxy =
        proxy_divergence(test_log_p_, models.proxy->log_unnormalized(test_).cast<double>(),
                         sample_log_p, sample_main, drawn.log_weights + sample_main);
    note(name, proxy.divergence, numbers);
    numbers[name + "zeta"] = proxy.zeta.zeta;
    numbers[name + "zeta_lower"] = proxy.zeta.lower;
    numbers[name + "zeta_upper"] = proxy.zeta.upper;
    numbers[name + "effective_sample_size"] = proxy.zeta.effective_sample_size;
    return numbers;
  }

  [[nodiscard]] Numbers measure_last(const Models& models) const override {
    Numbers numbers;
    numbers["entropy"] = source_->entropy();
    numbers["test_entropy"] = -test_log_p_.mean();
    const Modes modes = source_->modes();
    if (modes.centers.rows() == 0) return numbers;
    const double radius = kModeRadius * modes.deviation;
    const Samples<float> drawn = importance_samples(models, kSamples, seed_).samples;
    const Matrix<double> truth = source_->sample(kSamples, 0, kTestIteration + 1);
    const ModeCoverage coverage =
        mode_coverage(mode_shares(drawn.x.cast<double>(), modes.centers, radius),
                      mode_shares(truth, modes.centers, radius));
    numbers["main.modes"] = static_cast<double>(coverage.modes);
    numbers["main.modes_covered"] = static_cast<double>(coverage.covered);
    numbers["main.mode_precision"] = coverage.precision;
    return numbers;
  }

  [[nodiscard]] DensityGrid density_grid(const Models& models, Eigen::Index pixels) const override {
    const PlaneRange range = source_->range();
    DensityGrid grid{range.x_min, range.x_max, range.y_min, range.y_max, pixels, {}};
    Matrix<float> centres(pixels * pixels, 2);
    for (Eigen::Index j = 0; j < pixels; ++j) {
      for (Eigen::Index i = 0; i < pixels; ++i) {
        const auto at = [&](Eigen::Index k, double from, double to) {
          return static_cast<float>(from + (to - from) * (static_cast<double>(k) + 0.5) /
                                               static_cast<double>(pixels));
        };
        centres(j * pixels + i, 0) = at(i, range.x_min, range.x_max);
        centres(j * pixels + i, 1) = at(j, range.y_min, range.y_max);
      }
    }
    grid.density["main"] = models.main.log_prob(centres).cast<double>().array().exp();
    if (models.proxy != nullptr) {
      const double log_zeta = importance_samples(models, kSamples, seed_).log_zeta;
      grid.density["proxy"] =
          (models.proxy->log_unnormalized(centres).cast<double>().array() - log_zeta).exp();
    }
    return grid;
  }

 private:
  std::unique_ptr<Source> source_;
  Vector<double> test_log_p_;
};

}  // namespace

std::unique_ptr<Workload> make_source_workload(const Job& job) {
  std::unique_ptr<Source> source = make_source(job.source);
  const Matrix<double> rows = source->sample(job.rows, job.seed, 0);
  // The same for all seeds, so that differences between them are not those of the test rows.
  const Matrix<double> test = source->sample(job.test_rows, 0, kTestIteration);
  return std::make_unique<SourceWorkload>(
      std::move(source), split_validation(job, rows, Matrix<double>(rows.rows(), 0)), test,
      job.seed);
}

}  // namespace jeffreys::experiment

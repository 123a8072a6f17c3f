// Pairs of parameters and outcomes of a simulator whose posterior is known (appendix ap:sbi): the
// models learn parameters given outcomes, and are judged by how well a classifier tells their
// samples at the paper's observation from exact ones.
// Differs from the paper: the reference samples are exact, not simulations that came close.
#include "experiment/workload.h"
#include "jeffreys/base/random_purpose.h"
#include "jeffreys/evaluate/two_sample_test.h"
#include "jeffreys/model/independence_metropolis.h"
#include "jeffreys/model/langevin.h"
#include "jeffreys/objective/importance.h"
#include "jeffreys/truth/task.h"

namespace jeffreys::experiment {
namespace {

constexpr int kProposals = 32;  // of independence Metropolis, for each sample
constexpr std::uint64_t kReferenceSeed = 1'000'003;
// Of the test pairs so many judge the proxy's density, each with so many fresh samples for its
// zeta: few samples would flatter it.
constexpr Eigen::Index kZetaConditions = 200;
constexpr Eigen::Index kZetaSamplesEach = 1000;

class TaskWorkload final : public Workload {
 public:
  TaskWorkload(std::unique_ptr<Task> task, const Job& job, TrainingData<float> rows,
               Matrix<float> test, Matrix<float> test_context)
      : Workload(std::move(rows), std::move(test), std::move(test_context), job.seed),
        task_(std::move(task)),
        observation_(task_->observation().transpose().cast<float>()),
        reference_(task_->sample_posterior(job.test_rows, task_->observation(), kReferenceSeed)),
        // The paper's 2000; a smoke run has less time.
        langevin_steps_(
            static_cast<int>(std::min<std::int64_t>(2000, job.options.train.iterations))) {}

  [[nodiscard]] Numbers measure(const Models& models) const override {
    Numbers numbers;
    measure_nll(models.main, models.name("main"), 0, numbers);
    const RandomStream stream{seed_, kPosteriorSamples,
                              static_cast<std::uint64_t>(models.iteration)};
    note(models.name("main"), models.main.sample(reference_.rows(), observation_, stream).x,
         numbers);
    if (models.proxy == nullptr) return numbers;
    const auto chain = independence_metropolis<float>(*models.proxy, models.main, reference_.rows(),
                                                      observation_, kProposals, stream);
    note(models.name("proxy"), chain.x, numbers);
    numbers[models.name("proxy") + "acceptance"] = chain.acceptance_rate;
    if (models.proxy->normalized()) {
      measure_nll(*models.proxy, models.name("proxy"), 0, numbers);
    } else {
      measure_energy(models, numbers);
    }
    return numbers;
  }

  [[nodiscard]] Numbers measure_last(const Models& models) const override {
    Numbers numbers;
    if (models.proxy == nullptr) return numbers;
    const auto chain =
        langevin_from<float>(*models.proxy, models.main, reference_.rows(), observation_,
                             {.steps = langevin_steps_, .step_size = 1e-4},
                             {seed_, kLangevinStart, static_cast<std::uint64_t>(models.iteration)});
    note("proxy_langevin.", chain.x, numbers);
    numbers["proxy_langevin.steps"] = langevin_steps_;
    numbers["proxy_langevin.lost"] = static_cast<double>(chain.lost);
    return numbers;
  }

 private:
  // NLL, log zeta and the evenness of the weights of an energy proxy.
  void measure_energy(const Models& models, Numbers& numbers) const {
    const Eigen::Index conditions = std::min(kZetaConditions, test_.rows());
    const Matrix<float> context = test_context_.topRows(conditions);
    const Samples<float> samples = models.main.sample(
        kZetaSamplesEach * conditions, context,
        {seed_, kEvaluationSamples, static_cast<std::uint64_t>(models.iteration)});
    const Vector<double> weights =
        (models.proxy->log_unnormalized(samples.x, context) - samples.log_prob).cast<double>();
    const std::span<const double> all(weights.data(), static_cast<std::size_t>(weights.size()));
    const Vector<double> log_zeta = log_zeta_by_condition(all, conditions);
    const std::string name = models.name("proxy");
    numbers[name + "log_zeta"] = log_zeta.mean();
    numbers[name + "log_zeta_lowest"] = log_zeta.minCoeff();
    numbers[name + "log_zeta_highest"] = log_zeta.maxCoeff();
    numbers[name + "effective_sample_size"] =
        importance_within_conditions(all, conditions).effective_sample_size;
    numbers[name + "test_nll"] =
        log_zeta.mean() -
        models.proxy->log_unnormalized(test_.topRows(conditions), context).cast<double>().mean();
  }

  void note(const std::string& name, const Matrix<float>& samples, Numbers& numbers) const {
    const TwoSampleResult test =
        classifier_two_sample_test(reference_, samples.cast<double>(), {.seed = seed_});
    numbers[name + "c2st"] = test.accuracy;
    numbers[name + "c2st_error"] = test.standard_error;
  }

  std::unique_ptr<Task> task_;
  Matrix<float> observation_;
  Matrix<double> reference_;
  int langevin_steps_;
};

}  // namespace

std::unique_ptr<Workload> make_task_workload(const Job& job) {
  std::unique_ptr<Task> task = make_task(job.source);
  const auto pairs = [&](Eigen::Index rows, std::uint64_t seed, std::uint64_t iteration) {
    Matrix<double> parameters = task->sample_prior(rows, seed, iteration);
    Matrix<double> outcomes = task->simulate(parameters, seed, iteration);
    return std::pair{std::move(parameters), std::move(outcomes)};
  };
  const auto [parameters, outcomes] = pairs(job.rows, job.seed, 0);
  const auto [test, test_outcomes] = pairs(job.test_rows, 0, kTestIteration);
  return std::make_unique<TaskWorkload>(std::move(task), job,
                                        split_validation(job, parameters, outcomes),
                                        test.cast<float>(), test_outcomes.cast<float>());
}

}  // namespace jeffreys::experiment

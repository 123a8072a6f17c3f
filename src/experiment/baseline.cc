#include "experiment/baseline.h"

#include <fmt/format.h>

#include <chrono>
#include <stdexcept>

#include "experiment/run_file.h"
#include "jeffreys/evaluate/gaussian_baseline.h"
#include "jeffreys/evaluate/kernel_baseline.h"
#include "jeffreys/evaluate/mixture_baseline.h"

namespace jeffreys::experiment {
namespace {

using LogProb = std::function<Vector<double>(const Matrix<double>&)>;

LogProb fit_baseline(const Job& job, const Matrix<double>& training,
                     const Matrix<double>& validation, Numbers& numbers) {
  if (job.baseline == "gaussian") {
    const Matrix<double> none(training.rows(), 0);
    auto model = std::make_shared<GaussianBaseline>(training, none);
    return [model](const Matrix<double>& x) {
      return model->log_prob(x, Matrix<double>(x.rows(), 0));
    };
  }
  if (job.baseline == "mixture") {
    auto model =
        std::make_shared<MixtureBaseline>(training, validation, MixtureOptions{.seed = job.seed});
    numbers["components"] = static_cast<double>(model->components().size());
    return [model](const Matrix<double>& x) { return model->log_prob(x); };
  }
  if (job.baseline == "kernel") {
    auto model = std::make_shared<KernelBaseline>(training, validation);
    numbers["bandwidth"] = model->bandwidth();
    return [model](const Matrix<double>& x) { return model->log_prob(x); };
  }
  throw std::invalid_argument(
      fmt::format("baseline: expected gaussian, mixture or kernel, got '{}'", job.baseline));
}

}  // namespace

void run_baseline(const Job& job, const Workload& workload, const std::filesystem::path& folder) {
  const auto begin = std::chrono::steady_clock::now();
  const TrainingData<float>& rows = workload.rows();
  RunResult result{.experiment = job.experiment,
                   .data = job.data,
                   .method = job.method,
                   .label = job.label,
                   .seed = job.seed,
                   .stop = "finished"};
  const Matrix<double> training = rows.x.cast<double>();
  const Matrix<double> validation = rows.validation_x.cast<double>();
  const LogProb log_prob = fit_baseline(job, training, validation, result.last);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  Numbers numbers;
  numbers["main.train_nll"] = -log_prob(training).mean();
  numbers["main.test_nll"] = -log_prob(workload.test().cast<double>()).mean();
  if (validation.rows() > 0) numbers["main.validation_nll"] = -log_prob(validation).mean();
  result.settings.emplace_back("baseline", job.baseline);
  result.curve.add(0, numbers);
  result.seconds = {seconds};
  write_run(folder, job.name(), result);
}

}  // namespace jeffreys::experiment

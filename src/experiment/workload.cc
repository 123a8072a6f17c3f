#include "experiment/workload.h"

#include "jeffreys/base/random_purpose.h"
#include "jeffreys/objective/importance.h"
#include "jeffreys/table/split.h"

namespace jeffreys::experiment {
namespace {

double nll(const UnnormalizedDensity<float>& model, const MatrixView<float>& x,
           const MatrixView<float>& context, double log_zeta) {
  return log_zeta - model.log_unnormalized(x, context).cast<double>().mean();
}

Matrix<float> take(const Matrix<double>& all, const std::vector<std::size_t>& rows) {
  Matrix<float> part(static_cast<Eigen::Index>(rows.size()), all.cols());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    part.row(static_cast<Eigen::Index>(i)) =
        all.row(static_cast<Eigen::Index>(rows[i])).cast<float>();
  }
  return part;
}

}  // namespace

Workload::Workload(TrainingData<float> rows, Matrix<float> test, Matrix<float> test_context,
                   std::uint64_t seed)
    : rows_(std::move(rows)),
      test_(std::move(test)),
      test_context_(std::move(test_context)),
      seed_(seed) {}

Numbers Workload::measure_last(const Models&) const { return {}; }

void Workload::measure_nll(const UnnormalizedDensity<float>& model, const std::string& name,
                           double log_zeta, Numbers& numbers, Eigen::Index most_training) const {
  const Eigen::Index training = std::min(most_training, rows_.x.rows());
  numbers[name + "train_nll"] =
      nll(model, rows_.x.topRows(training), rows_.context.topRows(training), log_zeta);
  numbers[name + "test_nll"] = nll(model, test_, test_context_, log_zeta);
  if (rows_.validation_x.rows() > 0) {
    numbers[name + "validation_nll"] =
        nll(model, rows_.validation_x, rows_.validation_context, log_zeta);
  }
}

ImportanceSamples importance_samples(const Models& models, Eigen::Index rows, std::uint64_t seed) {
  ImportanceSamples result;
  result.samples = models.main.sample(
      rows, {seed, kEvaluationSamples, static_cast<std::uint64_t>(models.iteration)});
  if (models.proxy != nullptr && !models.proxy->normalized()) {
    result.log_weights = models.proxy->log_unnormalized(result.samples.x).cast<double>() -
                         result.samples.log_prob.cast<double>();
    result.log_zeta = importance_estimate({result.log_weights.data(),
                                           static_cast<std::size_t>(result.log_weights.size())})
                          .log_zeta;
  }
  return result;
}

TrainingData<float> split_validation(const Job& job, const Matrix<double>& x,
                                     const Matrix<double>& context) {
  const double fraction = std::max(job.options.validation_fraction, 0.0);
  const Split split = split_rows(static_cast<std::size_t>(x.rows()), fraction, job.seed);
  return {take(x, split.training), take(context, split.training), take(x, split.validation),
          take(context, split.validation)};
}

std::unique_ptr<Workload> make_workload(const Job& job, const JobContext& context) {
  switch (job.kind) {
    case DataKind::source: return make_source_workload(job);
    case DataKind::table: return make_table_workload(job, context.data);
    case DataKind::task: return make_task_workload(job);
    case DataKind::images: return make_image_workload(job, context);
  }
  return nullptr;
}

}  // namespace jeffreys::experiment

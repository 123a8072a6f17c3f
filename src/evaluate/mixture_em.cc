#include "evaluate/mixture_em.h"

#include <Eigen/Cholesky>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "base/log_sum_exp.h"
#include "jeffreys/base/random_purpose.h"
#include "kernels/random.h"

namespace jeffreys {
namespace {

constexpr int kMeansSteps = 10;
constexpr int kTrialSteps = 5;  // after which the best start goes on alone
constexpr int kMostSteps = 200;
constexpr int kStepsWithoutGain = 5;  // on the validation rows
constexpr double kTolerance = 1e-5;   // nats of the mean log density of the training rows

// Position of the first running sum that exceeds the share u of the total.
Eigen::Index draw(const Vector<double>& weights, double u) {
  double rest = u * weights.sum();
  for (Eigen::Index i = 0; i < weights.size(); ++i) {
    rest -= weights[i];
    if (rest < 0) return i;
  }
  return weights.size() - 1;
}

// k-means++: each next centre is a row drawn with its squared distance to the nearest one before.
Matrix<double> spread_centers(const Matrix<double>& x, Eigen::Index count,
                              const kernels::RandomKey& key) {
  std::vector<double> uniform(static_cast<std::size_t>(count));
  kernels::fill_uniforms(
      kernels::RandomArguments<double>{key, 0, uniform.size(), 1, uniform.data()});
  Matrix<double> centers(count, x.cols());
  Vector<double> distances = Vector<double>::Ones(x.rows());
  for (Eigen::Index k = 0; k < count; ++k) {
    centers.row(k) = x.row(draw(distances, uniform[static_cast<std::size_t>(k)]));
    const Vector<double> own = (x.rowwise() - centers.row(k)).rowwise().squaredNorm();
    distances = k == 0 ? own : Vector<double>(distances.cwiseMin(own));
  }
  return centers;
}

// 1 for the nearest centre of each row, else 0: [rows, centres].
Matrix<double> nearest(const Matrix<double>& x, const Matrix<double>& centers) {
  const Eigen::RowVectorXd norms = centers.rowwise().squaredNorm().transpose();
  const Matrix<double> distances = (-2 * x * centers.transpose()).rowwise() + norms;
  Matrix<double> result = Matrix<double>::Zero(x.rows(), centers.rows());
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    Eigen::Index k = 0;
    distances.row(i).minCoeff(&k);
    result(i, k) = 1;
  }
  return result;
}

Matrix<double> clusters(const Matrix<double>& x, Matrix<double> centers) {
  for (int step = 0; step < kMeansSteps; ++step) {
    const Matrix<double> members = nearest(x, centers);
    const Eigen::RowVectorXd sizes = members.colwise().sum();
    const Matrix<double> sums = members.transpose() * x;
    for (Eigen::Index k = 0; k < centers.rows(); ++k) {
      if (sizes[k] > 0) centers.row(k) = sums.row(k) / sizes[k];
    }
  }
  return nearest(x, centers);
}

// The component that fits rows with these weights. One without rows gets weight zero and the whole
// table's shape, so that it neither counts nor breaks the others.
MixtureComponent weighted_gaussian(const Matrix<double>& x, const Vector<double>& weights,
                                   double least_variance) {
  const double total = weights.sum();
  const Eigen::Index features = x.cols();
  constexpr double kNoRows = 1e-8;
  if (total < kNoRows) {
    return {0, Vector<double>::Zero(features), Matrix<double>::Identity(features, features)};
  }
  const Vector<double> mean = x.transpose() * weights / total;
  const Matrix<double> scaled =
      (x.rowwise() - mean.transpose()).array().colwise() * (weights.array() / total).sqrt();
  Matrix<double> covariance = scaled.transpose() * scaled;
  covariance.diagonal().array() += least_variance;
  return {total / static_cast<double>(x.rows()), mean, covariance.llt().matrixL()};
}

std::vector<MixtureComponent> maximize(const WeightedRows& rows, const Matrix<double>& members,
                                       double least_variance) {
  std::vector<MixtureComponent> result;
  for (Eigen::Index k = 0; k < members.cols(); ++k) {
    Vector<double> own = members.col(k);
    if (rows.weights.size() > 0) own.array() *= rows.weights.array();
    result.push_back(weighted_gaussian(rows.x, own, least_variance));
  }
  return result;
}

double mean_of(const Vector<double>& values, const Vector<double>& weights) {
  return weights.size() > 0 ? values.dot(weights) / weights.sum() : values.mean();
}

double mean_log_density(const WeightedRows& rows, const std::vector<MixtureComponent>& parts) {
  return mean_of(log_sum_exp_of_rows(log_joint(rows.x, parts)), rows.weights);
}

// One step of expectation maximisation. Returns the mean log density of the rows before it.
double step_uphill(const WeightedRows& rows, std::vector<MixtureComponent>& components,
                   const MixtureFitOptions& options) {
  if (options.on_step != nullptr && *options.on_step) (*options.on_step)();
  Matrix<double> joint = log_joint(rows.x, components);
  const Vector<double> log_p = log_sum_exp_of_rows(joint);
  joint = (joint.colwise() - log_p).array().exp();
  components = maximize(rows, joint, options.least_variance);
  return mean_of(log_p, rows.weights);
}

// The likeliest of several starts after a few steps.
std::vector<MixtureComponent> best_start(const WeightedRows& rows,
                                         const MixtureFitOptions& options) {
  const std::size_t count = options.count;
  // One Gaussian is the same from every start.
  const std::size_t starts = count == 1 ? 1 : options.starts;
  std::vector<MixtureComponent> best;
  double best_likelihood = 0;
  for (std::size_t start = 0; start < starts; ++start) {
    const kernels::RandomKey key{options.seed, kMixtureStart, count * starts + start};
    const Matrix<double> centers = spread_centers(rows.x, static_cast<Eigen::Index>(count), key);
    std::vector<MixtureComponent> parts =
        maximize(rows, clusters(rows.x, centers), options.least_variance);
    double likelihood = 0;
    for (int step = 0; step < kTrialSteps; ++step) likelihood = step_uphill(rows, parts, options);
    if (best.empty() || likelihood > best_likelihood) {
      best = std::move(parts);
      best_likelihood = likelihood;
    }
  }
  return best;
}

}  // namespace

Matrix<double> log_joint(const MatrixView<double>& x,
                         const std::vector<MixtureComponent>& components) {
  const double constant = -0.5 * static_cast<double>(x.cols()) * std::log(2 * std::numbers::pi);
  Matrix<double> result(x.rows(), static_cast<Eigen::Index>(components.size()));
  const Matrix<double> identity = Matrix<double>::Identity(x.cols(), x.cols());
  for (std::size_t k = 0; k < components.size(); ++k) {
    const MixtureComponent& part = components[k];
    // A product with the inverse is several times faster than a triangular solve of many rows.
    const Matrix<double> whiten = part.factor.triangularView<Eigen::Lower>().solve(identity);
    const Matrix<double> white = (x.rowwise() - part.mean.transpose()) * whiten.transpose();
    const double shift =
        constant + std::log(part.weight) - part.factor.diagonal().array().log().sum();
    result.col(static_cast<Eigen::Index>(k)) = shift - 0.5 * white.rowwise().squaredNorm().array();
  }
  return result;
}

MixtureFit fit_mixture(const WeightedRows& training, const WeightedRows& validation,
                       const MixtureFitOptions& options) {
  std::vector<MixtureComponent> parts = best_start(training, options);
  MixtureFit best{parts, mean_log_density(validation, parts)};
  double before = -std::numeric_limits<double>::infinity();
  int without_gain = 0;
  for (int step = 0; step < kMostSteps && without_gain < kStepsWithoutGain; ++step) {
    const double likelihood = step_uphill(training, parts, options);
    if (likelihood - before < kTolerance) break;
    before = likelihood;
    const double score = mean_log_density(validation, parts);
    const bool better = score > best.score;
    without_gain = better ? 0 : without_gain + 1;
    if (better) best = {parts, score, step + 1};
  }
  return best;
}

std::vector<MixtureComponent> fit_mixture(const WeightedRows& rows,
                                          const MixtureFitOptions& options, int steps) {
  std::vector<MixtureComponent> parts = best_start(rows, options);
  for (int step = 0; step < steps; ++step) step_uphill(rows, parts, options);
  return parts;
}

}  // namespace jeffreys

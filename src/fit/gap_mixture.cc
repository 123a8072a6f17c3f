#include "fit/gap_mixture.h"

#include <Eigen/Cholesky>
#include <cmath>
#include <numbers>

namespace jeffreys {
namespace {

constexpr double kWideShare = 0.1;
constexpr double kWider = 2;

double log_volume_of(const Matrix<double>& factor) {
  return -factor.diagonal().array().log().sum() -
         0.5 * static_cast<double>(factor.rows()) * std::log(2 * std::numbers::pi);
}

// Which of these shares a uniform number falls into; `uniform` becomes the place in it.
Eigen::Index choose_share(const Vector<double>& shares, double& uniform) {
  Eigen::Index chosen = 0;
  for (Eigen::Index i = 0; i < shares.size(); ++i) {
    if (!(shares(i) > 0)) continue;
    chosen = i;
    if (uniform < shares(i)) break;
    uniform -= shares(i);
  }
  uniform = std::min(uniform / shares(chosen), 1.0);
  return chosen;
}

double log_total(const Eigen::Ref<const Eigen::ArrayXd>& values) {
  const double most = values.maxCoeff();
  return std::isfinite(most) ? most + std::log((values - most).exp().sum()) : most;
}

}  // namespace

GapConditional::GapConditional(const GapMixture& mixture,
                               const Eigen::Ref<const Eigen::Array<bool, 1, -1>>& gaps)
    : mixture_(mixture) {
  const RowShape& shape = mixture.shape();
  for (Eigen::Index j = 0; j < shape.features + shape.context_features; ++j) {
    (j < shape.features && gaps(j) ? open_numbers_ : known_numbers_).push_back(j);
  }
  for (std::size_t j = 0; j < shape.categories.size(); ++j) {
    const bool open = gaps(shape.features + static_cast<Eigen::Index>(j));
    (open ? open_classes_ : known_classes_).push_back(j);
  }
  for (const GapComponent& component : mixture.components()) {
    Part part{.log_weight = component.log_weight};
    const Matrix<double> known = component.covariance(known_numbers_, known_numbers_);
    const Matrix<double> cross = component.covariance(open_numbers_, known_numbers_);
    const Eigen::LLT<Matrix<double>> solver(known);
    part.known_mean = component.mean(known_numbers_);
    part.known_factor = solver.matrixL();
    part.known_log_volume = log_volume_of(part.known_factor);
    part.mean = component.mean(open_numbers_);
    part.gain = solver.solve(cross.transpose()).transpose();
    const Matrix<double> left =
        component.covariance(open_numbers_, open_numbers_) - part.gain * cross.transpose();
    part.factor = left.llt().matrixL();
    part.log_volume = log_volume_of(part.factor);
    parts_.push_back(std::move(part));
  }
}

double GapConditional::log_class(std::size_t component, std::size_t category, double code) const {
  const Vector<double>& probabilities = mixture_.components()[component].probabilities[category];
  const auto place = static_cast<Eigen::Index>(code);
  return place < probabilities.size() ? std::log(probabilities(place)) : 0;
}

GapConditional::Given GapConditional::given(const MatrixView<double>& x,
                                            const MatrixView<double>& context,
                                            Eigen::Index row) const {
  const Eigen::Index features = mixture_.shape().features;
  Vector<double> known(static_cast<Eigen::Index>(known_numbers_.size()));
  for (Eigen::Index i = 0; i < known.size(); ++i) {
    const Eigen::Index j = known_numbers_[static_cast<std::size_t>(i)];
    known(i) = j < features ? x(row, j) : context(context.rows() == 1 ? 0 : row, j - features);
  }
  const auto components = static_cast<Eigen::Index>(parts_.size());
  Given result{Matrix<double>(components, numbers()), Vector<double>(components)};
  for (Eigen::Index c = 0; c < components; ++c) {
    const Part& part = parts_[static_cast<std::size_t>(c)];
    const Vector<double> apart = known - part.known_mean;
    const double distance =
        part.known_factor.triangularView<Eigen::Lower>().solve(apart).squaredNorm();
    result.means.row(c) = (part.mean + part.gain * apart).transpose();
    double& log_weight = result.log_weights(c);
    log_weight = part.log_weight + part.known_log_volume - 0.5 * distance;
    for (const std::size_t j : known_classes_) {
      const Eigen::Index place = features + static_cast<Eigen::Index>(j);
      log_weight += log_class(static_cast<std::size_t>(c), j, x(row, place));
    }
  }
  result.log_weights.array() -= log_total(result.log_weights.array());
  return result;
}

void GapConditional::fill(const Given& given, const GapNoise& noise, Eigen::Index point,
                          Eigen::Ref<Matrix<double>> x) const {
  const Vector<double> shares = given.log_weights.array().exp();
  double rest = noise.choice(point);
  const Eigen::Index c = choose_share(shares, rest);
  const double width = rest < kWideShare ? kWider : 1;
  const Part& part = parts_[static_cast<std::size_t>(c)];
  const Vector<double> normals = width * noise.numbers.row(point).transpose();
  Vector<double> values = part.factor.triangularView<Eigen::Lower>() * normals;
  values += given.means.row(c).transpose();
  for (std::size_t i = 0; i < open_numbers_.size(); ++i) {
    x(point, open_numbers_[i]) = values(static_cast<Eigen::Index>(i));
  }
  for (std::size_t i = 0; i < open_classes_.size(); ++i) {
    const std::size_t j = open_classes_[i];
    double uniform = noise.classes(point, static_cast<Eigen::Index>(i));
    x(point, mixture_.shape().features + static_cast<Eigen::Index>(j)) = static_cast<double>(
        choose_share(mixture_.components()[static_cast<std::size_t>(c)].probabilities[j], uniform));
  }
}

double GapConditional::log_density(const Given& given, const MatrixView<double>& x,
                                   Eigen::Index row) const {
  const auto components = static_cast<Eigen::Index>(parts_.size());
  Eigen::ArrayXd narrow(components);
  Eigen::ArrayXd wide(components);
  Vector<double> values(numbers());
  for (Eigen::Index i = 0; i < values.size(); ++i) {
    values(i) = x(row, open_numbers_[static_cast<std::size_t>(i)]);
  }
  for (Eigen::Index c = 0; c < components; ++c) {
    const Part& part = parts_[static_cast<std::size_t>(c)];
    const Vector<double> apart = values - given.means.row(c).transpose();
    const double distance = part.factor.triangularView<Eigen::Lower>().solve(apart).squaredNorm();
    double common = given.log_weights(c) + part.log_volume;
    for (const std::size_t j : open_classes_) {
      common += log_class(static_cast<std::size_t>(c), j,
                          x(row, mixture_.shape().features + static_cast<Eigen::Index>(j)));
    }
    narrow(c) = common - 0.5 * distance;
    wide(c) = common - 0.5 * distance / (kWider * kWider) -
              static_cast<double>(numbers()) * std::log(kWider);
  }
  Eigen::ArrayXd both(2 * components);
  both << narrow + std::log1p(-kWideShare), wide + std::log(kWideShare);
  return log_total(both);
}

Vector<double> GapConditional::draw(const GapNoise& noise, const MatrixView<double>& context,
                                    bool alike, const Eigen::Ref<Matrix<double>>& x) const {
  Vector<double> log_density(x.rows());
  Given known;
  for (Eigen::Index point = 0; point < x.rows(); ++point) {
    if (point == 0 || !alike) known = given(x, context, point);
    fill(known, noise, point, x);
    log_density(point) = this->log_density(known, x, point);
  }
  return log_density;
}

Vector<double> GapConditional::log_density(const MatrixView<double>& x,
                                           const MatrixView<double>& context) const {
  Vector<double> result(x.rows());
  for (Eigen::Index row = 0; row < x.rows(); ++row) {
    result(row) = log_density(given(x, context, row), x, row);
  }
  return result;
}

std::map<std::vector<bool>, std::vector<std::size_t>> rows_by_gaps(const Gaps& gaps) {
  std::map<std::vector<bool>, std::vector<std::size_t>> found;
  for (Eigen::Index row = 0; row < gaps.rows(); ++row) {
    if (!gaps.row(row).any()) continue;
    std::vector<bool> pattern(static_cast<std::size_t>(gaps.cols()));
    for (std::size_t j = 0; j < pattern.size(); ++j) {
      pattern[j] = gaps(row, static_cast<Eigen::Index>(j));
    }
    found[pattern].push_back(static_cast<std::size_t>(row));
  }
  return found;
}

Eigen::Array<bool, 1, -1> as_gaps(const std::vector<bool>& pattern) {
  Eigen::Array<bool, 1, -1> gaps(static_cast<Eigen::Index>(pattern.size()));
  for (std::size_t j = 0; j < pattern.size(); ++j) gaps(static_cast<Eigen::Index>(j)) = pattern[j];
  return gaps;
}

}  // namespace jeffreys

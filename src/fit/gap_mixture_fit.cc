// Expectation maximisation of a GapMixture.
#include <Eigen/Cholesky>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>

#include "base/log_sum_exp.h"
#include "fit/gap_mixture.h"
#include "jeffreys/base/random_purpose.h"
#include "kernels/random.h"

namespace jeffreys {
namespace {

constexpr std::array<std::size_t, 3> kComponentCounts{1, 4, 16};
// So many numbers have one component: covariances of several would take minutes.
constexpr Eigen::Index kWide = 200;
constexpr int kMostEmSteps = 40;
constexpr double kHardlyBetter = 1e-3;  // nats a row
constexpr Eigen::Index kHeldOutEvery = 5;
constexpr double kPseudoRows = 0.5;  // of each class

// The rows of one pattern of gaps, among numbers (with the context) and categories.
struct Pattern {
  std::vector<Eigen::Index> known;
  std::vector<Eigen::Index> open;
  std::vector<Eigen::Index> rows;
};

class MixtureFitter {
 public:
  MixtureFitter(const RowShape& shape, const MatrixView<double>& x,
                const MatrixView<double>& context, const Gaps& gaps, std::uint64_t seed,
                const Vector<double>& weights)
      : shape_(shape),
        x_(x),
        gaps_(gaps),
        seed_(seed),
        numbers_(shape.features + context.cols()),
        weights_(weights.size() > 0 ? Vector<double>(weights / weights.mean())
                                    : Vector<double>(Vector<double>::Ones(x.rows()))) {
    y_.resize(x.rows(), numbers_);
    y_ << x.leftCols(shape.features), context.rows() == x.rows()
                                          ? Matrix<double>(context)
                                          : Matrix<double>(context.replicate(x.rows(), 1));
    set_moments();
  }

  [[nodiscard]] std::vector<GapComponent> fit() const {
    std::vector<Eigen::Index> learned;
    std::vector<Eigen::Index> held_out;
    for (Eigen::Index row = 0; row < x_.rows(); ++row) {
      (row % kHeldOutEvery == kHeldOutEvery - 1 ? held_out : learned).push_back(row);
    }
    std::size_t best = 1;
    double best_score = -std::numeric_limits<double>::infinity();
    for (const std::size_t count : kComponentCounts) {
      if (count > learned.size() / 8 + 1 || held_out.empty()) break;
      if (count > 1 && numbers_ > kWide) break;
      const double score = mean_log_density(maximize(count, learned), held_out);
      if (!(score > best_score)) break;
      best = count;
      best_score = score;
    }
    learned.resize(static_cast<std::size_t>(x_.rows()));
    std::iota(learned.begin(), learned.end(), Eigen::Index{0});
    return maximize(best, learned);
  }

 private:
  // What the rows of a pattern add to the moments of a component.
  struct Sums {
    double weight = 0;
    Vector<double> first;
    Matrix<double> second;
    std::vector<Vector<double>> classes;
  };

  [[nodiscard]] bool is_gap(Eigen::Index row, Eigen::Index feature) const {
    return gaps_.size() > 0 && gaps_(row, feature);
  }
  [[nodiscard]] Eigen::Index place_of(std::size_t category) const {
    return shape_.features + static_cast<Eigen::Index>(category);
  }

  void set_moments() {
    mean_ = Vector<double>::Zero(numbers_);
    variance_ = Vector<double>::Zero(numbers_);
    for (Eigen::Index j = 0; j < numbers_; ++j) {
      double count = 0;
      double first = 0;
      double second = 0;
      for (Eigen::Index row = 0; row < y_.rows(); ++row) {
        if (j < shape_.features && is_gap(row, j)) continue;
        count += weights_(row);
        first += weights_(row) * y_(row, j);
        second += weights_(row) * y_(row, j) * y_(row, j);
      }
      if (count > 0) mean_(j) = first / count;
      if (count > 0) variance_(j) = second / count - mean_(j) * mean_(j);
      constexpr double kLeastVariance = 1e-4;  // of conditions that do not vary
      variance_(j) = std::max(variance_(j), kLeastVariance);
    }
    for (const Eigen::Index classes : shape_.categories) {
      frequencies_.emplace_back(Vector<double>::Constant(classes, kPseudoRows));
    }
    for (std::size_t j = 0; j < frequencies_.size(); ++j) {
      for (Eigen::Index row = 0; row < x_.rows(); ++row) {
        add_class(row, j, weights_(row), frequencies_[j]);
      }
      frequencies_[j] /= frequencies_[j].sum();
    }
  }

  void add_class(Eigen::Index row, std::size_t category, double weight,
                 Vector<double>& counts) const {
    const Eigen::Index place = place_of(category);
    if (is_gap(row, place)) return;
    const auto code = static_cast<Eigen::Index>(x_(row, place));
    if (code < counts.size()) counts(code) += weight;
  }

  [[nodiscard]] std::vector<Pattern> patterns(const std::vector<Eigen::Index>& rows) const {
    std::map<std::vector<bool>, Pattern> found;
    for (const Eigen::Index row : rows) {
      std::vector<bool> key(static_cast<std::size_t>(shape_.features), false);
      for (std::size_t j = 0; j < key.size(); ++j) {
        key[j] = is_gap(row, static_cast<Eigen::Index>(j));
      }
      Pattern& own = found[key];
      if (own.rows.empty()) {
        for (Eigen::Index j = 0; j < numbers_; ++j) {
          const bool open = j < shape_.features && key[static_cast<std::size_t>(j)];
          (open ? own.open : own.known).push_back(j);
        }
      }
      own.rows.push_back(row);
    }
    std::vector<Pattern> all;
    for (auto& [key, pattern] : found) all.push_back(std::move(pattern));
    return all;
  }

  // Centres that lie far from one another: each row is chosen with the square of its distance from
  // those before it.
  [[nodiscard]] std::vector<GapComponent> start(std::size_t count,
                                                const std::vector<Eigen::Index>& rows) const {
    std::vector<GapComponent> parts;
    Vector<double> uniforms(static_cast<Eigen::Index>(count));
    kernels::fill_uniforms(
        kernels::RandomArguments<double>{{seed_, kGapStart, count}, 0, count, 1, uniforms.data()});
    Vector<double> distance = Vector<double>::Ones(static_cast<Eigen::Index>(rows.size()));
    for (std::size_t c = 0; c < count; ++c) {
      double rest = uniforms(static_cast<Eigen::Index>(c)) * distance.sum();
      std::size_t chosen = 0;
      while (chosen + 1 < rows.size() && rest >= distance(static_cast<Eigen::Index>(chosen))) {
        rest -= distance(static_cast<Eigen::Index>(chosen++));
      }
      GapComponent part{.log_weight = -std::log(static_cast<double>(count)),
                        .mean = count == 1 ? mean_ : filled(rows[chosen]),
                        .covariance = Matrix<double>(variance_.asDiagonal()),
                        .probabilities = frequencies_};
      for (std::size_t j = 0; j < frequencies_.size() && count > 1; ++j) {
        add_class(rows[chosen], j, 1, part.probabilities[j]);
        part.probabilities[j] /= part.probabilities[j].sum();
      }
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const double apart =
            (filled(rows[i]) - part.mean).cwiseAbs2().cwiseQuotient(variance_).sum();
        double& nearest = distance(static_cast<Eigen::Index>(i));
        nearest = c == 0 ? apart : std::min(nearest, apart);
      }
      if (!(distance.sum() > 0)) distance.setOnes();
      parts.push_back(std::move(part));
    }
    return parts;
  }

  [[nodiscard]] Vector<double> filled(Eigen::Index row) const {
    Vector<double> values = y_.row(row);
    for (Eigen::Index j = 0; j < shape_.features; ++j) {
      if (is_gap(row, j)) values(j) = mean_(j);
    }
    return values;
  }

  [[nodiscard]] std::vector<GapComponent> maximize(std::size_t count,
                                                   const std::vector<Eigen::Index>& rows) const {
    std::vector<GapComponent> parts = start(count, rows);
    const std::vector<Pattern> all = patterns(rows);
    const double weight = weights_(rows).sum();
    double before = -std::numeric_limits<double>::infinity();
    for (int step = 0; step < kMostEmSteps; ++step) {
      std::vector<Sums> sums(count, {.first = Vector<double>::Zero(numbers_),
                                     .second = Matrix<double>::Zero(numbers_, numbers_),
                                     .classes = {}});
      for (Sums& sum : sums) {
        for (const Vector<double>& f : frequencies_) sum.classes.emplace_back(kPseudoRows * f);
      }
      double total = 0;
      for (const Pattern& pattern : all) total += add(pattern, parts, &sums);
      update(sums, weight, parts);
      const double now = total / weight;
      if (!(now > before + kHardlyBetter)) break;
      before = now;
    }
    return parts;
  }

  [[nodiscard]] double mean_log_density(const std::vector<GapComponent>& parts,
                                        const std::vector<Eigen::Index>& rows) const {
    double total = 0;
    for (const Pattern& pattern : patterns(rows)) total += add(pattern, parts, nullptr);
    return total / weights_(rows).sum();
  }

  // Adds the expectations of a pattern's rows, and returns the sum of their log densities.
  double add(const Pattern& pattern, const std::vector<GapComponent>& parts,
             std::vector<Sums>* sums) const {
    const auto rows = static_cast<Eigen::Index>(pattern.rows.size());
    const auto known = static_cast<Eigen::Index>(pattern.known.size());
    const Matrix<double> values = y_(pattern.rows, pattern.known);
    Matrix<double> log_joint(rows, static_cast<Eigen::Index>(parts.size()));
    std::vector<Eigen::LLT<Matrix<double>>> solvers;
    for (std::size_t c = 0; c < parts.size(); ++c) {
      const Matrix<double> covariance = parts[c].covariance(pattern.known, pattern.known);
      const Eigen::LLT<Matrix<double>>& solver = solvers.emplace_back(covariance);
      const Vector<double> mean = parts[c].mean(pattern.known);
      const Matrix<double> white =
          solver.matrixL().solve((values.rowwise() - mean.transpose()).transpose());
      const Matrix<double> factor = solver.matrixL();
      const double constant = parts[c].log_weight - factor.diagonal().array().log().sum() -
                              0.5 * static_cast<double>(known) * std::log(2 * std::numbers::pi);
      auto column = log_joint.col(static_cast<Eigen::Index>(c));
      column = (constant - 0.5 * white.colwise().squaredNorm().array()).matrix().transpose();
      for (Eigen::Index i = 0; i < rows; ++i) {
        column(i) += log_classes(pattern.rows[static_cast<std::size_t>(i)], parts[c]);
      }
    }
    const Vector<double> log_density = log_sum_exp_of_rows(log_joint);
    const Vector<double> weights = weights_(pattern.rows);
    if (sums != nullptr) {
      const Matrix<double> shares =
          (log_joint.colwise() - log_density).array().exp().colwise() * weights.array();
      for (std::size_t c = 0; c < parts.size(); ++c) {
        add_moments(pattern, values, parts[c], solvers[c], shares.col(static_cast<Eigen::Index>(c)),
                    (*sums)[c]);
      }
    }
    return log_density.dot(weights);
  }

  [[nodiscard]] double log_classes(Eigen::Index row, const GapComponent& part) const {
    double sum = 0;
    for (std::size_t j = 0; j < part.probabilities.size(); ++j) {
      if (is_gap(row, place_of(j))) continue;
      const auto code = static_cast<Eigen::Index>(x_(row, place_of(j)));
      if (code < part.probabilities[j].size()) sum += std::log(part.probabilities[j](code));
    }
    return sum;
  }

  void add_moments(const Pattern& pattern, const Matrix<double>& values, const GapComponent& part,
                   const Eigen::LLT<Matrix<double>>& solver, const Vector<double>& shares,
                   Sums& sums) const {
    Matrix<double> expected(values.rows(), numbers_);
    expected(Eigen::all, pattern.known) = values;
    const double weight = shares.sum();
    if (!pattern.open.empty()) {
      const Matrix<double> cross = part.covariance(pattern.open, pattern.known);
      const Matrix<double> gain = solver.solve(cross.transpose()).transpose();
      const Vector<double> mean = part.mean(pattern.known);
      Matrix<double> open = (values.rowwise() - mean.transpose()) * gain.transpose();
      open.rowwise() += Vector<double>(part.mean(pattern.open)).transpose();
      expected(Eigen::all, pattern.open) = open;
      const Matrix<double> left =
          part.covariance(pattern.open, pattern.open) - gain * cross.transpose();
      for (std::size_t i = 0; i < pattern.open.size(); ++i) {
        for (std::size_t j = 0; j < pattern.open.size(); ++j) {
          sums.second(pattern.open[i], pattern.open[j]) +=
              weight * left(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j));
        }
      }
    }
    sums.weight += weight;
    sums.first += expected.transpose() * shares;
    sums.second += expected.transpose() * shares.asDiagonal() * expected;
    for (std::size_t j = 0; j < sums.classes.size(); ++j) {
      for (std::size_t i = 0; i < pattern.rows.size(); ++i) {
        add_class(pattern.rows[i], j, shares(static_cast<Eigen::Index>(i)), sums.classes[j]);
      }
    }
  }

  // A few rows' worth of independent columns keep covariances of few rows regular.
  void update(const std::vector<Sums>& sums, double rows, std::vector<GapComponent>& parts) const {
    const double prior = 1 + 0.5 * static_cast<double>(numbers_);
    for (std::size_t c = 0; c < parts.size(); ++c) {
      GapComponent& part = parts[c];
      const Sums& sum = sums[c];
      constexpr double kLeastWeight = 1e-9;
      part.log_weight = std::log(std::max(sum.weight / rows, kLeastWeight));
      if (sum.weight > kLeastWeight) part.mean = sum.first / sum.weight;
      part.covariance = sum.second - sum.weight * part.mean * part.mean.transpose();
      part.covariance.diagonal() += prior * variance_;
      part.covariance /= sum.weight + prior;
      for (std::size_t j = 0; j < sum.classes.size(); ++j) {
        part.probabilities[j] = sum.classes[j] / sum.classes[j].sum();
      }
    }
  }

  const RowShape& shape_;
  const MatrixView<double>& x_;
  const Gaps& gaps_;
  std::uint64_t seed_;
  Eigen::Index numbers_;
  Vector<double> weights_;  // of the rows; their mean is 1
  Matrix<double> y_;        // the numbers of the rows, then their context
  Vector<double> mean_;
  Vector<double> variance_;
  std::vector<Vector<double>> frequencies_;
};

}  // namespace

GapMixture::GapMixture(const RowShape& shape, const MatrixView<double>& x,
                       const MatrixView<double>& context, const Gaps& gaps, std::uint64_t seed,
                       const Vector<double>& weights)
    : shape_(shape), components_(MixtureFitter(shape, x, context, gaps, seed, weights).fit()) {}

}  // namespace jeffreys

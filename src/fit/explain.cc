#include "jeffreys/fit/explain.h"

#include <algorithm>
#include <cmath>

namespace jeffreys {
namespace {

// Points of the integral over a number, in standardised units, from -kGridReach to kGridReach or a
// little beyond the row's own.
constexpr Eigen::Index kGridPoints = 129;
constexpr double kGridReach = 6;
// Bounds the memory.
constexpr Eigen::Index kGridPointsAtOnce = 1 << 16;

// A distribution of one column given the others: logarithms of values, which are densities over
// steps of a grid or, where the step is 1, masses of classes.
class Conditional {
 public:
  void add(double log_value, double step) {
    log_values_.push_back(log_value);
    log_steps_.push_back(std::log(step));
  }

  // -log p less the entropy, for a log value of the same scale.
  [[nodiscard]] double surprise(double log_value) const {
    double most = log_value;
    for (const double value : log_values_) most = std::max(most, value);
    double sum = 0;
    for (std::size_t i = 0; i < log_values_.size(); ++i) {
      sum += std::exp(log_values_[i] - most + log_steps_[i]);
    }
    const double log_total = most + std::log(sum);
    return log_total - log_value - entropy(log_total);
  }

  [[nodiscard]] double entropy(double log_total) const {
    double result = 0;
    for (std::size_t i = 0; i < log_values_.size(); ++i) {
      const double log_p = log_values_[i] - log_total;
      if (std::isfinite(log_p)) result -= std::exp(log_p + log_steps_[i]) * log_p;
    }
    return result;
  }

 private:
  std::vector<double> log_values_;
  std::vector<double> log_steps_;
};

double log_sum(const Eigen::Ref<const Vector<double>>& values) {
  const double most = values.maxCoeff();
  return std::isfinite(most) ? most + std::log((values.array() - most).exp().sum()) : most;
}

template <typename T>
class Explainer {
 public:
  Explainer(const TabularDensity<T>& density, const Schema::Encoded& rows, From from)
      : density_(density), rows_(rows), from_(from) {}

  [[nodiscard]] Vector<double> surprises(const FeaturePlaces& places) const {
    const Eigen::Index each = points_of(places);
    const Eigen::Index at_once = std::max<Eigen::Index>(kGridPointsAtOnce / each, 1);
    Vector<double> result(rows_.size());
    for (Eigen::Index first = 0; first < rows_.size(); first += at_once) {
      const Eigen::Index count = std::min(at_once, rows_.size() - first);
      const Vector<double> values = log_values(places, first, count);
      for (Eigen::Index i = 0; i < count; ++i) {
        result(first + i) = surprise(places, first + i, values.segment(i * each, each));
      }
    }
    return result;
  }

 private:
  struct Grid {
    double begin;
    double step;
  };

  [[nodiscard]] Grid grid_around(double own) const {
    const double begin = std::min(-kGridReach, own - 1);
    const double end = std::max(kGridReach, own + 1);
    return {begin, (end - begin) / static_cast<double>(kGridPoints - 1)};
  }

  // The row itself, then every class, each at all points of the grid where there is a number.
  static Eigen::Index points_of(const FeaturePlaces& places) {
    const auto classes = static_cast<Eigen::Index>(std::max<std::size_t>(places.classes, 1));
    return 1 + classes * (places.number >= 0 ? kGridPoints : 1);
  }

  [[nodiscard]] Vector<double> log_values(const FeaturePlaces& places, Eigen::Index first,
                                          Eigen::Index count) const {
    const Eigen::Index each = points_of(places);
    Matrix<double> x(count * each, rows_.x.cols());
    Matrix<double> context(rows_.context.cols() > 0 ? x.rows() : 1, rows_.context.cols());
    const Eigen::Index numbers = places.number >= 0 ? kGridPoints : 1;
    for (Eigen::Index i = 0; i < count; ++i) {
      const auto own = rows_.x.row(first + i);
      auto part = x.middleRows(i * each, each);
      part.rowwise() = own;
      if (context.cols() > 0) {
        context.middleRows(i * each, each).rowwise() = rows_.context.row(first + i);
      }
      for (Eigen::Index p = 1; p < each; ++p) {
        if (places.category >= 0) {
          const Eigen::Index category = (p - 1) / numbers;
          part(p, places.category) = static_cast<double>(category);
        }
        if (places.number >= 0) {
          const auto [begin, step] = grid_around(own(places.number));
          part(p, places.number) = begin + step * static_cast<double>((p - 1) % numbers);
        }
      }
    }
    return density_.log_unnormalized(x, context, from_);
  }

  [[nodiscard]] double surprise(const FeaturePlaces& places, Eigen::Index row,
                                const Eigen::Ref<const Vector<double>>& values) const {
    Conditional conditional;
    if (places.number < 0) return class_surprise(places, row, values);
    const double step = grid_around(rows_.x(row, places.number)).step;
    for (Eigen::Index p = 0; p < kGridPoints; ++p) conditional.add(values(1 + p), step);
    double own = values(0);
    // The classes after the first are atoms, which leave the number free.
    for (Eigen::Index k = 1; k < static_cast<Eigen::Index>(places.classes); ++k) {
      const double mass =
          log_sum(values.segment(1 + k * kGridPoints, kGridPoints)) + std::log(step);
      conditional.add(mass, 1);
      if (rows_.x(row, places.category) == static_cast<double>(k)) own = mass;
    }
    return conditional.surprise(own);
  }

  [[nodiscard]] double class_surprise(const FeaturePlaces& places, Eigen::Index row,
                                      const Eigen::Ref<const Vector<double>>& values) const {
    const auto classes = static_cast<Eigen::Index>(places.classes);
    const auto known = values.tail(classes);
    const double unseen = log_sum(known) + std::log(places.unseen / (1 - places.unseen));
    Conditional conditional;
    for (Eigen::Index k = 0; k < classes; ++k) conditional.add(known(k), 1);
    conditional.add(unseen, 1);
    const auto own = static_cast<Eigen::Index>(rows_.x(row, places.category));
    return conditional.surprise(own < classes ? known(own) : unseen);
  }

  const TabularDensity<T>& density_;
  const Schema::Encoded& rows_;
  From from_;
};

}  // namespace

template <typename T>
Surprises explain(const TabularDensity<T>& density, const Table& table, From from) {
  const Schema::Encoded rows = density.schema().encode(table, Unusual::keep);
  const std::vector<FeaturePlaces> places = density.schema().feature_places();
  Surprises result{
      {}, Matrix<double>(rows.size(), static_cast<Eigen::Index>(places.size())), rows.rows};
  const Explainer<T> explainer(density, rows, from);
  for (std::size_t j = 0; j < places.size(); ++j) {
    result.columns.push_back(places[j].name);
    result.nats.col(static_cast<Eigen::Index>(j)) = explainer.surprises(places[j]);
  }
  for (Eigen::Index row = 0; row < rows.size(); ++row) {
    if (rows.has_gaps(row)) result.nats.row(row).setConstant(std::nan(""));
  }
  return result;
}

template Surprises explain(const TabularDensity<float>&, const Table&, From);
template Surprises explain(const TabularDensity<double>&, const Table&, From);

}  // namespace jeffreys

// A simple density of rows with categories that can be conditioned on any of their numbers:
//   g(x, k) = sum_c w_c N(x; m_c, S_c) prod_j P_cj(k_j).
// It proposes what stands in the gaps of a row; a model decides with which weight.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "jeffreys/fit/models.h"
#include "jeffreys/table/encoded_rows.h"

namespace jeffreys {

struct GapComponent {
  double log_weight = 0;
  Vector<double> mean;
  Matrix<double> covariance;
  std::vector<Vector<double>> probabilities = {};  // of the classes of each category
};

// By expectation maximisation, which leaves gaps out.
class GapMixture {
 public:
  // x, context and gaps (or none) as in EncodedRows. The context counts as numbers that are always
  // known. Rows that are held out for a moment say how many components there are. The same
  // arguments give the same mixture. weights: how much each row counts, in any unit; none: all the
  // same.
  GapMixture(const RowShape& shape, const MatrixView<double>& x, const MatrixView<double>& context,
             const Gaps& gaps, std::uint64_t seed, const Vector<double>& weights = {});

  [[nodiscard]] const RowShape& shape() const { return shape_; }
  [[nodiscard]] const std::vector<GapComponent>& components() const { return components_; }

 private:
  RowShape shape_;
  std::vector<GapComponent> components_;
};

// Random numbers for one value of each gap of a pattern; a row for each point.
struct GapNoise {
  Vector<double> choice;   // uniform: chooses the component
  Matrix<double> numbers;  // standard normal: [points, numbers with a gap]
  Matrix<double> classes;  // uniform: [points, categories with a gap]
};

// g(gaps | the others) of rows that have the same gaps. One of ten proposals is drawn with wider
// covariances, so that no weight is large where a model has heavier tails.
class GapConditional {
 public:
  // gaps [features].
  GapConditional(const GapMixture& mixture,
                 const Eigen::Ref<const Eigen::Array<bool, 1, -1>>& gaps);

  [[nodiscard]] Eigen::Index numbers() const {
    return static_cast<Eigen::Index>(open_numbers_.size());
  }
  [[nodiscard]] Eigen::Index classes() const {
    return static_cast<Eigen::Index>(open_classes_.size());
  }

  // Fills the gaps of x [points, features] and returns the log densities of what it filled in.
  // context [points or 1, context features]. If the rows of x are the same but for their gaps
  // (`alike`), that is used.
  Vector<double> draw(const GapNoise& noise, const MatrixView<double>& context, bool alike,
                      const Eigen::Ref<Matrix<double>>& x) const;
  // Of the values that the gaps of x hold.
  [[nodiscard]] Vector<double> log_density(const MatrixView<double>& x,
                                           const MatrixView<double>& context) const;

 private:
  struct Part {
    double log_weight = 0;
    Vector<double> known_mean = {};
    Matrix<double> known_factor = {};  // lower Cholesky factor of the known numbers' covariance
    double known_log_volume = 0;
    Vector<double> mean = {};    // of the open numbers
    Matrix<double> gain = {};    // [open, known]: how their mean follows the known numbers
    Matrix<double> factor = {};  // lower Cholesky factor of their covariance given these
    double log_volume = 0;
  };
  // What a row says about its gaps: the mean of each component, and its log weight.
  struct Given {
    Matrix<double> means;  // [components, open numbers]
    Vector<double> log_weights;
  };

  [[nodiscard]] Given given(const MatrixView<double>& x, const MatrixView<double>& context,
                            Eigen::Index row) const;
  void fill(const Given& given, const GapNoise& noise, Eigen::Index point,
            Eigen::Ref<Matrix<double>> x) const;
  [[nodiscard]] double log_density(const Given& given, const MatrixView<double>& x,
                                   Eigen::Index row) const;
  [[nodiscard]] double log_class(std::size_t component, std::size_t category, double code) const;

  const GapMixture& mixture_;
  std::vector<Eigen::Index> known_numbers_;  // the context's after the features'
  std::vector<Eigen::Index> open_numbers_;
  std::vector<std::size_t> known_classes_;
  std::vector<std::size_t> open_classes_;
  std::vector<Part> parts_;
};

// Rows by their gaps: the numbers of those that have the same ones. Rows without gaps are left out.
[[nodiscard]] std::map<std::vector<bool>, std::vector<std::size_t>> rows_by_gaps(const Gaps& gaps);
[[nodiscard]] Eigen::Array<bool, 1, -1> as_gaps(const std::vector<bool>& pattern);

}  // namespace jeffreys

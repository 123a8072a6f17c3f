// Fréchet distance of two sets of feature rows, each taken for a Gaussian (Heusel et al. 2017):
//   |mu1 - mu2|^2 + tr(S1 + S2 - 2 (S1^1/2 S2 S1^1/2)^1/2)
// It is the square of the 2-Wasserstein distance of the two Gaussians. With the 2048 features of
// pytorch-fid's Inception-v3 it is the FID; with other features it is another number, which cannot
// be compared with one.
#pragma once

#include <cstdint>

#include "jeffreys/base/matrix.h"

namespace jeffreys {

// First two moments of rows that arrive in parts.
class FeatureMoments {
 public:
  explicit FeatureMoments(Eigen::Index features);
  // Of rows that are there as a whole.
  explicit FeatureMoments(const MatrixView<double>& rows);

  // rows: [rows, features], in any number of parts; the result is the same but for rounding. Throws
  // std::invalid_argument for another number of features, and for a row that is not finite.
  void add(const MatrixView<double>& rows);
  void add(const FeatureMoments& other);

  [[nodiscard]] Eigen::Index rows() const { return rows_; }
  [[nodiscard]] Eigen::Index features() const { return mean_.size(); }
  [[nodiscard]] const Vector<double>& mean() const { return mean_; }
  // [features, features], with rows - 1 in the denominator. Throws std::invalid_argument for fewer
  // than two rows.
  [[nodiscard]] Matrix<double> covariance() const;

 private:
  Eigen::Index rows_ = 0;
  Vector<double> mean_;
  Matrix<double> scatter_;  // sum of (x - mean)(x - mean)^T
};

// Covariances of any rank, also from fewer rows than features. The error of rounding is about 1e-13
// times tr(S1 + S2); never negative. Throws std::invalid_argument for fewer than two rows, or for
// moments of different features.
[[nodiscard]] double frechet_distance(const FeatureMoments& first, const FeatureMoments& second);
[[nodiscard]] double frechet_distance(const MatrixView<double>& first,
                                      const MatrixView<double>& second);
// Of two Gaussians; covariances: [features, features], symmetric without negative eigenvalues.
[[nodiscard]] double frechet_distance(const VectorView<double>& first_mean,
                                      const MatrixView<double>& first_covariance,
                                      const VectorView<double>& second_mean,
                                      const MatrixView<double>& second_covariance);

struct FrechetOptions {
  int resamples = 200;  // at least 2
  std::uint64_t seed = 0;

  // Throws std::invalid_argument naming the field, expected and actual value.
  void validate() const;
};

// A distance with its 95 % interval by the bootstrap: rows of both sets are drawn anew with
// replacement, and the spread of the distances of such draws is put around the distance itself.
//
// The distance of few rows is too large, since their covariances differ by chance; the interval is
// one of the distance of sets of this size, not of infinitely many rows. `bias` says how much too
// large by the bootstrap's own estimate: how much resampling adds once more.
struct FrechetInterval {
  double distance = 0;
  double lower = 0;  // not below 0
  double upper = 0;
  double standard_error = 0;
  double bias = 0;
};

// first, second: [rows, features]. A distance for each resample: quick with a hundred features,
// long with 2048, whose time grows with the cube.
[[nodiscard]] FrechetInterval frechet_interval(const MatrixView<double>& first,
                                               const MatrixView<double>& second,
                                               const FrechetOptions& options = {});

// What the distance is where there is none: between two random halves of the same rows, over as
// many cuts as there are resamples. Belongs beside every distance from few rows.
struct HalvesDistance {
  double mean = 0;
  double standard_deviation = 0;  // of one cut
  Eigen::Index rows = 0;          // of each half
};

// Throws std::invalid_argument for fewer than four rows.
[[nodiscard]] HalvesDistance frechet_between_halves(const MatrixView<double>& rows,
                                                    const FrechetOptions& options = {});

}  // namespace jeffreys

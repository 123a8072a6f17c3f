// Classifier two-sample test (C2ST) as the SBI benchmark sbibm defines it: how well a small network
// tells a model's samples from exact ones, by cross-validation. 0.5 means that it cannot, 1 that it
// always can. The paper's own test, with boosted trees, is in two_sample_test.h; the two numbers
// are not comparable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "jeffreys/base/matrix.h"

namespace jeffreys {

struct NeuralTwoSampleOptions {
  std::size_t folds = 5;           // 2 to 1000
  std::size_t max_epochs = 10000;  // of each training, which ends by itself long before
  std::uint64_t seed = 0;          // of the folds, the networks' starts and the order of rows

  void validate() const;
};

struct NeuralTwoSampleResult {
  double accuracy = 0;        // mean of the folds'
  double standard_error = 0;  // see below
  std::vector<double> fold_accuracies;
  std::size_t most_epochs = 0;  // of any fold; max_epochs means that training was cut short
  std::string definition;       // protocol and classifier in one sentence, for tables of results
};

// sbibm's protocol: as many rows of either kind ([rows, features] each), in units of the exact
// ones' deviations; random folds; for each of them a network with two layers of 10 x features ReLU
// units that learns from the other folds as scikit-learn's MLPClassifier does by default. One
// thread; the same arguments give the same result.
//
// Beside scikit-learn 1.2 on the same rows (equal, shifted and narrower Gaussians, two moons; 2, 3
// and 10 features, 2 x 1000 to 2 x 10000 rows; 5 to 12 of its seeds), the mean accuracies of 8 of
// 11 pairs differ by at most 0.004, and of the other three, whose seeds spread by 0.006 to 0.05,
// by at most 0.009; in standard errors of the difference by 1.3 in these three and by 2.4 in any.
// It takes a quarter (10 features) to a seventeenth of the processor time.
//
// Differs from sbibm: deviations divide by the number of rows, not by one fewer; a column of the
// exact rows that does not vary keeps its units, where sbibm divides by zero; values beyond 1e6
// deviations count as 1e6.
//
// The standard error is the larger of the binomial one of all rows, each of which is tested once,
// and that of the mean of the folds. The first leaves out that networks differ, the second is
// itself uncertain by a third with 5 folds, and both that folds share their training rows. Over 200
// pairs of 2 x 500 rows, accuracies of Gaussians at distance 1 spread by 0.0164 and the mean
// standard error is 0.0162; those of equal ones by 0.0196 and 0.0169. The mean of the latter is
// 0.492: where a fold has more rows of one kind, its network has learned from fewer of that kind.
//
// Throws std::invalid_argument unless both have the same shape, at least one column, a row of
// either kind for each fold, finite values, and those of exact a finite variance.
[[nodiscard]] NeuralTwoSampleResult neural_two_sample_test(
    const MatrixView<double>& exact, const MatrixView<double>& model,
    const NeuralTwoSampleOptions& options = {});

}  // namespace jeffreys

// Posteriors against the reference samples of the sbibm benchmark (Lueckmann et al. 2021), ten
// observations of each task. JEFFREYS_DATA names the folder that holds sbibm/.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <tuple>
#include <vector>

#include "jeffreys/table/table_file.h"
#include "jeffreys/truth/task.h"
#include "support/scratch_folder.h"
#include "truth/task_grid.h"

namespace jeffreys {
namespace {

Matrix<double> read_numbers(const std::filesystem::path& path) {
  const Table table = read_table(path);
  Matrix<double> result(static_cast<Eigen::Index>(table.rows()),
                        static_cast<Eigen::Index>(table.columns.size()));
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    result.col(static_cast<Eigen::Index>(c)) =
        Eigen::Map<const Vector<double>>(table.columns[c].numbers.data(), result.rows());
  }
  return result;
}

class SbibmReference : public testing::ScratchTest,
                       public ::testing::WithParamInterface<std::tuple<std::string, int>> {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("JEFFREYS_DATA");
    if (folder == nullptr ||
        !std::filesystem::is_directory(std::filesystem::path(folder) / "sbibm")) {
      GTEST_SKIP() << "set JEFFREYS_DATA to a folder that holds sbibm/ to run this test";
    }
    if (std::system("command -v bzcat > /dev/null") != 0) {
      GTEST_SKIP() << "install bzip2 to run this test";
    }
    const auto& [name, number] = GetParam();
    const std::filesystem::path place = std::filesystem::path(folder) / "sbibm" / name /
                                        ("num_observation_" + std::to_string(number));
    task_ = make_task(name == "gaussian_mixture" ? "gaussian_mixture_sbibm" : name);
    observation_ = read_numbers(place / "observation.csv").row(0);
    const std::string packed = (place / "reference_posterior_samples.csv.bz2").string();
    const std::string command = "bzcat '" + packed + "' > '" + path("samples.csv").string() + "'";
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
    reference_ = read_numbers(path("samples.csv"));
    ASSERT_EQ(reference_.rows(), 10000);
    ASSERT_EQ(reference_.cols(), 2);
  }

  std::unique_ptr<Task> task_;
  Vector<double> observation_;
  Matrix<double> reference_;
};

// Both parameters, their sum and their difference.
Matrix<double> projections(const Matrix<double>& parameters) {
  Matrix<double> result(parameters.rows(), 4);
  result << parameters, parameters.col(0) + parameters.col(1),
      parameters.col(0) - parameters.col(1);
  return result;
}

std::vector<double> sorted(const Matrix<double>& x, Eigen::Index column) {
  std::vector<double> values(static_cast<std::size_t>(x.rows()));
  for (Eigen::Index i = 0; i < x.rows(); ++i) values[static_cast<std::size_t>(i)] = x(i, column);
  std::sort(values.begin(), values.end());
  return values;
}

// The largest difference of two empirical distribution functions (Kolmogorov-Smirnov).
double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (const double value : a) {
    const auto below_a = std::upper_bound(a.begin(), a.end(), value) - a.begin();
    const auto below_b = std::upper_bound(b.begin(), b.end(), value) - b.begin();
    const double part_a = static_cast<double>(below_a) / static_cast<double>(a.size());
    const double part_b = static_cast<double>(below_b) / static_cast<double>(b.size());
    largest = std::max(largest, std::abs(part_a - part_b));
  }
  return largest;
}

TEST_P(SbibmReference, IsDistributedAsExactSamples) {
  const Matrix<double> exact = projections(task_->sample_posterior(20000, observation_, 1));
  const Matrix<double> reference = projections(reference_);
  const double inverse_rows =
      1 / static_cast<double>(reference.rows()) + 1 / static_cast<double>(exact.rows());
  // Exceeded by one of 80 comparisons with probability 0.001: 2 exp(-2 limit^2) = 0.001 / 80.
  const double limit = std::sqrt(0.5 * std::log(2 * 80 / 0.001));
  for (Eigen::Index c = 0; c < exact.cols(); ++c) {
    SCOPED_TRACE("projection " + std::to_string(c));
    EXPECT_LT(largest_difference(sorted(reference, c), sorted(exact, c)),
              limit * std::sqrt(inverse_rows));
    const double mean = exact.col(c).mean();
    const Vector<double> squares = (exact.col(c).array() - mean).square();
    const double variance = squares.mean();
    EXPECT_NEAR(reference.col(c).mean(), mean, 4 * std::sqrt(variance * inverse_rows));
    const double other = (reference.col(c).array() - reference.col(c).mean()).square().mean();
    const double spread = (squares.array() - variance).square().mean();
    EXPECT_NEAR(other, variance, 4 * std::sqrt(spread * inverse_rows));
  }
}

TEST_P(SbibmReference, HasTheEntropyOfTheDensity) {
  const double entropy = testing::integrate_posterior(*task_, observation_, 900).entropy;
  const Vector<double> log_p = task_->posterior_log_prob(reference_, observation_);
  ASSERT_TRUE(log_p.allFinite());
  const double variance = (log_p.array() - log_p.mean()).square().mean();
  EXPECT_NEAR(-log_p.mean(), entropy,
              4 * std::sqrt(variance / static_cast<double>(reference_.rows())));
}

INSTANTIATE_TEST_SUITE_P(Observations, SbibmReference,
                         ::testing::Combine(::testing::Values("two_moons", "gaussian_mixture"),
                                            ::testing::Range(1, 11)),
                         [](const auto& each) {
                           return std::get<0>(each.param) + "_" +
                                  std::to_string(std::get<1>(each.param));
                         });

}  // namespace
}  // namespace jeffreys

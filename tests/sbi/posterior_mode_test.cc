// The most probable parameters: on a grid nothing is more probable.
#include "jeffreys/sbi/posterior_mode.h"

#include <gmock/gmock.h>

#include "sbi/posterior_grid.h"
#include "sbi/small_posteriors.h"
#include "support/mistake_of.h"

namespace jeffreys::testing {
namespace {

using ::testing::HasSubstr;

TEST(PosteriorMode, NothingOnAFineGridIsMoreProbable) {
  const Posterior posterior = untrained_posterior({.roughness = 0.1});
  for (const Matrix<double>& observed : {observation(0.2, 5), observation(1.05, 9.8)}) {
    const PosteriorMode mode = find_mode(posterior, observed);
    Matrix<double> grid(201 * 201, 2);
    for (Eigen::Index i = 0; i < grid.rows(); ++i) {
      grid(i, 0) = -1 + 2 * static_cast<double>(i % 201) / 200;
      grid(i, 1) = 2 + 8 * static_cast<double>(i / 201) / 200;
    }
    EXPECT_GE(mode.log_prob, posterior.log_prob(grid, observed).maxCoeff() - 1e-3);
    const Matrix<double> itself = mode.parameters.transpose();
    EXPECT_EQ(posterior.log_prob(itself, observed)(0), mode.log_prob);
    EXPECT_EQ(find_mode(posterior, observed).parameters, mode.parameters);
  }
}

TEST(PosteriorMode, TellsWhatIsWrong) {
  const Posterior posterior = untrained_posterior();
  const Matrix<double> observed = observation(0.2, 5);
  EXPECT_THAT(mistake_of([&] { (void)find_mode(posterior, observed, 9); }),
              HasSubstr("samples: expected at least 10, got 9"));
  EXPECT_THAT(mistake_of([&] { (void)find_mode(posterior, observed.replicate(2, 1)); }),
              HasSubstr("observed: expected one observation, got 2"));
}

}  // namespace
}  // namespace jeffreys::testing

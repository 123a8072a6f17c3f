#include "jeffreys/model/density_mixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "jeffreys/model/gaussian_mixture.h"
#include "jeffreys/model/model_file.h"
#include "jeffreys/model/model_kind.h"
#include "jeffreys/model/spline_flow.h"
#include "support/mixed_models.h"
#include "support/model_helpers.h"
#include "support/scratch_folder.h"

namespace jeffreys {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

GaussianMixture<double> normal_at(double mean) {
  return GaussianMixture<double>(
      {{1, Vector<double>::Constant(1, mean), Matrix<double>::Identity(1, 1)}});
}

std::vector<AnyDensity<double>> two_normals() {
  std::vector<AnyDensity<double>> parts;
  parts.emplace_back(normal_at(-10));
  parts.emplace_back(normal_at(10));
  return parts;
}

std::string refusal(std::vector<AnyDensity<double>> parts, const std::vector<double>& weights) {
  try {
    const DensityMixture<double> mixture(std::move(parts), weights);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(DensityMixture, IsTheWeightedSumOfItsComponents) {
  const DensityMixture<double> mixture(two_normals(), {3, 1});
  EXPECT_THAT(mixture.weights(), ElementsAre(DoubleNear(0.75, 1e-12), DoubleNear(0.25, 1e-12)));
  const Matrix<double> x = Vector<double>::LinSpaced(50, -13, 13);
  const Vector<double> expected = (0.75 * normal_at(-10).log_prob(x).array().exp() +
                                   0.25 * normal_at(10).log_prob(x).array().exp())
                                      .log();
  EXPECT_TRUE(mixture.log_prob(x).isApprox(expected, 1e-12));
}

// The standard error of the share is 0.002.
TEST(DensityMixture, DrawsComponentsByTheirWeights) {
  const DensityMixture<double> mixture(two_normals(), {3, 1});
  const Samples<double> samples = mixture.sample(40000, {1, 2, 3});
  const double share = (samples.x.array() < 0).cast<double>().mean();
  EXPECT_NEAR(share, 0.75, 0.008);
}

TEST(DensityMixture, FirstRowsOfALargerSampleAreASmallerOne) {
  const DensityMixture<double> mixture(two_normals(), {3, 1});
  const Samples<double> few = mixture.sample(70, {1, 2, 3});
  EXPECT_EQ(few.x, mixture.sample(300, {1, 2, 3}).x.topRows(70));
}

TEST(DensityMixture, CountsEqualComponentsInItsDescription) {
  std::vector<AnyDensity<double>> parts;
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    parts.emplace_back(
        SplineFlow<double>({.features = 1, .transforms = 1, .hidden = {4}, .seed = seed}));
  }
  parts.emplace_back(normal_at(0));
  const DensityMixture<double> mixture(std::move(parts), {1, 1, 1, 1});
  EXPECT_THAT(describe_model<double>(mixture), HasSubstr("components: 3 (spline flow"));
  EXPECT_THAT(describe_model<double>(mixture), HasSubstr("1 (gaussian mixture"));
}

TEST(DensityMixture, RefusesWhatDoesNotFitTogether) {
  EXPECT_THAT(refusal({}, {}), HasSubstr("at least one"));
  EXPECT_THAT(refusal(two_normals(), {1}), HasSubstr("weights: expected 2 elements, got 1"));
  EXPECT_THAT(refusal(two_normals(), {1, 0}), HasSubstr("expected positive numbers, got 0"));
  std::vector<AnyDensity<double>> wider = two_normals();
  wider.emplace_back(GaussianMixture<double>(GaussianMixtureOptions{.features = 2}));
  EXPECT_THAT(refusal(std::move(wider), {1, 1, 1}), HasSubstr("components.features"));
  std::vector<AnyDensity<double>> nested = two_normals();
  nested.emplace_back(DensityMixture<double>(two_normals(), {1, 1}));
  EXPECT_THAT(refusal(std::move(nested), {1, 1, 1}), HasSubstr("not made of others"));
}

TEST(DensityMixture, IsNoPartOfAMixedModel) {
  const MixedDensityOptions options{.features = 1, .categories = {2}};
  std::vector<AnyDensity<double>> parts;
  parts.emplace_back(
      GaussianMixture<double>(GaussianMixtureOptions{.features = 1, .context_features = 2}));
  auto inner = std::make_unique<DensityMixture<double>>(std::move(parts), std::vector<double>{1});
  EXPECT_THROW(MixedDensity<double>(options, std::move(inner)), std::invalid_argument);
}

// Architectures as a damaged file could have them.
TEST(DensityMixture, RefusesArchitecturesThatMakeNoSense) {
  const ModelKind<double> kind = find_model_kind<double>("density_mixture");
  for (const char* text :
       {"[]", "{\"model\":\"density_mixture\"}",
        "{\"model\":\"density_mixture\",\"components\":[]}",
        "{\"model\":\"density_mixture\",\"components\":[3]}",
        "{\"model\":\"density_mixture\",\"components\":[{\"model\":\"density_mixture\","
        "\"components\":[]}]}",
        "{\"model\":\"density_mixture\",\"components\":[{\"model\":\"nothing\"}]}",
        "{\"model\":\"density_mixture\",\"components\":[{\"model\":\"residual_energy\"}]}"}) {
    EXPECT_THROW(static_cast<void>(kind.make(text)), std::invalid_argument) << text;
    EXPECT_THROW(static_cast<void>(kind.least_parameters(text)), std::invalid_argument) << text;
  }
}

}  // namespace
}  // namespace jeffreys

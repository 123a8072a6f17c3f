// Models of rows with categories on disk, and what is refused as one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "jeffreys/model/mixed_density.h"
#include "jeffreys/model/model_file.h"
#include "jeffreys/model/model_kind.h"
#include "support/gaussian_models.h"
#include "support/mistake_of.h"
#include "support/mixed_models.h"
#include "support/model_helpers.h"
#include "support/scratch_folder.h"

namespace jeffreys {
namespace {

using ::testing::HasSubstr;
using testing::mistake_of;
using testing::mixed_energy;
using testing::mixed_flow;
using testing::normals;
using testing::same_bits;

class MixedFile : public testing::ScratchTest {
 protected:
  // The problem that loading has with this architecture in place of the model's own.
  std::string problem_with(const UnnormalizedDensity<double>& model,
                           const std::function<void(nlohmann::json&)>& damage) {
    nlohmann::json json = nlohmann::json::parse(model.architecture());
    damage(json);
    const ModelKind<double> kind = find_model_kind<double>(json.value("model", ""));
    return mistake_of([&] {
      EXPECT_GT(kind.least_parameters(json.dump()), 0);
      static_cast<void>(kind.make(json.dump()));
    });
  }
};

TEST_F(MixedFile, KeepsSinglePrecision) {
  const auto density = mixed_flow<float>({.features = 2, .categories = {3, 2}});
  const auto energy = mixed_energy<float>({.features = 2, .categories = {3, 2}}, 1);
  save_model<float>(*density, path("density"));
  save_model<float>(*energy, path("energy"));
  Matrix<double> x = normals(30, 4, 1);
  testing::fill_codes({3, 2}, x);
  const Matrix<float> rows = x.cast<float>();
  const Matrix<float> context = normals(30, 1, 2).cast<float>();
  EXPECT_TRUE(same_bits(load_model<float>(path("density")).model->log_unnormalized(rows),
                        density->log_unnormalized(rows)));
  EXPECT_TRUE(same_bits(load_model<float>(path("energy")).model->log_unnormalized(rows, context),
                        energy->log_unnormalized(rows, context)));
  EXPECT_TRUE(load_model<double>(path("density"))
                  .model->log_unnormalized(x)
                  .cast<float>()
                  .isApprox(density->log_unnormalized(rows), 1e-3F));
}

TEST_F(MixedFile, DescribesBothParts) {
  EXPECT_EQ(describe_model(*mixed_flow<double>({.categories = {3, 2}, .hidden = {4}})),
            "mixed, features 0, context features 0, categories 3x2, no given, hidden 4, 56 "
            "parameters");
  EXPECT_THAT(describe_model(*mixed_flow<double>({.features = 1, .categories = {3, 2}})),
              HasSubstr("given (spline flow, features 1, context features 5,"));
  EXPECT_THAT(describe_model(*mixed_energy<double>({.features = 1, .categories = {3, 2}}, 0)),
              HasSubstr("energy (residual energy, features 6,"));
}

TEST_F(MixedFile, DamagedArchitecturesAreRefused) {
  using Json = nlohmann::json;
  const auto density = mixed_flow<double>({.features = 2, .categories = {3, 2}});
  const auto energy = mixed_energy<double>({.features = 2, .categories = {3, 2}}, 0);
  const auto refused = [&](const UnnormalizedDensity<double>& model, const auto& damage,
                           const std::string& named) {
    EXPECT_THAT(problem_with(model, damage), HasSubstr(named));
  };
  EXPECT_EQ(problem_with(*density, [](Json&) {}), "none");
  EXPECT_EQ(problem_with(*energy, [](Json&) {}), "none");
  refused(
      *density, [](Json& j) { j.erase("given"); }, "'given' is missing");
  refused(
      *density, [](Json& j) { j["given"] = 3; }, "'given': expected the architecture");
  refused(
      *density, [](Json& j) { j["given"] = nullptr; }, "given: expected a model");
  refused(
      *density, [](Json& j) { j["given"] = Json(j); }, "not mixed itself");
  refused(
      *density, [](Json& j) { j["given"].erase("model"); }, "'given'");
  refused(
      *density, [](Json& j) { j["given"]["model"] = "none"; }, "unknown model");
  refused(
      *density, [](Json& j) { j["given"]["features"] = -1; }, "features");
  refused(
      *density,
      [](Json& j) {
        j["categories"] = {3, 3};
      },
      "given: expected a model of 2");
  refused(
      *density,
      [](Json& j) {
        j["categories"] = {3, 0};
      },
      "categories");
  refused(
      *density, [](Json& j) { j["categories"] = Json::array(); }, "categories");
  refused(
      *density, [](Json& j) { j["hidden"] = {-4}; }, "hidden");
  refused(
      *density, [](Json& j) { j["features"] = 0; }, "given: expected none");
  refused(
      *density, [](Json& j) { j["more"] = 1; }, "newer");
  refused(
      *energy, [](Json& j) { j.erase("energy"); }, "'energy' is missing");
  refused(
      *energy, [](Json& j) { j["energy"] = nullptr; }, "'energy': expected the architecture");
  refused(
      *energy, [](Json& j) { j["energy"] = Json(j); }, "not mixed itself");
  refused(
      *energy,
      [](Json& j) {
        j["categories"] = {3, 3};
      },
      "energy: expected a model of 8");
  // Far more than memory holds, known before any of it is taken.
  Json large = Json::parse(density->architecture());
  large["categories"] = std::vector<int>(1000, 1 << 20);
  EXPECT_GT(find_model_kind<double>("mixed").least_parameters(large.dump()), 1e17);
}

TEST(MixedDensity, WhatDoesNotFitIsRefused) {
  const auto flow = [](Eigen::Index features, Eigen::Index context) {
    return std::make_unique<SplineFlow<double>>(
        SplineFlowOptions{.features = features, .context_features = context, .transforms = 1});
  };
  const MixedDensityOptions options{.features = 1, .categories = {2}};
  EXPECT_THAT(mistake_of([&] { MixedDensity<double> refused(options); }), HasSubstr("a model"));
  EXPECT_THAT(mistake_of([&] { MixedDensity<double>({.categories = {2}}, flow(1, 2)); }),
              HasSubstr("expected none"));
  EXPECT_THAT(mistake_of([&] { MixedDensity<double>(options, flow(1, 1)); }),
              HasSubstr("1 features with 2 context features, got 1 with 1"));
  EXPECT_THAT(mistake_of([&] {
                MixedDensity<double>(options, std::make_unique<testing::GaussianEnergy>(0, 1, 0));
              }),
              HasSubstr("draws samples"));
  EXPECT_THAT(mistake_of([&] {
                MixedEnergy<double>({.features = 1, .categories = {2}},
                                    mixed_flow<double>({.features = 2, .categories = {4}}));
              }),
              HasSubstr("not mixed itself"));
  EXPECT_THAT(mistake_of([] { MixedDensity<double>({.features = -1, .categories = {2}}); }),
              HasSubstr("MixedDensityOptions.features"));
  EXPECT_THAT(mistake_of([] { MixedDensity<double>(MixedDensityOptions{}); }),
              HasSubstr("MixedDensityOptions.categories: expected at least one"));
  EXPECT_THAT(mistake_of([] { MixedDensity<double>({.categories = {2}, .hidden = {0}}); }),
              HasSubstr("MixedDensityOptions.hidden"));
}

}  // namespace
}  // namespace jeffreys

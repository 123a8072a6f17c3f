#include "jeffreys/model/model_kind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jeffreys/model/any_model.h"
#include "jeffreys/model/model_file.h"
#include "support/gaussian_models.h"
#include "support/mistake_of.h"
#include "support/scratch_folder.h"

namespace jeffreys {
namespace {

using testing::GaussianEnergy;
using ::testing::HasSubstr;
using testing::mistake_of;

class ModelKinds : public testing::ScratchTest {};

// A class that the library does not know, as a program that embeds it may have one.
TEST_F(ModelKinds, OfTheCallersOwnAreReadFromFiles) {
  const GaussianEnergy model(0.5, 2, -1);
  save_model(model, path("m"));
  EXPECT_THAT(problem_of(path("m"), [](const auto& p) { load_model<double>(p); }),
              HasSubstr("unknown model 'toy': expected spline_flow"));
  const ModelKind<double> kind{
      "toy", [](const std::string&) { return 3.0; },
      [](const std::string&) { return std::make_unique<GaussianEnergy>(0, 1, 0); }};
  register_model_kind(kind);
  const LoadedModel<double> loaded = load_model<double>(path("m"));
  const Matrix<double> x = Matrix<double>::Constant(1, 1, 0.7);
  EXPECT_EQ(loaded.model->log_unnormalized(x, Matrix<double>()),
            model.log_unnormalized(x, Matrix<double>()));
  EXPECT_THAT(mistake_of([&] { register_model_kind(kind); }), HasSubstr("taken"));
  EXPECT_EQ(describe_model(*loaded.model), "toy, 3 parameters");
}

TEST(AnyModel, ACopyIsAModelOfItsOwn) {
  AnyModel<float> model = SplineFlow<float>({.features = 2, .transforms = 1});
  const AnyModel<float> copy = model;
  const Matrix<float> x = Matrix<float>::Constant(1, 2, 0.3F);
  const float before = copy->log_unnormalized(x)(0);
  model->edit_parameters([](std::span<float> all) {
    for (float& value : all) value += 0.1F;
  });
  EXPECT_EQ(copy->log_unnormalized(x)(0), before);
  EXPECT_NE(model->log_unnormalized(x)(0), before);
  model = copy;
  EXPECT_EQ(model->log_unnormalized(x)(0), before);
}

TEST(AnyModel, ADensityIsNeededWhereSamplesAre) {
  EXPECT_THAT(mistake_of([] { AnyDensity<double>(std::make_unique<GaussianEnergy>(0, 1, 0)); }),
              HasSubstr("draws samples"));
  EXPECT_THAT(mistake_of([] { AnyModel<double>(std::unique_ptr<UnnormalizedDensity<double>>()); }),
              HasSubstr("got none"));
}

}  // namespace
}  // namespace jeffreys

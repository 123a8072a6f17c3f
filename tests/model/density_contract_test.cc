// What every model promises, whatever its kind. A new one adds a line to models().
#include <gtest/gtest.h>

#include <Eigen/Cholesky>

#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <numbers>
#include <string>

#include "jeffreys/model/density_mixture.h"
#include "jeffreys/model/gaussian_mixture.h"
#include "jeffreys/model/model_file.h"
#include "jeffreys/model/model_kind.h"
#include "support/finite_differences.h"
#include "support/mixed_models.h"
#include "support/model_helpers.h"
#include "support/scratch_folder.h"

namespace jeffreys {
namespace {

using testing::normals;
using testing::same_bits;

using Model = UnnormalizedDensity<double>;

struct Maker {
  std::string name;
  std::function<std::unique_ptr<Model>()> make;
  std::vector<Eigen::Index> categories = {};  // the classes of the last columns, which are codes
};
void PrintTo(const Maker& maker, std::ostream* stream) { *stream << maker.name; }

template <typename Kind>
Maker maker(const std::string& name, const typename Kind::Options& options) {
  return {name, [options] { return std::make_unique<Kind>(options); }};
}

Maker mixed_maker(const std::string& name, const MixedDensityOptions& options) {
  return {"Mixed" + name, [options] { return testing::mixed_flow<double>(options); },
          options.categories};
}

Maker mixed_energy_maker(const std::string& name, const MixedEnergyOptions& options,
                         Eigen::Index context_features) {
  return {"MixedEnergy" + name,
          [=] { return testing::mixed_energy<double>(options, context_features); },
          options.categories};
}

// Of a flow and a mixture of Gaussians, the second with twice the weight.
Maker blend_maker(const std::string& name, Eigen::Index features, Eigen::Index context_features) {
  return {"Blend" + name, [=] {
            std::vector<AnyDensity<double>> parts;
            parts.emplace_back(SplineFlow<double>({.features = features,
                                                   .context_features = context_features,
                                                   .transforms = 2,
                                                   .bins = 4,
                                                   .hidden = {8}}));
            parts.emplace_back(GaussianMixture<double>(
                {.features = features, .context_features = context_features, .components = 2}));
            return std::make_unique<DensityMixture<double>>(std::move(parts),
                                                            std::vector<double>{1, 2});
          }};
}

Maker mixed_blend_maker(const std::string& name, const MixedDensityOptions& options) {
  return {"BlendOfMixed" + name,
          [options] {
            std::vector<AnyDensity<double>> parts;
            for (int k = 0; k < 3; ++k) {
              parts.emplace_back(testing::mixed_flow<double>(options));
              testing::add_parameter_noise(*parts.back(), 0.3, 20 + k);
            }
            return std::make_unique<DensityMixture<double>>(std::move(parts),
                                                            std::vector<double>{1, 0.5, 3});
          },
          options.categories};
}

std::vector<Maker> models() {
  return {
      maker<SplineFlow<double>>("Flow", {.features = 2, .transforms = 2, .hidden = {12}}),
      maker<SplineFlow<double>>(
          "FlowContext",
          {.features = 3, .context_features = 2, .transforms = 2, .bins = 4, .hidden = {12}}),
      maker<SplineFlow<double>>(
          "FlowAffine",
          {.features = 3, .context_features = 1, .transforms = 1, .hidden = {8}, .affine = true}),
      maker<SplineFlow<double>>("FlowStudent",
                                {.features = 2, .transforms = 2, .hidden = {8}, .student_t = 3}),
      maker<SplineFlow<double>>(
          "FlowOfOneAffine",
          {.features = 1, .transforms = 1, .bins = 4, .affine = true, .student_t = 5}),
      maker<ResidualEnergy<double>>("Residual", {.features = 2, .hidden = 9, .blocks = 2}),
      maker<ResidualEnergy<double>>("Confined", {.features = 3, .hidden = 9, .confined = true}),
      maker<FilmEnergy<double>>("Film",
                                {.features = 2, .context_features = 2, .hidden = 10, .blocks = 1}),
      maker<FilmEnergy<double>>("Bounded", {.features = 2,
                                            .context_features = 1,
                                            .hidden = 10,
                                            .blocks = 2,
                                            .bounded = true,
                                            .confined = true}),
      maker<GaussianMixture<double>>("Mixture", {.features = 3, .components = 4}),
      maker<GaussianMixture<double>>("MixtureContext",
                                     {.features = 2, .context_features = 2, .components = 3}),
      maker<GaussianMixture<double>>("MixtureOfOne", {.features = 1, .components = 1}),
      mixed_maker("", {.features = 2, .categories = {3, 1, 4}, .hidden = {7, 6}}),
      mixed_maker("Context",
                  {.features = 1, .categories = {2, 5}, .context_features = 2, .hidden = {5}}),
      mixed_maker("OfOne", {.categories = {4}}),
      mixed_maker("NoHidden", {.categories = {2, 3, 2}, .context_features = 1, .hidden = {}}),
      mixed_energy_maker("", {.features = 2, .categories = {3, 2}}, 0),
      mixed_energy_maker("Context", {.categories = {3, 2}}, 2),
      blend_maker("", 3, 0),
      blend_maker("Context", 2, 2),
      mixed_blend_maker("", {.features = 2, .categories = {3, 2}, .hidden = {5}}),
      mixed_blend_maker("Context", {.categories = {3, 2}, .context_features = 1, .hidden = {}}),
  };
}

class DensityContract : public testing::ScratchTest, public ::testing::WithParamInterface<Maker> {
 protected:
  DensityContract() : model(GetParam().make()) {
    testing::add_parameter_noise(*model, 0.2, 3);
    x = 1.3 * normals(kRows, model->features(), 4);
    testing::fill_codes(GetParam().categories, x);
    context = normals(kRows, model->context_features(), 5);
  }

  [[nodiscard]] Vector<double> values() const { return model->log_unnormalized(x, context); }

  static constexpr Eigen::Index kRows = 130;  // two full tiles and a part of one
  std::unique_ptr<Model> model;
  Matrix<double> x;
  Matrix<double> context;
};

// Rows whose finite difference can be trusted.
Vector<double> trusted(const testing::RowDerivatives& derivatives) {
  Vector<double> weights = (derivatives.doubt.array() < 1e-6).cast<double>();
  EXPECT_GT(weights.sum(), 0.5 * static_cast<double>(weights.size()));
  return weights;
}

TEST_P(DensityContract, ScoresAreDerivatives) {
  const std::vector<double> at(model->parameters().begin(), model->parameters().end());
  const Vector<double> direction = normals(1, static_cast<Eigen::Index>(at.size()), 6).row(0);
  const auto values_at = [&](double step) -> Vector<double> {
    model->edit_parameters([&](std::span<double> parameters) {
      for (std::size_t i = 0; i < at.size(); ++i) {
        parameters[i] = at[i] + step * direction(static_cast<Eigen::Index>(i));
      }
    });
    return values();
  };
  const testing::RowDerivatives expected = testing::differentiate(values_at);
  values_at(0);
  const Vector<double> weights = trusted(expected).cwiseProduct(normals(kRows, 1, 7).col(0)).eval();
  std::vector<double> gradient(at.size(), 1.0);  // it is added to what is there
  const Vector<double> returned = model->add_scores(x, context, weights, gradient);
  EXPECT_TRUE(returned.isApprox(values(), 1e-12));
  const Eigen::Map<const Vector<double>> sum(gradient.data(), direction.size());
  const double slope = (sum.array() - 1).matrix().dot(direction);
  EXPECT_NEAR(slope, expected.value.dot(weights), 1e-5 * (1 + std::abs(slope)));

  std::vector<double> of_batch(at.size(), 1.0);
  model->add_scores_of_batch(
      x, context, [&](const Vector<double>&, Vector<double>& out) { out = weights; }, of_batch);
  EXPECT_TRUE((Eigen::Map<const Vector<double>>(of_batch.data(), sum.size()).isApprox(sum, 1e-9)));
}

TEST_P(DensityContract, InputGradientsAreDerivatives) {
  if (!model->has_input_gradient()) {
    EXPECT_THROW(static_cast<void>(model->input_gradient(x, context)), std::logic_error);
    return;
  }
  const Matrix<double> toward = normals(kRows, x.cols(), 8);
  const Matrix<double> toward_context = normals(kRows, context.cols(), 9);
  const testing::RowDerivatives expected = testing::differentiate([&](double step) {
    return model->log_unnormalized(Matrix<double>(x + step * toward),
                                   Matrix<double>(context + step * toward_context));
  });
  const InputGradient<double> gradient = model->input_gradient(x, context);
  EXPECT_TRUE(gradient.values.isApprox(values(), 1e-12));
  Vector<double> slopes = gradient.x.cwiseProduct(toward).rowwise().sum();
  if (context.cols() > 0) slopes += gradient.context.cwiseProduct(toward_context).rowwise().sum();
  const Vector<double> weights = trusted(expected);
  EXPECT_LT((slopes - expected.value).cwiseProduct(weights).norm(), 1e-5 * (1 + slopes.norm()));
}

// For samples y of p and any density h, the mean of h(y) / p(y) is 1: here h is a normal density
// inside of where the samples are, so that no weight is large.
TEST_P(DensityContract, SamplesFollowTheDensity) {
  const Density<double>* density = model->as_density();
  EXPECT_EQ(density != nullptr, model->normalized());
  if (density == nullptr) return;
  constexpr Eigen::Index kSamples = 40000;
  const Matrix<double> condition = context.topRows(1);
  Samples<double> samples;
  density->sample(kSamples, condition, {1, 2, 3}, samples);
  EXPECT_TRUE(samples.log_prob.isApprox(density->log_prob(samples.x, condition), 1e-9));
  if (!GetParam().categories.empty()) return;  // codes: mixed_density_test.cc
  const Eigen::RowVectorXd mean = samples.x.colwise().mean();
  const Matrix<double> centred = samples.x.rowwise() - mean;
  const Matrix<double> covariance = centred.transpose() * centred / (4.0 * kSamples);
  const Eigen::LLT<Eigen::MatrixXd> factor(covariance);
  const Eigen::MatrixXd white = factor.matrixL().solve(Eigen::MatrixXd(centred.transpose()));
  const double constant = -0.5 * static_cast<double>(x.cols()) * std::log(2 * std::numbers::pi) -
                          Eigen::MatrixXd(factor.matrixL()).diagonal().array().log().sum();
  const Vector<double> log_normal =
      constant - 0.5 * white.colwise().squaredNorm().transpose().array();
  const Vector<double> weights = (log_normal - samples.log_prob).array().exp();
  const double error =
      std::sqrt((weights.array() - weights.mean()).square().mean() / static_cast<double>(kSamples));
  EXPECT_LT(error, 0.02);
  EXPECT_NEAR(weights.mean(), 1, 4 * error);
}

TEST_P(DensityContract, KeptSamplesHaveTheScoresOfTheirRows) {
  const Density<double>* density = model->as_density();
  if (density == nullptr) return;
  Samples<double> samples;
  for (const bool again : {false, true}) {  // the second time memory is used again
    density->sample(2 * kRows, context, {4, 5, again ? 6U : 7U}, samples, KeepTape::yes);
    const Vector<double> weights = normals(2 * kRows, 1, 10).col(0);
    std::vector<double> kept(model->layout().size());
    std::vector<double> fresh(model->layout().size());
    density->add_sample_scores(samples, weights, kept);
    density->add_scores(samples.x, context, weights, fresh);
    const auto as_vector = [](const std::vector<double>& v) {
      return Eigen::Map<const Vector<double>>(v.data(), static_cast<Eigen::Index>(v.size()));
    };
    EXPECT_TRUE(as_vector(kept).isApprox(as_vector(fresh), 1e-6));
  }
  Samples<double> without;
  density->sample(kRows, context, {4, 5, 6}, without);
  std::vector<double> gradient(model->layout().size());
  const Vector<double> ones = Vector<double>::Ones(kRows);
  EXPECT_THROW(density->add_sample_scores(without, ones, gradient), std::invalid_argument);
}

TEST_P(DensityContract, ACloneIsEqualAndItsOwn) {
  const Vector<double> before = values();
  const std::unique_ptr<Model> copy = model->clone();
  EXPECT_TRUE(same_bits(copy->log_unnormalized(x, context), before));
  EXPECT_EQ(copy->architecture(), model->architecture());
  testing::add_parameter_noise(*copy, 0.1, 12);
  EXPECT_TRUE(same_bits(values(), before));
  EXPECT_FALSE(same_bits(copy->log_unnormalized(x, context), before));
}

TEST_P(DensityContract, FilesKeepIt) {
  save_model(*model, path("m"));
  const LoadedModel<double> loaded = load_model<double>(path("m"));
  EXPECT_TRUE(same_bits(loaded.model->log_unnormalized(x, context), values()));
  EXPECT_EQ(loaded.model->architecture(), model->architecture());
  EXPECT_EQ(describe_model(*loaded.model), describe_model(*model));
  const LoadedModel<float> single = load_model<float>(path("m"));
  EXPECT_TRUE(single.model->log_unnormalized(x.cast<float>(), context.cast<float>())
                  .cast<double>()
                  .isApprox(values(), 1e-3));
}

TEST_P(DensityContract, ThreadsDoNotChangeABit) {
  const auto gradient_and_values = [&] {
    std::vector<double> gradient(model->layout().size());
    const Vector<double> weights = normals(kRows, 1, 13).col(0);
    const Vector<double> returned = model->add_scores(x, context, weights, gradient);
    gradient.insert(gradient.end(), returned.begin(), returned.end());
    if (const Density<double>* density = model->as_density()) {
      const Samples<double> samples = density->sample(kRows, context, {1, 2, 3});
      gradient.insert(gradient.end(), samples.x.data(), samples.x.data() + samples.x.size());
    }
    return gradient;
  };
  const std::vector<double> alone = gradient_and_values();
  model->use_threads(std::make_shared<ThreadPool>(3));
  EXPECT_TRUE(same_bits(gradient_and_values(), alone));
}

TEST_P(DensityContract, NoRowsAreFine) {
  const Matrix<double> none(0, x.cols());
  const Matrix<double> no_context(0, context.cols());
  EXPECT_EQ(model->log_unnormalized(none, no_context).size(), 0);
  std::vector<double> gradient(model->layout().size());
  EXPECT_EQ(model->add_scores(none, no_context, Vector<double>(), gradient).size(), 0);
  if (const Density<double>* density = model->as_density()) {
    EXPECT_EQ(density->sample(0, no_context, {1, 2, 3}).x.rows(), 0);
  }
}

TEST_P(DensityContract, WhatIsNotFiniteStaysInItsRow) {
  const Vector<double> before = values();
  x(7, 0) = std::numeric_limits<double>::quiet_NaN();
  x(70, x.cols() - 1) = std::numeric_limits<double>::infinity();
  const Vector<double> after = values();
  for (Eigen::Index i = 0; i < kRows; ++i) {
    if (i == 7 || i == 70) {
      EXPECT_TRUE(std::isnan(after(i))) << i;
    } else {
      EXPECT_EQ(after(i), before(i)) << i;
    }
  }
}

TEST_P(DensityContract, FewerConditionsRepeat) {
  const Matrix<double> some = context.topRows(kRows / 2);
  const Matrix<double> twice = some.replicate(2, 1);
  EXPECT_TRUE(model->log_unnormalized(x, some).isApprox(model->log_unnormalized(x, twice), 1e-12));
}

TEST_P(DensityContract, WrongShapesAreRefused) {
  const Matrix<double> wide(3, x.cols() + 1);
  EXPECT_THROW(static_cast<void>(model->log_unnormalized(wide, context.topRows(3))),
               std::invalid_argument);
  std::vector<double> small(model->layout().size() - 1);
  const Vector<double> ones = Vector<double>::Ones(kRows);
  EXPECT_THROW(model->add_scores(x, context, ones, small), std::invalid_argument);
}

INSTANTIATE_TEST_SUITE_P(, DensityContract, ::testing::ValuesIn(models()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace jeffreys

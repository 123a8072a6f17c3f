// What models of rows with categories promise beyond density_contract_test.cc.
#include "jeffreys/model/mixed_density.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "jeffreys/model/gaussian_mixture.h"
#include "jeffreys/model/langevin.h"
#include "support/finite_differences.h"
#include "support/gaussian_models.h"
#include "support/mistake_of.h"
#include "support/mixed_models.h"
#include "support/model_helpers.h"

namespace jeffreys {
namespace {

using ::testing::HasSubstr;
using testing::mistake_of;
using testing::mixed_energy;
using testing::mixed_flow;
using testing::normals;
using testing::same_bits;

// Every combination of classes, one in a row.
Matrix<double> all_classes(const std::vector<Eigen::Index>& sizes) {
  Eigen::Index rows = 1;
  for (const Eigen::Index size : sizes) rows *= size;
  Matrix<double> codes(rows, static_cast<Eigen::Index>(sizes.size()));
  for (Eigen::Index r = 0; r < rows; ++r) {
    Eigen::Index rest = r;
    for (Eigen::Index j = codes.cols(); j-- > 0;) {
      const Eigen::Index size = sizes[static_cast<std::size_t>(j)];
      codes(r, j) = static_cast<double>(rest % size);
      rest /= size;
    }
  }
  return codes;
}

// Its parameters are far from the first ones, so that everything depends on everything.
std::unique_ptr<MixedDensity<double>> moved_model(const MixedDensityOptions& options) {
  std::unique_ptr<MixedDensity<double>> model = mixed_flow<double>(options);
  testing::add_parameter_noise<double>(*model, 0.7, 3);
  return model;
}

Vector<double> as_vector(const std::vector<double>& v) {
  return Eigen::Map<const Vector<double>>(v.data(), static_cast<Eigen::Index>(v.size()));
}

struct TableCase {
  std::string name;
  MixedDensityOptions options;
};
void PrintTo(const TableCase& one, std::ostream* stream) { *stream << one.name; }

std::vector<TableCase> tables() {
  return {{"One", {.categories = {4}}},
          {"Several", {.categories = {3, 2, 1, 4}, .hidden = {6}}},
          {"OneContext", {.categories = {3}, .context_features = 2, .hidden = {5}}},
          {"Context", {.categories = {3, 2, 2}, .context_features = 1, .hidden = {7, 4}}},
          {"FewUnits", {.categories = {2, 2, 2, 2, 2, 2}, .context_features = 1, .hidden = {3, 2}}},
          {"NoHidden", {.categories = {3, 4}, .hidden = {}}}};
}

class CategoryTable : public ::testing::TestWithParam<TableCase> {
 protected:
  CategoryTable()
      : model(moved_model(GetParam().options)),
        codes(all_classes(GetParam().options.categories)),
        condition(normals(1, GetParam().options.context_features, 8)) {}

  std::unique_ptr<MixedDensity<double>> model;
  Matrix<double> codes;
  Matrix<double> condition;
};

TEST_P(CategoryTable, ProbabilitiesSumToOne) {
  const Vector<double> probabilities = model->log_prob(codes, condition).array().exp();
  EXPECT_NEAR(probabilities.sum(), 1, 1e-12);
  EXPECT_GT(probabilities.maxCoeff(), 1.2 * probabilities.minCoeff());  // it is not uniform
}

// Pearson's statistic of 20000 draws is chi-square with classes - 1 degrees of freedom: its mean is
// that number, its deviation sqrt(2 times that).
TEST_P(CategoryTable, DrawsHaveTheirProbabilities) {
  constexpr Eigen::Index kDraws = 20000;
  const Vector<double> expected =
      static_cast<double>(kDraws) * model->log_prob(codes, condition).array().exp();
  const Matrix<double> drawn = model->sample(kDraws, condition, {1, 2, 3}).x;
  Vector<double> counts = Vector<double>::Zero(codes.rows());
  for (Eigen::Index r = 0; r < kDraws; ++r) {
    Eigen::Index place = 0;
    for (Eigen::Index j = 0; j < codes.cols(); ++j) {
      const Eigen::Index size = GetParam().options.categories[static_cast<std::size_t>(j)];
      ASSERT_LT(drawn(r, j), static_cast<double>(size));
      place = place * size + static_cast<Eigen::Index>(drawn(r, j));
    }
    counts(place) += 1;
  }
  const double freedom = static_cast<double>(codes.rows() - 1);
  const double statistic = ((counts - expected).array().square() / expected.array()).sum();
  EXPECT_LT(statistic, freedom + 4 * std::sqrt(2 * freedom));
}

// The gradient of all parameters one by one, where most of the models are: at weights of 0 too.
TEST_P(CategoryTable, ScoresAreDerivatives) {
  for (const bool fresh : {false, true}) {
    if (fresh) model = mixed_flow<double>(GetParam().options);
    const Vector<double> weights = normals(codes.rows(), 1, 5).col(0);
    std::vector<double> gradient(model->layout().size());
    model->add_scores(codes, condition, weights, gradient);
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      const double at = model->parameters()[i];
      const testing::RowDerivatives expected = testing::differentiate([&](double step) {
        model->edit_parameters([&](std::span<double> all) { all[i] = at + step; });
        return model->log_prob(codes, condition);
      });
      model->edit_parameters([&](std::span<double> all) { all[i] = at; });
      EXPECT_NEAR(gradient[i], expected.value.dot(weights), 1e-7 * (1 + std::abs(gradient[i])))
          << i;
    }
  }
}

TEST_P(CategoryTable, LeastParametersAreAll) {
  EXPECT_EQ(GetParam().options.least_parameters(), static_cast<double>(model->layout().size()));
}

// A column's probabilities are those of its model alone: later columns do not matter to it.
TEST_P(CategoryTable, NeverSeenClassesAddNothing) {
  for (Eigen::Index j = 0; j < codes.cols(); ++j) {
    const Eigen::Index size = GetParam().options.categories[static_cast<std::size_t>(j)];
    Matrix<double> one(size, codes.cols());
    for (Eigen::Index i = 0; i < codes.cols(); ++i) {
      one.col(i).setConstant(
          static_cast<double>(GetParam().options.categories[static_cast<std::size_t>(i)]));
    }
    EXPECT_EQ(model->log_prob(one.topRows(1), condition)(0), 0);
    for (Eigen::Index k = 0; k < size; ++k) one(k, j) = static_cast<double>(k);
    EXPECT_NEAR(model->log_prob(one, condition).array().exp().sum(), 1, 1e-12) << j;
  }
}

INSTANTIATE_TEST_SUITE_P(, CategoryTable, ::testing::ValuesIn(tables()),
                         [](const auto& test) { return test.param.name; });

// One continuous number and two categories: the integral over x, summed over classes.
TEST(MixedDensity, IntegratesToOne) {
  const auto model =
      moved_model({.features = 1, .categories = {2, 3}, .context_features = 1, .hidden = {6}});
  constexpr Eigen::Index kPoints = 40001;
  const double width = 24.0 / (kPoints - 1);
  const Matrix<double> condition = Matrix<double>::Constant(1, 1, 0.4);
  double total = 0;
  const Matrix<double> codes = all_classes({2, 3});
  for (Eigen::Index r = 0; r < codes.rows(); ++r) {
    Matrix<double> x(kPoints, 3);
    x.col(0).setLinSpaced(-12, 12);
    x.rightCols(2).rowwise() = codes.row(r);
    total += width * model->log_prob(x, condition).array().exp().sum();
  }
  EXPECT_NEAR(total, 1, 1e-5);
}

TEST(MixedDensity, IsTheProductOfItsFactors) {
  const MixedDensityOptions options{
      .features = 2, .categories = {2, 3}, .context_features = 1, .hidden = {6}};
  const auto model = moved_model(options);
  Matrix<double> x = normals(12, 4, 1);
  testing::fill_codes(options.categories, x);
  const Matrix<double> context = normals(4, 1, 2);
  Matrix<double> inner = Matrix<double>::Zero(12, 6);
  for (Eigen::Index r = 0; r < 12; ++r) {
    if (x(r, 2) < 2) inner(r, static_cast<Eigen::Index>(x(r, 2))) = 1;
    if (x(r, 3) < 3) inner(r, 2 + static_cast<Eigen::Index>(x(r, 3))) = 1;
    inner(r, 5) = context(r % 4, 0);
  }
  MixedDensity<double> categories({.categories = {2, 3}, .context_features = 1, .hidden = {6}});
  categories.edit_parameters([&](std::span<double> all) {
    std::copy_n(model->parameters().begin(), all.size(), all.begin());
  });
  const Vector<double> expected =
      categories.log_prob(x.rightCols(2), context) + model->given()->log_prob(x.leftCols(2), inner);
  EXPECT_TRUE(model->log_prob(x, context).isApprox(expected, 1e-12));
}

// The mean of h(y) / p(y) over samples y is 1 for any density h: here one that is normal in x and
// uniform over classes.
TEST(MixedDensity, SamplesFollowTheDensity) {
  const auto model = mixed_flow<double>({.features = 2, .categories = {2, 3}, .hidden = {6}});
  testing::add_parameter_noise<double>(*model, 0.2, 3);  // more would make some ratios large
  const Samples<double> samples = model->sample(40000, {1, 2, 3});
  EXPECT_TRUE(samples.log_prob.isApprox(model->log_prob(samples.x), 1e-9));
  Vector<double> log_ratio = -samples.log_prob.array() - std::log(6.0);
  for (Eigen::Index i = 0; i < log_ratio.size(); ++i) {
    for (Eigen::Index f = 0; f < 2; ++f) {
      log_ratio(i) += testing::log_normal(samples.x(i, f), 0, 0.5);
    }
  }
  const Vector<double> ratios = log_ratio.array().exp();
  const double error = std::sqrt((ratios.array() - ratios.mean()).square().mean() / 40000);
  EXPECT_LT(error, 0.03);
  EXPECT_NEAR(ratios.mean(), 1, 4 * error);
}

TEST(MixedDensity, WeightsSeeTheValuesOfBothFactors) {
  for (const Eigen::Index features : {0, 2}) {
    const auto model = moved_model({.features = features, .categories = {2, 3}, .hidden = {6}});
    Matrix<double> x = normals(150, features + 2, 1);
    testing::fill_codes({2, 3}, x);
    const Vector<double> values = model->log_prob(x);
    const Vector<double> weights = values.array().exp() + 1;
    std::vector<double> expected(model->layout().size());
    std::vector<double> by_parts(expected.size());
    std::vector<double> of_batch(expected.size());
    model->add_scores(x, Matrix<double>(), weights, expected);
    const Vector<double> a = model->add_scores(
        x, Matrix<double>(),
        [](Eigen::Index, std::span<const double> v, std::span<double> w) {
          for (std::size_t i = 0; i < v.size(); ++i) w[i] = std::exp(v[i]) + 1;
        },
        by_parts);
    const Vector<double> b = model->add_scores_of_batch(
        x, Matrix<double>(),
        [](const Vector<double>& v, Vector<double>& w) { w = v.array().exp() + 1; }, of_batch);
    EXPECT_TRUE(a.isApprox(values, 1e-12));
    EXPECT_TRUE(b.isApprox(values, 1e-12));
    EXPECT_TRUE(as_vector(by_parts).isApprox(as_vector(expected), 1e-10));
    EXPECT_TRUE(as_vector(of_batch).isApprox(as_vector(expected), 1e-10));
  }
}

// The derivative of the samples' own log density with respect to the parameters, at fixed rows.
TEST(MixedDensity, SampleScoresAreDerivatives) {
  const auto model =
      moved_model({.features = 1, .categories = {2, 3}, .context_features = 2, .hidden = {4}});
  const Matrix<double> context = normals(20, 2, 4);
  Samples<double> samples;
  model->sample(60, context, {1, 2, 3}, samples, KeepTape::yes);
  const Vector<double> weights = normals(60, 1, 5).col(0);
  std::vector<double> gradient(model->layout().size());
  model->add_sample_scores(samples, weights, gradient);
  const std::vector<double> at(model->parameters().begin(), model->parameters().end());
  const Vector<double> direction = normals(1, static_cast<Eigen::Index>(at.size()), 6).row(0);
  const testing::RowDerivatives expected = testing::differentiate([&](double step) {
    model->edit_parameters([&](std::span<double> all) {
      for (std::size_t i = 0; i < at.size(); ++i) {
        all[i] = at[i] + step * direction(static_cast<Eigen::Index>(i));
      }
    });
    return model->log_prob(samples.x, context);
  });
  ASSERT_LT(expected.doubt.maxCoeff(), 1e-5);
  const double slope = as_vector(gradient).dot(direction);
  EXPECT_NEAR(slope, expected.value.dot(weights), 1e-5 * (1 + std::abs(slope)));
  // The parameters were edited: the tape is of no use any more.
  EXPECT_THAT(mistake_of([&] { model->add_sample_scores(samples, weights, gradient); }),
              HasSubstr("KeepTape"));
}

TEST(MixedDensity, AMixtureMayBeInside) {
  const MixedDensityOptions options{.features = 2, .categories = {3}, .context_features = 1};
  MixedDensity<double> model(
      options, std::make_unique<GaussianMixture<double>>(
                   GaussianMixtureOptions{.features = 2, .context_features = 4, .components = 2}));
  EXPECT_EQ(model.noise_features(), 4);
  const Matrix<double> context = normals(1, 1, 1);
  const Samples<double> samples = model.sample(50, context, {1, 2, 3});
  EXPECT_TRUE(samples.log_prob.isApprox(model.log_prob(samples.x, context), 1e-12));
}

TEST(MixedDensity, WhatIsNoCodeIsNaNInItsRow) {
  for (const Eigen::Index features : {0, 1}) {
    const auto model = moved_model({.features = features, .categories = {2, 3}, .hidden = {6}});
    const auto energy = mixed_energy<double>({.features = features, .categories = {2, 3}}, 0);
    Matrix<double> x = normals(8, features + 2, 1);
    testing::fill_codes({2, 3}, x);
    const Vector<double> before = model->log_prob(x);
    const Vector<double> energy_before = energy->log_unnormalized(x);
    const double nan = std::nan("");
    const std::vector<double> bad = {-1, 0.5, 3, nan, 1e300, -HUGE_VAL};
    for (std::size_t i = 0; i < bad.size(); ++i) x(static_cast<Eigen::Index>(i), features) = bad[i];
    const Vector<double> after = model->log_prob(x);
    const Vector<double> energy_after = energy->log_unnormalized(x);
    for (Eigen::Index r = 0; r < 8; ++r) {
      EXPECT_EQ(std::isnan(after(r)), r < 6) << r;
      EXPECT_EQ(std::isnan(energy_after(r)), r < 6) << r;
      if (r < 6) continue;
      EXPECT_EQ(after(r), before(r));
      EXPECT_EQ(energy_after(r), energy_before(r));
    }
  }
}

TEST(MixedDensity, AContextThatIsNotFiniteIsNaN) {
  const auto model = moved_model({.categories = {2, 3}, .context_features = 1, .hidden = {6}});
  const Matrix<double> x = Matrix<double>::Zero(4, 2);
  Matrix<double> context = normals(2, 1, 1);
  context(1, 0) = HUGE_VAL;
  const Vector<double> values = model->log_prob(x, context);
  EXPECT_TRUE(std::isfinite(values(0)) && std::isfinite(values(2)));
  EXPECT_TRUE(std::isnan(values(1)) && std::isnan(values(3)));
}

TEST(MixedDensity, NoiseThatIsNotFiniteIsNoSample) {
  const auto model = moved_model({.features = 1, .categories = {2, 3}, .hidden = {6}});
  Matrix<double> noise = Matrix<double>::Zero(2, 3);
  noise(0, 1) = std::nan("");
  const Samples<double> samples = model->sample_from_noise(noise);
  EXPECT_TRUE(std::isnan(samples.log_prob(0)) && std::isnan(samples.x(0, 1)));
  EXPECT_TRUE(std::isfinite(samples.log_prob(1)));
}

// More rows than are worked on together, at conditions whose number does not divide a part.
TEST(MixedDensity, LongTablesAreThatOfTheirParts) {
  const MixedDensityOptions options{
      .features = 1, .categories = {2, 3}, .context_features = 1, .hidden = {6}};
  const auto model = moved_model(options);
  const auto energy = mixed_energy<double>({.features = 1, .categories = {2, 3}}, 1);
  constexpr Eigen::Index kRows = 9000;
  const Matrix<double> context = normals(3000, 1, 2);
  const Samples<double> samples = model->sample(kRows, context, {1, 2, 3});
  const Vector<double> values = model->log_prob(samples.x, context);
  EXPECT_TRUE(samples.log_prob.isApprox(values, 1e-9));
  const Vector<double> energies = energy->log_unnormalized(samples.x, context);
  for (const Eigen::Index first : {0, 3000, 6000}) {
    const auto part = samples.x.middleRows(first, 3000);
    EXPECT_TRUE(values.segment(first, 3000).isApprox(model->log_prob(part, context), 1e-12));
    EXPECT_TRUE(
        energies.segment(first, 3000).isApprox(energy->log_unnormalized(part, context), 1e-12));
  }
  Samples<double> kept;
  model->sample(kRows, context, {1, 2, 3}, kept, KeepTape::yes);
  EXPECT_TRUE(kept.x.isApprox(samples.x, 1e-9));
}

TEST(MixedDensity, ThreadsOfTheOuterModelReachTheInner) {
  const auto model = moved_model({.features = 2, .categories = {2, 3}, .hidden = {6}});
  const auto all_results = [&] {
    Samples<double> samples;
    model->sample(300, Matrix<double>(), {1, 2, 3}, samples, KeepTape::yes);
    std::vector<double> numbers(model->layout().size());
    model->add_sample_scores(samples, Vector<double>::LinSpaced(300, -1, 1), numbers);
    numbers.insert(numbers.end(), samples.log_prob.begin(), samples.log_prob.end());
    return numbers;
  };
  const std::vector<double> alone = all_results();
  const auto pool = std::make_shared<ThreadPool>(3);
  model->use_threads(pool);
  EXPECT_GE(pool.use_count(), 3);  // ours, the outer model's and the inner one's
  EXPECT_TRUE(same_bits(all_results(), alone));
}

// Frequencies are the best probabilities of one category, and every joint one is within reach.
TEST(MixedDensity, LearnsATable) {
  const Matrix<double> codes = all_classes({3, 2});
  const Vector<double> shares{{0.3, 0.05, 0.1, 0.2, 0.05, 0.3}};
  MixedDensity<double> model({.categories = {3, 2}, .hidden = {8}});
  for (int step = 0; step < 3000; ++step) {
    std::vector<double> gradient(model.layout().size());
    model.add_scores(codes, Matrix<double>(), shares, gradient);
    model.edit_parameters([&](std::span<double> all) {
      for (std::size_t i = 0; i < all.size(); ++i) all[i] += 0.5 * gradient[i];
    });
  }
  const Vector<double> learned = model.log_prob(codes).array().exp();
  EXPECT_LT((learned - shares).cwiseAbs().maxCoeff(), 1e-3);
}

TEST(MixedDensity, StartsWithTheFrequenciesOfRows) {
  auto model = mixed_flow<double>({.features = 1, .categories = {2, 3}});
  Matrix<double> x(6, 3);
  x << 0, 0, 0, 0, 0, 1, 0, 0, 3, 0, 1, 1, 0, 2, 1, 0, -7, 1;  // the codes 2, 3 and -7 are no class
  model->set_frequencies(x);
  MixedDensity<double> categories({.categories = {2, 3}});
  categories.edit_parameters([&](std::span<double> all) {
    std::copy_n(model->parameters().begin(), all.size(), all.begin());
  });
  const Vector<double> probabilities = categories.log_prob(all_classes({2, 3})).array().exp();
  // 3 and 1 of 4 rows, and 1, 4 and 0 of 5, with a half for each class.
  const Vector<double> first{{3.5 / 5, 1.5 / 5}};
  const Vector<double> second{{1.5 / 6.5, 4.5 / 6.5, 0.5 / 6.5}};
  for (Eigen::Index a = 0; a < 2; ++a) {
    for (Eigen::Index b = 0; b < 3; ++b) {
      EXPECT_NEAR(probabilities(3 * a + b), first(a) * second(b), 1e-12);
    }
  }
}

TEST(MixedEnergy, SeesOneHotCodes) {
  const auto model = mixed_energy<double>({.features = 1, .categories = {2, 3}}, 0);
  Matrix<double> x(2, 3);
  x << 0.3, 1, 2, -0.7, 0, 3;
  Matrix<double> inner(2, 6);
  inner << 0.3, 0, 1, 0, 0, 1, -0.7, 1, 0, 0, 0, 0;
  EXPECT_TRUE(same_bits(model->log_unnormalized(x), model->energy().log_unnormalized(inner)));
  EXPECT_FALSE(model->normalized());
  const std::vector<double> before(model->state().begin(), model->state().end());
  ASSERT_FALSE(before.empty());
  model->advance_state();
  EXPECT_FALSE(same_bits(model->state(), before));
}

TEST(MixedEnergy, LangevinSamplingIsRefused) {
  const auto model = mixed_energy<double>({.features = 1, .categories = {2}}, 0);
  EXPECT_FALSE(model->has_input_gradient());
  EXPECT_THROW(langevin<double>(*model, Matrix<double>::Zero(2, 2), Matrix<double>(), {}, {}),
               std::logic_error);
}

}  // namespace
}  // namespace jeffreys

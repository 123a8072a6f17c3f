// A row's result depends on that row alone: not on the batch around it, not on threads, not on
// other rows that are not finite. All of this bit for bit.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "jeffreys/model/langevin.h"
#include "support/model_helpers.h"
#include "support/model_zoo.h"

namespace jeffreys {
namespace {

using testing::normals;
using testing::same_bits;
using testing::zoo_film;
using testing::zoo_flow;
using testing::zoo_residual;
using testing::ZooModel;

std::vector<ZooModel> zoo() {
  return {
      zoo_flow("1", {.features = 1}),
      zoo_flow("1Context", {.features = 1, .context_features = 2, .hidden = {8}}),
      zoo_flow("2", {.features = 2, .hidden = {16, 16}}),
      zoo_flow("3Context", {.features = 3, .context_features = 2, .hidden = {13, 11}}),
      zoo_flow("30", {.features = 30, .transforms = 2, .bins = 5, .hidden = {40}}),
      zoo_flow("100", {.features = 100, .transforms = 1, .bins = 4, .hidden = {50}}),
      zoo_residual("1", {.features = 1, .hidden = 10, .blocks = 1}),
      zoo_residual("2Wide", {.features = 2, .hidden = 256, .blocks = 1}),
      zoo_residual("30", {.features = 30, .hidden = 20}),
      zoo_residual("100", {.features = 100, .hidden = 20, .temperature = 0.2}),
      zoo_film("3", {.features = 3, .context_features = 2, .hidden = 12, .blocks = 2}),
      zoo_film("2Bounded",
               {.features = 2, .context_features = 2, .hidden = 12, .blocks = 2, .bounded = true}),
      zoo_film("2Wide", {.features = 2, .context_features = 1, .hidden = 256, .blocks = 1}),
  };
}

class Rows : public ::testing::TestWithParam<ZooModel> {
 protected:
  static constexpr Eigen::Index kRows = 1000;

  [[nodiscard]] const SplineFlow<float>* flow() const {
    return dynamic_cast<const SplineFlow<float>*>(model.get());
  }

  // Every result for these rows, side by side: [rows, any].
  [[nodiscard]] Matrix<float> results(const MatrixView<float>& rows,
                                      const MatrixView<float>& conditions) const {
    const Vector<float> values = model->log_unnormalized(rows, conditions);
    const InputGradient<float> gradient = model->input_gradient(rows, conditions);
    Matrix<float> all(rows.rows(), 2 + rows.cols() + model->context_features());
    all << values, gradient.values, gradient.x, gradient.context;
    if (!flow()) return all;
    const Samples<float> samples = flow()->sample_from_noise(rows, conditions);
    Matrix<float> more(rows.rows(), all.cols() + 2 * rows.cols() + 1);
    more << all, flow()->to_noise(rows, conditions), samples.x, samples.log_prob;
    return more;
  }

  [[nodiscard]] Matrix<float> results(Eigen::Index first, Eigen::Index count) const {
    return results(x.middleRows(first, count), context.middleRows(first, count));
  }

  std::unique_ptr<UnnormalizedDensity<float>> model = GetParam().make();
  Matrix<float> x = (1.5 * normals(kRows, model->features(), 2)).cast<float>();
  Matrix<float> context = normals(kRows, model->context_features(), 3).cast<float>();
};

TEST_P(Rows, DoNotDependOnTheirBatch) {
  const Matrix<float> all = results(0, kRows);
  ASSERT_TRUE(all.allFinite());
  const auto expect_part = [&](Eigen::Index first, Eigen::Index count) {
    EXPECT_TRUE(same_bits(results(first, count), Matrix<float>(all.middleRows(first, count))))
        << "rows " << first << " to " << first + count;
  };
  for (const Eigen::Index count : {0, 1, 63, 64, 65, 999}) expect_part(0, count);
  for (const Eigen::Index alone : {1, 62, 63, 64, 65, 500, 999}) expect_part(alone, 1);
  expect_part(37, 300);
}

TEST_P(Rows, OneContextForAllIsItsRepetition) {
  const Matrix<float> one = context.row(5);
  const Matrix<float> repeated = one.replicate(kRows, 1);
  EXPECT_TRUE(same_bits(results(x, one), results(x, repeated)));
  std::vector<float> actual(model->layout().size(), 0.0F);
  std::vector<float> expected = actual;
  const Vector<float> weights = normals(kRows, 1, 4).cast<float>();
  model->add_scores(x, one, weights, actual);
  model->add_scores(x, repeated, weights, expected);
  EXPECT_TRUE(same_bits(actual, expected));
}

// 500 and 200 rows of context fill tiles of their own, 125 and 8 would leave them half empty.
TEST_P(Rows, FewerContextsAreTheirRepetition) {
  const Vector<float> weights = normals(kRows, 1, 4).cast<float>();
  for (const Eigen::Index rows : {500, 200, 125, 8}) {
    SCOPED_TRACE(rows);
    const Matrix<float> few = context.topRows(rows);
    const Matrix<float> repeated = few.replicate(kRows / rows, 1);
    EXPECT_TRUE(same_bits(results(x, few), results(x, repeated)));
    std::vector<float> actual(model->layout().size(), 0.0F);
    std::vector<float> expected = actual;
    model->add_scores(x, few, weights, actual);
    model->add_scores(x, repeated, weights, expected);
    // Tiles are summed in another order.
    const Eigen::Map<const Vector<float>> a(actual.data(),
                                            static_cast<Eigen::Index>(actual.size()));
    const Eigen::Map<const Vector<float>> b(expected.data(), a.size());
    EXPECT_LT((a - b).norm(), 1e-5F * b.norm());
  }
}

TEST_P(Rows, LeaveOutTheContextsGradientWhenToldTo) {
  const InputGradient<float> all = model->input_gradient(x, context);
  const InputGradient<float> part = model->input_gradient(x, context, ContextGradient::no);
  EXPECT_TRUE(same_bits(part.values, all.values));
  EXPECT_TRUE(same_bits(part.x, all.x));
  EXPECT_EQ(part.context.size(), 0);
}

// For inputs that are not finite: that row's values are NaN, all other rows keep their bits.
TEST_P(Rows, KeepWhatIsNotFiniteToThemselves) {
  constexpr Eigen::Index kBatch = 130;
  constexpr Eigen::Index kBad = 70;
  const Matrix<float> clean = results(0, kBatch);
  for (const float value :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
        -std::numeric_limits<float>::infinity()}) {
    for (Eigen::Index column = 0;
         column<x.cols() + context.cols(); column += x.cols()> 10 ? 29 : 1) {
      SCOPED_TRACE(::testing::Message() << value << " in column " << column);
      Matrix<float> rows = x.topRows(kBatch);
      Matrix<float> conditions = context.topRows(kBatch);
      (column < x.cols() ? rows(kBad, column) : conditions(kBad, column - x.cols())) = value;
      Matrix<float> actual = results(rows, conditions);
      EXPECT_TRUE(std::isnan(actual(kBad, 0)));
      EXPECT_TRUE(std::isnan(actual(kBad, 1)));
      EXPECT_TRUE(!flow() || std::isnan(actual(kBad, actual.cols() - 1)));
      std::vector<float> buffer(model->layout().size());
      const Vector<float> values =
          model->add_scores(rows, conditions, Vector<float>::Ones(kBatch), buffer);
      EXPECT_TRUE(same_bits(values, Vector<float>(actual.col(0))));
      actual.row(kBad) = clean.row(kBad);
      EXPECT_TRUE(same_bits(actual, clean));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Rows, ::testing::ValuesIn(zoo()),
                         [](const auto& test) { return test.param.name; });

class Threads : public ::testing::TestWithParam<ZooModel> {
 protected:
  // Results of all operations, one after the other. 700 rows are 11 tiles in 8 groups.
  [[nodiscard]] static std::vector<float> results(std::size_t threads) {
    const std::unique_ptr<UnnormalizedDensity<float>> model = GetParam().make();
    if (threads > 0) model->use_threads(std::make_shared<ThreadPool>(threads));
    constexpr Eigen::Index kRows = 700;
    const Matrix<float> x = normals(kRows, model->features(), 2).cast<float>();
    const Matrix<float> context = normals(kRows, model->context_features(), 3).cast<float>();
    const Vector<float> weights = normals(kRows, 1, 4).cast<float>();
    std::vector<float> all;
    const auto keep = [&](const auto& part) {
      all.insert(all.end(), part.data(), part.data() + part.size());
    };
    keep(model->log_unnormalized(x, context));
    keep(model->log_unnormalized(x, context.topRows(350)));
    std::vector<float> gradient(model->layout().size(), 0.0F);
    keep(model->add_scores(x, context, weights, gradient));
    keep(gradient);
    const InputGradient<float> inputs = model->input_gradient(x, context);
    keep(inputs.values);
    keep(inputs.x);
    keep(inputs.context);
    for (const Metropolis metropolis : {Metropolis::no, Metropolis::yes}) {
      const LangevinOptions options{.steps = 2, .step_size = 0.01, .metropolis = metropolis};
      const LangevinResult<float> chains =
          langevin<float>(*model, x, context, options, {.seed = 5});
      keep(chains.x);
      keep(chains.log_unnormalized);
    }
    if (const auto* flow = dynamic_cast<const SplineFlow<float>*>(model.get())) {
      Samples<float> samples;
      flow->sample(kRows, context, {.seed = 6}, samples, KeepTape::yes);
      keep(samples.x);
      keep(samples.log_prob);
      flow->add_sample_scores(samples, weights, gradient);
      keep(gradient);
      keep(flow->to_noise(x, context));
    }
    return all;
  }
};

TEST_P(Threads, AnyNumberOfThreadsGivesTheSameBits) {
  const std::vector<float> expected = results(0);
  for (const std::size_t threads : {1, 2, 3, 8}) {
    EXPECT_TRUE(same_bits(results(threads), expected)) << threads << " threads";
  }
}

INSTANTIATE_TEST_SUITE_P(
    Models, Threads,
    ::testing::Values(
        zoo_flow("1", {.features = 1}), zoo_flow("2", {.features = 2, .hidden = {16, 16}}),
        zoo_flow("5Context",
                 {.features = 5, .context_features = 2, .transforms = 2, .hidden = {14}}),
        zoo_residual("2", {.features = 2, .hidden = 16}),
        zoo_residual("2Wide", {.features = 2, .hidden = 256, .blocks = 1}),
        zoo_film("3", {.features = 3, .context_features = 2, .hidden = 12, .blocks = 2})),
    [](const auto& test) { return test.param.name; });

// A model does not change while several threads use it, each with its own samples.
TEST(SharedModel, ServesSeveralThreads) {
  SplineFlow<float> flow({.features = 3, .transforms = 2, .hidden = {12}});
  flow.use_threads(std::make_shared<ThreadPool>(2));
  const Samples<float> expected = flow.sample(300, {.seed = 1});
  std::vector<Samples<float>> samples(3);
  std::vector<std::thread> callers;
  for (Samples<float>& own : samples) {
    callers.emplace_back([&] {
      for (int i = 0; i < 5; ++i) own = flow.sample(300, {.seed = 1});
    });
  }
  for (std::thread& caller : callers) caller.join();
  for (const Samples<float>& own : samples) {
    EXPECT_TRUE(same_bits(own.x, expected.x));
    EXPECT_TRUE(same_bits(own.log_prob, expected.log_prob));
  }
}

class Streams : public ::testing::Test {
 protected:
  [[nodiscard]] Matrix<float> draw(Eigen::Index rows, const RandomStream& given) const {
    return flow.sample(rows, given).x;
  }

  SplineFlow<float> flow{{.features = 3, .transforms = 2, .hidden = {16}}};
  RandomStream stream{.seed = 7, .purpose = 2, .iteration = 3};
};

TEST_F(Streams, TheSameOneGivesTheSameRows) {
  const Samples<float> first = flow.sample(200, stream);
  const Samples<float> again = flow.sample(200, stream);
  EXPECT_TRUE(same_bits(first.x, again.x));
  EXPECT_TRUE(same_bits(first.log_prob, again.log_prob));
}

TEST_F(Streams, MoreRowsBeginWithTheSameRows) {
  const Matrix<float> many = draw(1000, stream);
  for (const Eigen::Index rows : {0, 1, 63, 64, 65, 999}) {
    EXPECT_TRUE(same_bits(draw(rows, stream), Matrix<float>(many.topRows(rows)))) << rows;
  }
}

TEST_F(Streams, AnotherOneGivesOtherRows) {
  const Matrix<float> first = draw(100, stream);
  for (const RandomStream& other : {RandomStream{8, 2, 3}, RandomStream{7, 1, 3},
                                    RandomStream{7, 2, 4}, RandomStream{7, 2, 3ULL << 40}}) {
    EXPECT_EQ((draw(100, other).array() == first.array()).count(), 0);
  }
}

TEST_F(Streams, TapesDoNotChangeTheRows) {
  Samples<float> samples;
  flow.sample(100, Matrix<float>(), stream, samples, KeepTape::yes);
  EXPECT_TRUE(same_bits(samples.x, draw(100, stream)));
}

TEST(NewModels, DependOnTheirSeed) {
  const auto weights = [](std::uint64_t seed) {
    const SplineFlow<float> flow({.features = 2, .hidden = {8}, .seed = seed});
    return std::vector<float>(flow.parameters().begin(), flow.parameters().end());
  };
  EXPECT_EQ(weights(1), weights(1));
  EXPECT_NE(weights(1), weights(2));
}

}  // namespace
}  // namespace jeffreys

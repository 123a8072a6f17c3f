// A caller's mistake is a std::invalid_argument that names the argument, what was expected and what
// came.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "jeffreys/model/energy_model.h"
#include "jeffreys/model/langevin.h"
#include "jeffreys/model/spline_flow.h"
#include "support/not_finite.h"

namespace jeffreys {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr Eigen::Index kHuge = Eigen::Index{1} << 40;

// The message of the std::invalid_argument that `call` throws.
std::string complaint(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "nothing was thrown";
}

auto names(const std::string& argument, const std::string& expected, const std::string& actual) {
  return AllOf(HasSubstr(argument + ":"), HasSubstr("expected " + expected),
               HasSubstr("got " + actual));
}

template <typename Options>
std::string rejected(const Options& options) {
  return complaint([&] { options.validate(); });
}

TEST(BadFlowOptions, AreRejected) {
  const auto with = [](const std::function<void(SplineFlowOptions&)>& change) {
    SplineFlowOptions options{.features = 2};
    change(options);
    return rejected(options);
  };
  EXPECT_THAT(rejected(SplineFlowOptions{}),
              names("SplineFlowOptions.features", "at least 1", "0"));
  EXPECT_THAT(with([](auto& o) { o.features = -3; }),
              names("SplineFlowOptions.features", "at least 1", "-3"));
  EXPECT_THAT(with([](auto& o) { o.features = kHuge; }),
              names("SplineFlowOptions.features", "at most", std::to_string(kHuge)));
  EXPECT_THAT(with([](auto& o) { o.context_features = -1; }),
              names("SplineFlowOptions.context_features", "at least 0", "-1"));
  EXPECT_THAT(with([](auto& o) { o.context_features = kHuge; }),
              names("SplineFlowOptions.context_features", "at most", std::to_string(kHuge)));
  EXPECT_THAT(with([](auto& o) { o.transforms = 0; }),
              names("SplineFlowOptions.transforms", "at least 1", "0"));
  EXPECT_THAT(with([](auto& o) { o.transforms = kHuge; }),
              names("SplineFlowOptions.transforms", "at most", std::to_string(kHuge)));
  EXPECT_THAT(with([](auto& o) { o.bins = 0; }),
              names("SplineFlowOptions.bins", "at least 1", "0"));
  EXPECT_THAT(with([](auto& o) { o.bins = -8; }),
              names("SplineFlowOptions.bins", "at least 1", "-8"));
  EXPECT_THAT(with([](auto& o) { o.bins = kHuge; }),
              names("SplineFlowOptions.bins", "at most", std::to_string(kHuge)));
  EXPECT_THAT(with([](auto& o) {
                o.hidden = {64, 0};
              }),
              names("SplineFlowOptions.hidden", "at least 1", "0"));
  EXPECT_THAT(with([](auto& o) { o.hidden = {kHuge}; }),
              names("SplineFlowOptions.hidden", "at most", std::to_string(kHuge)));
}

TEST(BadFlowOptions, OrdersHaveToBePermutations) {
  const auto with = [](std::vector<std::vector<std::int64_t>> orders) {
    return rejected(SplineFlowOptions{.features = 3, .transforms = 2, .orders = std::move(orders)});
  };
  EXPECT_THAT(with({{0, 1, 2}}), names("SplineFlowOptions.orders", "2", "1"));
  for (const std::vector<std::int64_t>& wrong : std::vector<std::vector<std::int64_t>>{
           {0, 1, 1}, {0, 1, 3}, {-1, 0, 1}, {0, 1}, {0, 1, 2, 3}, {}}) {
    EXPECT_THAT(with({{2, 0, 1}, wrong}),
                AllOf(HasSubstr("SplineFlowOptions.orders:"), HasSubstr("0..2")));
  }
}

// What validate() rejects is never built.
TEST(BadFlowOptions, MakeNoFlow) {
  EXPECT_THROW(SplineFlow<float>(SplineFlowOptions{}), std::invalid_argument);
  EXPECT_THROW(SplineFlow<double>({.features = 2, .hidden = {kHuge}}), std::invalid_argument);
}

TEST(BadEnergyOptions, AreRejected) {
  using Residual = ResidualEnergyOptions;
  EXPECT_THAT(rejected(Residual{}), names("ResidualEnergyOptions.features", "at least 1", "0"));
  EXPECT_THAT(rejected(Residual{.features = kHuge}),
              names("ResidualEnergyOptions.features", "at most", std::to_string(kHuge)));
  EXPECT_THAT(rejected(Residual{.features = 2, .hidden = 0}),
              names("ResidualEnergyOptions.hidden", "at least 1", "0"));
  EXPECT_THAT(rejected(Residual{.features = 2, .hidden = kHuge}),
              names("ResidualEnergyOptions.hidden", "at most", std::to_string(kHuge)));
  EXPECT_THAT(rejected(Residual{.features = 2, .blocks = -1}),
              names("ResidualEnergyOptions.blocks", "at least 0", "-1"));
  EXPECT_THAT(rejected(Residual{.features = 2, .blocks = kHuge}),
              names("ResidualEnergyOptions.blocks", "at most", std::to_string(kHuge)));
  using Film = FilmEnergyOptions;
  EXPECT_THAT(rejected(Film{.features = -2, .context_features = 1}),
              names("FilmEnergyOptions.features", "at least 1", "-2"));
  EXPECT_THAT(rejected(Film{.features = 2}),
              names("FilmEnergyOptions.context_features", "at least 1", "0"));
  EXPECT_THAT(rejected(Film{.features = 2, .context_features = kHuge}),
              names("FilmEnergyOptions.context_features", "at most", std::to_string(kHuge)));
  EXPECT_THAT(rejected(Film{.features = 2, .context_features = 1, .film_layers = 0}),
              names("FilmEnergyOptions.film_layers", "at least 1", "0"));
  EXPECT_THAT(rejected(Film{.features = 2, .context_features = 1, .film_layers = kHuge}),
              names("FilmEnergyOptions.film_layers", "at most", std::to_string(kHuge)));
}

TEST(BadEnergyOptions, TemperatureIsFiniteAndPositive) {
  for (const double temperature : {0.0, -1.5, kNan, kInfinity}) {
    EXPECT_THAT(
        rejected(ResidualEnergyOptions{.features = 2, .temperature = temperature}),
        AllOf(HasSubstr("ResidualEnergyOptions.temperature: expected a finite number above 0"),
              HasSubstr("got ")));
    EXPECT_THAT(rejected(FilmEnergyOptions{
                    .features = 2, .context_features = 1, .temperature = temperature}),
                AllOf(HasSubstr("FilmEnergyOptions.temperature: expected a finite number above 0"),
                      HasSubstr("got ")));
  }
  EXPECT_THAT(rejected(ResidualEnergyOptions{.features = 2, .temperature = -1.5}),
              HasSubstr("got -1.5"));
}

TEST(BadEnergyOptions, MakeNoModel) {
  EXPECT_THROW(ResidualEnergy<float>(ResidualEnergyOptions{}), std::invalid_argument);
  EXPECT_THROW(FilmEnergy<float>(FilmEnergyOptions{.features = 1}), std::invalid_argument);
}

TEST(BadLangevinOptions, AreRejected) {
  EXPECT_THAT(rejected(LangevinOptions{.steps = -1}),
              names("LangevinOptions.steps", "at least 0", "-1"));
  EXPECT_THAT(rejected(LangevinOptions{.steps = std::numeric_limits<int>::max()}),
              names("LangevinOptions.steps", "at most", "2147483647"));
  for (const double step : {0.0, -0.25, kNan, kInfinity}) {
    EXPECT_THAT(rejected(LangevinOptions{.step_size = step}),
                HasSubstr("LangevinOptions.step_size: expected a finite number above 0, got "));
  }
  EXPECT_THAT(rejected(LangevinOptions{.step_size = -0.25}), HasSubstr("got -0.25"));
}

// Shapes, for one flow and one energy model with 3 features and 2 context features.
class BadShapes : public ::testing::Test {
 protected:
  using Model = UnnormalizedDensity<float>;

  // Checks the complaints of every operation that takes x and context.
  void expect_rejected(const Matrix<float>& rows, const Matrix<float>& conditions,
                       const auto& matcher) const {
    for (const Model* model :
         {static_cast<const Model*>(&flow), static_cast<const Model*>(&film)}) {
      std::vector<float> gradient(model->layout().size());
      const Vector<float> weights = Vector<float>::Ones(rows.rows());
      const LangevinOptions few{.steps = 1};
      EXPECT_THAT(complaint([&] { (void)model->log_unnormalized(rows, conditions); }), matcher);
      EXPECT_THAT(complaint([&] { (void)model->input_gradient(rows, conditions); }), matcher);
      EXPECT_THAT(complaint([&] { model->add_scores(rows, conditions, weights, gradient); }),
                  matcher);
      EXPECT_THAT(complaint([&] { (void)langevin<float>(*model, rows, conditions, few, {}); }),
                  matcher);
    }
    EXPECT_THAT(complaint([&] { (void)flow.to_noise(rows, conditions); }), matcher);
  }

  SplineFlow<float> flow{{.features = 3, .context_features = 2, .hidden = {8}}};
  FilmEnergy<float> film{{.features = 3, .context_features = 2, .hidden = 8}};
  Matrix<float> x = Matrix<float>::Ones(10, 3);
  Matrix<float> context = Matrix<float>::Ones(10, 2);
};

TEST_F(BadShapes, WrongColumns) {
  expect_rejected(Matrix<float>::Ones(10, 2), context, names("x", "3 columns", "2"));
  expect_rejected(Matrix<float>::Ones(10, 4), context, names("x", "3 columns", "4"));
  expect_rejected(Matrix<float>(), context, names("x", "3 columns", "0"));
  EXPECT_THAT(complaint([&] { (void)flow.sample_from_noise(context, context); }),
              names("noise", "3 columns", "2"));
}

TEST_F(BadShapes, WrongContext) {
  expect_rejected(x, Matrix<float>(), names("context", "2 columns", "0"));
  expect_rejected(x, Matrix<float>::Ones(10, 3), names("context", "2 columns", "3"));
  expect_rejected(x, Matrix<float>::Ones(9, 2), names("context", "10 rows", "9"));
  expect_rejected(x, Matrix<float>::Ones(0, 2), names("context", "10 rows", "0"));
  EXPECT_THAT(complaint([&] { (void)flow.sample(10, {}); }), names("context", "2 columns", "0"));
  EXPECT_THAT(complaint([&] { (void)flow.sample(11, context, {}); }),
              names("context", "11 rows", "10"));
  EXPECT_THAT(complaint([&] { (void)flow.sample_from_noise(x, context.topRows(4)); }),
              names("context", "10 rows", "4"));
}

TEST_F(BadShapes, ContextForAModelWithoutOne) {
  const SplineFlow<float> plain({.features = 3, .hidden = {8}});
  const ResidualEnergy<float> residual({.features = 3, .hidden = 8});
  EXPECT_THAT(complaint([&] { (void)plain.log_prob(x, context); }),
              names("context", "0 columns", "2"));
  EXPECT_THAT(complaint([&] { (void)residual.log_unnormalized(x, context); }),
              names("context", "0 columns", "2"));
}

TEST_F(BadShapes, WrongWeightsAndGradient) {
  const Vector<float> weights = Vector<float>::Ones(10);
  for (const UnnormalizedDensity<float>* model :
       {static_cast<const Model*>(&flow), static_cast<const Model*>(&film)}) {
    const std::size_t size = model->layout().size();
    std::vector<float> gradient(size + 1);
    const auto add = [&](Eigen::Index weight_count, std::size_t gradient_size) {
      return complaint([&] {
        model->add_scores(x, context, Vector<float>::Ones(weight_count),
                          std::span(gradient).first(gradient_size));
      });
    };
    EXPECT_THAT(add(9, size), names("weights", "10 elements", "9"));
    EXPECT_THAT(add(11, size), names("weights", "10 elements", "11"));
    EXPECT_THAT(add(10, size - 1),
                names("gradient", std::to_string(size) + " elements", std::to_string(size - 1)));
    EXPECT_THAT(add(10, size + 1),
                names("gradient", std::to_string(size) + " elements", std::to_string(size + 1)));
    EXPECT_THAT(add(10, 0), names("gradient", std::to_string(size) + " elements", "0"));
  }
}

TEST_F(BadShapes, WrongSampleScores) {
  Samples<float> samples;
  flow.sample(10, context, {}, samples, KeepTape::yes);
  std::vector<float> gradient(flow.layout().size());
  EXPECT_THAT(complaint([&] { flow.add_sample_scores(samples, Vector<float>::Ones(9), gradient); }),
              names("weights", "10 elements", "9"));
  EXPECT_THAT(complaint([&] {
                flow.add_sample_scores(samples, Vector<float>::Ones(10), std::span<float>());
              }),
              names("gradient", std::to_string(gradient.size()) + " elements", "0"));
}

TEST_F(BadShapes, NegativeRows) {
  EXPECT_THAT(complaint([&] { (void)flow.sample(-1, context, {}); }),
              names("rows", "at least 0", "-1"));
  EXPECT_THAT(complaint([&] { (void)langevin_from<float>(film, flow, -4, context, {}, {}); }),
              names("rows", "at least 0", "-4"));
}

TEST_F(BadShapes, ChainsFromAFlowOfOtherFeatures) {
  const SplineFlow<float> narrow({.features = 2, .context_features = 2, .hidden = {8}});
  EXPECT_THAT(complaint([&] { (void)langevin_from<float>(film, narrow, 10, context, {}, {}); }),
              names("x", "3 columns", "2"));
}

TEST_F(BadShapes, WrongSpectralVectors) {
  const std::size_t size = film.state_layout().size();
  EXPECT_THAT(complaint([&] { film.set_state(std::vector<float>(size + 2)); }),
              names("vectors", std::to_string(size) + " elements", std::to_string(size + 2)));
  EXPECT_THAT(complaint([&] { film.power_iterate(-1); }), names("iterations", "at least 0", "-1"));
  EXPECT_THAT(complaint([&] { (void)film.effective_weight(film.layout().find("blocks.0.alpha")); }),
              AllOf(HasSubstr("expected a block of layer weights"), HasSubstr("blocks.0.alpha")));
}

TEST_F(BadShapes, UnknownParameterBlock) {
  EXPECT_THAT(complaint([&] { (void)flow.layout().find("no.such.block"); }),
              HasSubstr("no.such.block"));
}

// A mistake leaves the model as it was.
TEST_F(BadShapes, ModelsLiveOn) {
  const Vector<float> before = flow.log_prob(x, context);
  (void)complaint([&] { (void)flow.log_prob(context, x); });
  EXPECT_EQ(flow.log_prob(x, context), before);
}

}  // namespace
}  // namespace jeffreys

// Laws of WGAN training: it learns, repeats itself, goes on after a break, and refuses what does
// not fit.
#include "jeffreys/torch/wgan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "jeffreys/storage/safetensors.h"
#include "support/damaged_files.h"
#include "support/model_helpers.h"
#include "support/scratch_folder.h"
#include "torch/wgan_run.h"

namespace jeffreys {
namespace {

using ::testing::HasSubstr;
using testing::normals;

SplineFlowOptions generator_options(std::uint64_t seed) {
  return {.features = 2, .transforms = 2, .bins = 4, .hidden = {8, 8}, .seed = seed};
}

WganOptions quick_options() {
  return {.critic_steps = 2,
          .learning_rate_generator = 1e-3,
          .learning_rate_critic = 1e-3,
          .beta1 = 0.5};
}

// A run and its models; the seed is that of the initial weights.
template <typename T>
struct SmallWgan {
  explicit SmallWgan(const WganOptions& options, std::uint64_t seed = 1)
      : generator(generator_options(seed)),
        critic({.features = 2, .hidden = 16, .blocks = 1, .seed = seed}),
        trainer(generator, critic, normals(40, 2, 9).cast<T>(), options) {}

  // Weights and all that training knows, after so many steps.
  std::vector<T> after(int steps) {
    for (int i = 0; i < steps; ++i) EXPECT_FALSE(trainer.step().skipped);
    std::vector<T> all(generator.parameters().begin(), generator.parameters().end());
    all.insert(all.end(), critic.parameters().begin(), critic.parameters().end());
    all.insert(all.end(), critic.state().begin(), critic.state().end());
    return all;
  }

  SplineFlow<T> generator;
  ResidualEnergy<T> critic;
  WganTrainer<T> trainer;
};

TEST(Wgan, TheSameSeedGivesTheSameBitsAndAnotherDoesNot) {
  WganOptions options = quick_options();
  options.batch_size = 16;
  const std::vector<float> first = SmallWgan<float>(options).after(6);
  EXPECT_TRUE(testing::same_bits(SmallWgan<float>(options).after(6), first));
  options.seed = 1;
  EXPECT_FALSE(testing::same_bits(SmallWgan<float>(options).after(6), first));
}

// Before AdamW's first step makes signs of the smallest gradients count.
TEST(Wgan, FloatFollowsDouble) {
  WganOptions options = quick_options();
  options.critic_steps = 1;
  options.learning_rate_critic = 0;
  const WganRecord single = SmallWgan<float>(options).trainer.step();
  const WganRecord twice = SmallWgan<double>(options).trainer.step();
  EXPECT_NEAR(single.wasserstein, twice.wasserstein, 1e-5);
  EXPECT_NEAR(single.penalty, twice.penalty, 1e-5);
  EXPECT_NEAR(single.generator_loss, twice.generator_loss, 1e-5);
  EXPECT_NEAR(single.critic_gradient_norm, twice.critic_gradient_norm, 1e-4);
  EXPECT_NEAR(single.generator_gradient_norm, twice.generator_gradient_norm, 1e-4);
}

TEST(Wgan, ARecordAddsUp) {
  SmallWgan<double> wgan(quick_options());
  EXPECT_EQ(wgan.trainer.iteration(), 0);
  for (int i = 1; i <= 3; ++i) {
    const WganRecord record = wgan.trainer.step();
    EXPECT_EQ(record.iteration, i);
    EXPECT_NEAR(record.critic_loss, 0.1 * record.penalty - record.wasserstein, 1e-12);
    EXPECT_GT(record.penalty, 0);
    EXPECT_GT(record.critic_gradient_norm, 0);
    EXPECT_GT(record.generator_gradient_norm, 0);
  }
  EXPECT_EQ(wgan.trainer.iteration(), 3);
}

// Data 1.8 away from where the flow starts. With slopes of about 1 and a spread of 0.3 the estimate
// from 128 rows has a standard error of about 0.04, and oscillates by 0.1 to 0.2 as both models
// move; the mean of the data has one of 0.03 in each direction.
TEST(Wgan, TheDistanceFallsWhileTheGeneratorLearnsAGaussian) {
  Matrix<float> data = (0.3 * normals(128, 2, 3)).cast<float>();
  data.col(0).array() += 1.5F;
  data.col(1).array() -= 1.0F;
  SplineFlow<float> generator(generator_options(2));
  ResidualEnergy<float> critic({.features = 2, .hidden = 16, .blocks = 1});
  WganTrainer<float> trainer(generator, critic, data,
                             {.critic_steps = 4,
                              .penalty = 1.0,
                              .learning_rate_generator = 4e-3,
                              .learning_rate_critic = 1e-2});
  double largest = 0;
  for (int i = 0; i < 25; ++i) largest = std::max(largest, trainer.step().wasserstein);
  for (int i = 0; i < 100; ++i) trainer.step();
  double last = 0;
  for (int i = 0; i < 20; ++i) last += std::abs(trainer.step().wasserstein) / 20;
  EXPECT_GT(largest, 1.0);
  EXPECT_LT(last, 0.4);
  const Matrix<float> samples = generator.sample(4000, RandomStream{.seed = 5}).x;
  const Eigen::RowVector2f mean = samples.colwise().mean();
  EXPECT_NEAR(mean[0], 1.5, 0.5);
  EXPECT_NEAR(mean[1], -1.0, 0.5);
}

class WganFile : public testing::ScratchTest {
 protected:
  // All that a run keeps, but for its counters.
  template <typename Run>
  [[nodiscard]] storage::TensorFile state_of(const Run& run) const {
    run.save(path("state"));
    storage::TensorFile file = storage::read_safetensors(path("state"));
    file.tensors.erase("counters");
    return file;
  }
};

// The critic's first step throws it far away, its second one overflows.
TEST_F(WganFile, AnIterationThatIsNotFiniteChangesNothing) {
  WganOptions options = quick_options();
  options.learning_rate_critic = 1e30;
  SmallWgan<float> wgan(options);
  const storage::TensorFile before = state_of(wgan.trainer);
  const WganRecord record = wgan.trainer.step();
  EXPECT_TRUE(record.skipped);
  EXPECT_FALSE(std::isfinite(record.critic_loss));
  EXPECT_EQ(record.iteration, 1);
  EXPECT_EQ(state_of(wgan.trainer), before);
}

// The generator's part fails when the critic has moved already.
TEST_F(WganFile, AGeneratorThatIsNotFiniteLeavesTheCriticAsItWas) {
  const WganOptions options = quick_options();
  SmallWgan<float> wgan(options);
  WganRun<float> run(wgan.generator, wgan.critic, normals(40, 2, 9).cast<float>(), options);
  WganNoise<float> noise = draw_wgan_noise<float>(options, 40, 2, 0);
  noise.generator(7, 1) = std::numeric_limits<float>::quiet_NaN();
  const storage::TensorFile before = state_of(run);
  const WganRecord record = run.step(noise);
  EXPECT_TRUE(record.skipped);
  EXPECT_TRUE(std::isfinite(record.critic_loss));
  EXPECT_FALSE(std::isfinite(record.generator_loss));
  EXPECT_EQ(state_of(run), before);
}

// The resumed run's models begin with other weights: all that counts is in the file.
// After one step the second moments are (1 - beta2) times the squares of the clipped gradient.
TEST_F(WganFile, EachGradientIsClippedToTheLimit) {
  WganOptions options = quick_options();
  options.critic_steps = 1;
  for (const double limit : {1e-3, 0.0}) {
    options.clip_norm = limit;
    SmallWgan<double> wgan(options);
    const WganRecord record = wgan.trainer.step();
    wgan.trainer.save(path("state"));
    storage::TensorFile file = storage::read_safetensors(path("state"));
    for (const auto& [name, norm] :
         {std::pair("generator.second_moment", record.generator_gradient_norm),
          std::pair("critic.second_moment", record.critic_gradient_norm)}) {
      const std::vector<double> moments = file.tensors.at(name).values<double>();
      const double squares = std::reduce(moments.begin(), moments.end()) / (1 - options.beta2);
      // As torch.nn.utils.clip_grad_norm_ has it.
      const double expected = limit > 0 ? limit * norm / (norm + 1e-6) : norm;
      EXPECT_GT(norm, 1e-3) << name;
      EXPECT_NEAR(std::sqrt(squares), expected, 1e-10 * expected) << name;
    }
  }
}

TEST_F(WganFile, ResumeGoesOnBitForBit) {
  for (const Eigen::Index batch : {0, 16}) {
    SCOPED_TRACE(batch);
    WganOptions options = quick_options();
    options.batch_size = batch;
    SmallWgan<float> straight(options);
    const std::vector<float> expected = straight.after(9);
    SmallWgan<float> first(options);
    first.after(4);
    first.trainer.save(path("state"));
    SmallWgan<float> second(options, 50);
    second.trainer.resume(path("state"));
    EXPECT_EQ(second.trainer.iteration(), 4);
    EXPECT_TRUE(testing::same_bits(second.after(5), expected));
    first.trainer.save(path("one"));
    second.trainer.save(path("two"));
    straight.trainer.save(path("three"));
    EXPECT_EQ(testing::bytes_of(path("two")), testing::bytes_of(path("three")));
    EXPECT_NE(testing::bytes_of(path("one")), testing::bytes_of(path("two")));
  }
}

TEST_F(WganFile, AFileOfAnotherRunIsRefusedAndNothingChanges) {
  SmallWgan<float> first(quick_options());
  first.after(1);
  first.trainer.save(path("state"));
  WganOptions options = quick_options();
  options.penalty = 10;
  options.seed = 3;
  SmallWgan<float> other(options, 4);
  const std::vector<float> before = other.after(0);
  const auto resume = [&](const std::filesystem::path& from) { other.trainer.resume(from); };
  EXPECT_THAT(testing::problem_of(path("state"), resume),
              HasSubstr("its penalty differs, its seed differs"));
  SmallWgan<double> in_double(quick_options());
  in_double.trainer.save(path("double"));
  EXPECT_THAT(testing::problem_of(path("double"), resume), HasSubstr("its critic differs"));
  storage::write_safetensors(path("empty"), {});
  EXPECT_THAT(testing::problem_of(path("empty"), resume), HasSubstr("not a WGAN"));
  EXPECT_TRUE(testing::same_bits(other.after(0), before));
  EXPECT_EQ(other.trainer.iteration(), 0);
}

TEST_F(WganFile, ADamagedFileIsRefusedAndNothingChanges) {
  SmallWgan<float> wgan(quick_options());
  wgan.after(1);
  wgan.trainer.save(path("state"));
  const storage::TensorFile good = storage::read_safetensors(path("state"));
  const std::vector<float> before = wgan.after(1);
  const auto resume = [&](const std::filesystem::path& from) { wgan.trainer.resume(from); };
  for (const auto& [name, array] : good.tensors) {
    storage::TensorFile bad = good;
    bad.tensors.erase(name);
    storage::write_safetensors(path("bad"), bad);
    EXPECT_THAT(testing::problem_of(path("bad"), resume), HasSubstr(name + "' is missing"));
    bad.tensors[name] = storage::Array::from<float>({1}, std::vector<float>{1});
    storage::write_safetensors(path("bad"), bad);
    EXPECT_THAT(testing::problem_of(path("bad"), resume), HasSubstr("got 1"));
  }
  storage::TensorFile bad = good;
  bad.tensors["counters"] =
      storage::Array::from<std::int64_t>({4}, std::vector<std::int64_t>{2, -1, 4, 0});
  storage::write_safetensors(path("bad"), bad);
  EXPECT_THAT(testing::problem_of(path("bad"), resume), HasSubstr("holds -1"));
  EXPECT_TRUE(testing::same_bits(wgan.after(0), before));
  EXPECT_EQ(wgan.trainer.iteration(), 2);
}

TEST_F(WganFile, AFlippedBitIsRefusedAndAFileOfTheEarlierVersionGoesOn) {
  SmallWgan<float> wgan(quick_options());
  wgan.after(2);
  wgan.trainer.save(path("state"));
  const std::string whole = testing::bytes_of(path("state"));
  SmallWgan<float> second(quick_options(), 50);
  for (std::size_t i = 0; i < 1000; ++i) {
    const std::size_t bit = 8 * (i * whole.size() / 1000) + i % 8;
    const auto flipped = file("flipped", testing::with_flipped_bit(whole, bit));
    EXPECT_THROW(second.trainer.resume(flipped), InputError) << bit;
  }
  const std::string old = testing::of_earlier_version(whole, "jeffreys.wgan_version", "2");
  second.trainer.resume(file("old", old));
  EXPECT_TRUE(testing::same_bits(second.after(3), wgan.after(3)));
}

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  ADD_FAILURE() << "no std::invalid_argument";
  return {};
}

TEST(WganOptionsTest, NameTheFieldTheExpectedAndTheActualValue) {
  const auto problem = [](const std::function<void(WganOptions&)>& change) {
    WganOptions options;
    options.validate();
    change(options);
    return refusal([&] { options.validate(); });
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(problem([](WganOptions& o) { o.batch_size = -1; }),
            "WganOptions.batch_size: expected at least 0, got -1");
  EXPECT_EQ(problem([](WganOptions& o) { o.critic_steps = 0; }),
            "WganOptions.critic_steps: expected at least 1, got 0");
  EXPECT_EQ(problem([](WganOptions& o) { o.penalty = -0.5; }),
            "WganOptions.penalty: expected a number that is not negative, got -0.5");
  EXPECT_THAT(problem([&](WganOptions& o) { o.learning_rate_generator = nan; }),
              HasSubstr("learning_rate_generator"));
  EXPECT_THAT(problem([](WganOptions& o) { o.learning_rate_critic = -1; }),
              HasSubstr("learning_rate_critic"));
  EXPECT_EQ(problem([](WganOptions& o) { o.beta1 = 1; }),
            "WganOptions.beta1: expected a number from 0 to below 1, got 1");
  EXPECT_THAT(problem([](WganOptions& o) { o.beta2 = -0.1; }), HasSubstr("beta2"));
  EXPECT_THAT(problem([](WganOptions& o) { o.weight_decay = -1; }), HasSubstr("weight_decay"));
  EXPECT_THAT(problem([&](WganOptions& o) { o.clip_norm = nan; }), HasSubstr("clip_norm"));
}

TEST(WganOptionsTest, ModelsAndDataMustFit) {
  SplineFlow<float> flow(generator_options(0));
  SplineFlow<float> conditional({.features = 2, .context_features = 1});
  ResidualEnergy<float> critic({.features = 2, .hidden = 8});
  ResidualEnergy<float> wide({.features = 3, .hidden = 8});
  const auto problem = [](SplineFlow<float>& g, ResidualEnergy<float>& c, Matrix<float> data) {
    return refusal([&] { const WganTrainer<float> trainer(g, c, data, {}); });
  };
  const Matrix<float> data = normals(5, 2, 1).cast<float>();
  EXPECT_EQ(problem(conditional, critic, data), "generator: expected 0 context features, got 1");
  EXPECT_EQ(problem(flow, wide, data), "critic: expected 2 features (as generator), got 3");
  EXPECT_EQ(problem(flow, critic, Matrix<float>::Zero(5, 1)),
            "data: expected 2 columns (as generator), got 1");
  EXPECT_EQ(problem(flow, critic, Matrix<float>(0, 2)), "data: expected at least 1 row, got 0");
  Matrix<float> broken = data;
  broken(3, 1) = std::numeric_limits<float>::infinity();
  EXPECT_EQ(problem(flow, critic, broken), "data: expected finite numbers, row 3 has others");
}

}  // namespace
}  // namespace jeffreys

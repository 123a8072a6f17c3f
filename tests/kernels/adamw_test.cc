// AdamW against torch's algorithm, number by number.
#include "kernels/adamw.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <vector>

#include "kernels/aligned_random.h"
#include "kernels/error_meter.h"

namespace jeffreys::kernels {
namespace {

struct Settings {
  double learning_rate;
  double beta1;
  double beta2;
  double weight_decay;
  double gradient_factor;
};

constexpr Settings kSettings[] = {{1e-3, 0.0, 0.9, 0.0, 1.0},
                                  {1e-2, 0.0, 0.9, 1e-2, 1.0},
                                  {1e-2, 0.0, 0.9, 1e-4, 0.37},
                                  {1e-3, 0.9, 0.999, 1e-2, 1.0},
                                  {1e-1, 0.9, 0.99, 0.5, 0.01}};

// torch/optim/adamw.py, _single_tensor_adamw, on one number.
struct TorchAdamW {
  double parameter;
  double exp_avg = 0;
  double exp_avg_sq = 0;

  void step(const Settings& s, double grad, std::size_t t) {
    const double bias_correction1 = 1 - std::pow(s.beta1, static_cast<double>(t));
    const double bias_correction2 = 1 - std::pow(s.beta2, static_cast<double>(t));
    parameter *= 1 - s.learning_rate * s.weight_decay;
    exp_avg = exp_avg * s.beta1 + (1 - s.beta1) * grad;
    exp_avg_sq = exp_avg_sq * s.beta2 + (1 - s.beta2) * grad * grad;
    const double denom = std::sqrt(exp_avg_sq) / std::sqrt(bias_correction2) + 1e-8;
    parameter -= s.learning_rate / bias_correction1 * exp_avg / denom;
  }
};

// A model's buffers, which need not be aligned, with one element behind them.
template <typename T>
struct Buffers {
  std::size_t size;
  std::vector<T> parameters, first, second;

  Buffers(std::size_t count, Draw& draw) : size(count), first(count + 2), second(count + 2) {
    for (std::size_t i = 0; i < count + 2; ++i) {
      parameters.push_back(static_cast<T>(draw.uniform()));
    }
  }

  void step(const Settings& s, const std::vector<T>& gradient, std::size_t t) {
    adamw(AdamWArguments<T>{.size = size,
                            .parameters = parameters.data() + 1,
                            .gradient = gradient.data() + 1,
                            .first_moment = s.beta1 == 0 ? nullptr : first.data() + 1,
                            .second_moment = second.data() + 1,
                            .learning_rate = s.learning_rate,
                            .beta1 = s.beta1,
                            .beta2 = s.beta2,
                            .weight_decay = s.weight_decay,
                            .step = t,
                            .gradient_factor = s.gradient_factor});
  }
};

template <typename T>
class AdamWTest : public ::testing::Test {};
TYPED_TEST_SUITE(AdamWTest, FloatAndDouble, FloatOrDoubleName);

// Each step moves a parameter by at most about the learning rate over 1 - beta1 and rounds about
// ten times, so the errors stay below 10 epsilon a step of the magnitudes at hand.
TYPED_TEST(AdamWTest, FollowsTorch) {
  constexpr std::size_t kSteps = 12;
  Draw draw(1);
  for (const Settings& s : kSettings) {
    for (const std::size_t size : {1, 7, 8, 9, 1000}) {
      Buffers<TypeParam> buffers(size, draw);
      const std::vector<TypeParam> start = buffers.parameters;
      std::vector<TorchAdamW> torch;
      for (const TypeParam p : start) torch.push_back({static_cast<double>(p)});
      ErrorMeter errors;
      for (std::size_t t = 1; t <= kSteps; ++t) {
        std::vector<TypeParam> gradient(size + 2);
        for (std::size_t i = 0; i < gradient.size(); ++i) {
          // Sizes of gradients that differ by nine orders of magnitude.
          const double scale = std::pow(10.0, static_cast<double>(i % 10) - 6);
          gradient[i] = static_cast<TypeParam>(scale * draw.uniform());
        }
        buffers.step(s, gradient, t);
        const double bound = 10 * kEpsilon<TypeParam> * static_cast<double>(t);
        for (std::size_t i = 1; i <= size; ++i) {
          torch[i].step(s, s.gradient_factor * static_cast<double>(gradient[i]), t);
          errors.add(buffers.parameters[i], torch[i].parameter, bound);
          errors.add(buffers.second[i], torch[i].exp_avg_sq, bound * torch[i].exp_avg_sq);
          if (s.beta1 == 0) continue;
          // A moment may cancel; its error is measured by its root mean square.
          errors.add(buffers.first[i], torch[i].exp_avg,
                     bound * 10 * std::sqrt(torch[i].exp_avg_sq));
        }
      }
      EXPECT_LE(errors.worst(), 1) << "beta1 " << s.beta1 << ", size " << size << ", " << errors;
      for (const std::size_t outside : {std::size_t{0}, size + 1}) {
        EXPECT_EQ(buffers.parameters[outside], start[outside]);
        EXPECT_EQ(buffers.first[outside], TypeParam(0));
        EXPECT_EQ(buffers.second[outside], TypeParam(0));
      }
    }
  }
}

// Masked weights are zero and get no gradient: they may not move, whatever the others do.
TYPED_TEST(AdamWTest, ZeroWithoutGradientStaysExactlyZero) {
  Draw draw(2);
  for (const Settings& s : kSettings) {
    Buffers<TypeParam> buffers(101, draw);
    for (std::size_t i = 0; i < buffers.parameters.size(); i += 2) buffers.parameters[i] = 0;
    for (std::size_t t = 1; t <= 1000; ++t) {
      std::vector<TypeParam> gradient(buffers.parameters.size());
      for (std::size_t i = 1; i < gradient.size(); i += 2) {
        gradient[i] = static_cast<TypeParam>(draw.uniform());
      }
      buffers.step(s, gradient, t);
    }
    for (std::size_t i = 0; i < buffers.parameters.size(); i += 2) {
      ASSERT_EQ(buffers.parameters[i], TypeParam(0));
      ASSERT_EQ(buffers.first[i], TypeParam(0));
      ASSERT_EQ(buffers.second[i], TypeParam(0));
    }
  }
}

// The first step with beta1 = 0 has the size of the learning rate, in the gradient's direction.
TYPED_TEST(AdamWTest, FirstStepIsTheSignOfTheGradient) {
  const Settings s{
      .learning_rate = 0.25, .beta1 = 0, .beta2 = 0.9, .weight_decay = 0, .gradient_factor = 1};
  Draw draw(3);
  Buffers<TypeParam> buffers(3, draw);
  const std::vector<TypeParam> start = buffers.parameters;
  buffers.step(s, {0, TypeParam(7), TypeParam(-0.5), TypeParam(0), 0}, 1);
  // The tolerance of 1e-8 in the denominator shortens the smaller step by 2e-8 of itself.
  const double bound = 1e-8 + 4 * kEpsilon<TypeParam>;
  EXPECT_NEAR(buffers.parameters[1], start[1] - TypeParam(0.25), bound);
  EXPECT_NEAR(buffers.parameters[2], start[2] + TypeParam(0.25), bound);
  EXPECT_EQ(buffers.parameters[3], start[3]);
}

}  // namespace
}  // namespace jeffreys::kernels

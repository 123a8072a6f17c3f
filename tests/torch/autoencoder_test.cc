// The autoencoder's arithmetic against formulas, its training, and its checkpoints.
#include <gmock/gmock.h>

#include <cmath>

#include "jeffreys/image/train_autoencoder.h"
#include "jeffreys/torch/autoencoder_network.h"
#include "support/scratch_folder.h"

namespace jeffreys::testing {
namespace {

using ::testing::HasSubstr;

std::shared_ptr<const AutoencoderNetwork> network_of(const AutoencoderOptions& options) {
  return make_autoencoder_network(options);
}

// Bright discs on dark ground, each at another place: three numbers make each picture.
Images discs(std::size_t count, std::size_t size, std::size_t channels, std::size_t first = 0) {
  Images images = make_images(count, size, size, channels);
  for (std::size_t i = 0; i < count; ++i) {
    const double t = static_cast<double>(i + first);
    const double middle = static_cast<double>(size) / 2, reach = static_cast<double>(size) / 4;
    const double cx = middle + reach * std::sin(t), cy = middle + reach * std::cos(1.7 * t);
    std::uint8_t* pixel = images.one(i).data();
    for (std::size_t y = 0; y < size; ++y) {
      for (std::size_t x = 0; x < size; ++x) {
        const double r = std::hypot(static_cast<double>(x) - cx, static_cast<double>(y) - cy);
        const double value = 20 + 200 / (1 + std::exp(2 * (r - reach)));
        for (std::size_t c = 0; c < channels; ++c) *pixel++ = static_cast<std::uint8_t>(value);
      }
    }
  }
  return images;
}

// A convolution from its definition, kernel 4, stride 2, padding 1.
std::vector<double> convolve(const std::vector<double>& x, std::size_t in, std::size_t side,
                             const float* weight, const float* bias, std::size_t out) {
  const std::size_t half = side / 2;
  std::vector<double> y(out * half * half);
  for (std::size_t o = 0; o < out; ++o) {
    for (std::size_t r = 0; r < half; ++r) {
      for (std::size_t c = 0; c < half; ++c) {
        double sum = bias[o];
        for (std::size_t i = 0; i < in; ++i) {
          for (std::size_t k = 0; k < 16; ++k) {
            const std::size_t row = 2 * r + k / 4 - 1, column = 2 * c + k % 4 - 1;
            if (row >= side || column >= side) continue;  // wraps below 0
            sum += x[(i * side + row) * side + column] * weight[(o * in + i) * 16 + k];
          }
        }
        y[(o * half + r) * half + c] = sum;
      }
    }
  }
  return y;
}

// Its transpose: each input pixel spreads over 4 x 4 outputs.
std::vector<double> spread(const std::vector<double>& x, std::size_t in, std::size_t side,
                           const float* weight, const float* bias, std::size_t out) {
  const std::size_t twice = 2 * side;
  std::vector<double> y(out * twice * twice);
  for (std::size_t o = 0; o < out; ++o) {
    std::fill_n(y.begin() + static_cast<std::ptrdiff_t>(o * twice * twice), twice * twice, bias[o]);
    for (std::size_t i = 0; i < in; ++i) {
      for (std::size_t p = 0; p < side * side; ++p) {
        for (std::size_t k = 0; k < 16; ++k) {
          const std::size_t row = 2 * (p / side) + k / 4 - 1, column = 2 * (p % side) + k % 4 - 1;
          if (row >= twice || column >= twice) continue;
          y[(o * twice + row) * twice + column] +=
              x[i * side * side + p] * weight[(i * out + o) * 16 + k];
        }
      }
    }
  }
  return y;
}

std::vector<double> linear(const std::vector<double>& x, const float* weight, const float* bias,
                           std::size_t out) {
  std::vector<double> y(out);
  for (std::size_t o = 0; o < out; ++o) {
    y[o] = bias[o];
    for (std::size_t i = 0; i < x.size(); ++i) y[o] += x[i] * weight[o * x.size() + i];
  }
  return y;
}

void rectify(std::vector<double>& x) {
  for (double& v : x) v = std::max(v, 0.0);
}

TEST(AutoencoderNetwork, IsWhatTheFormulasSay) {
  const AutoencoderOptions options{.size = 16, .channels = 3, .latent = 5, .seed = 3};
  const Autoencoder model(options, network_of(options));
  const ParameterLayout layout = options.layout();
  const auto at = [&](const char* name) {
    return model.parameters().data() + layout.find(name).offset;
  };
  const Images image = discs(1, 16, 3);
  const std::size_t only[] = {0};
  const Matrix<float> pixels = to_pixels(image, only);
  std::vector<double> x(pixels.data(), pixels.data() + pixels.size());
  x = convolve(x, 3, 16, at("encoder.convolution1.weight"), at("encoder.convolution1.bias"), 32);
  rectify(x);
  x = convolve(x, 32, 8, at("encoder.convolution2.weight"), at("encoder.convolution2.bias"), 64);
  rectify(x);
  x = linear(x, at("encoder.linear.weight"), at("encoder.linear.bias"), 5);
  const Matrix<float> z = model.encode(image);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(z(0, static_cast<Eigen::Index>(i)), x[i], 1e-5);
  x = linear(x, at("decoder.linear.weight"), at("decoder.linear.bias"), 64 * 16);
  x = spread(x, 64, 4, at("decoder.convolution1.weight"), at("decoder.convolution1.bias"), 32);
  rectify(x);
  x = spread(x, 32, 8, at("decoder.convolution2.weight"), at("decoder.convolution2.bias"), 3);
  const Matrix<float> back = model.network().decode(model.parameters(), z);
  double error = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_NEAR(back.data()[i], x[i], 1e-5);
    error += std::pow(x[i] - pixels.data()[i], 2) / static_cast<double>(x.size());
  }
  EXPECT_NEAR(model.errors(image)(0), error, 1e-6);
}

// The paper's: 4,096 numbers before the linear layer, four transposed convolutions.
TEST(AutoencoderNetwork, HasThePapersLayers) {
  const ParameterLayout layout = AutoencoderOptions().layout();
  using Shape = std::vector<std::int64_t>;
  EXPECT_EQ(layout.find("encoder.convolution1.weight").shape, (Shape{32, 3, 4, 4}));
  EXPECT_EQ(layout.find("encoder.convolution4.weight").shape, (Shape{256, 128, 4, 4}));
  EXPECT_EQ(layout.find("encoder.linear.weight").shape, (Shape{100, 4096}));
  EXPECT_EQ(layout.find("decoder.linear.weight").shape, (Shape{4096, 100}));
  EXPECT_EQ(layout.find("decoder.convolution1.weight").shape, (Shape{256, 128, 4, 4}));
  EXPECT_EQ(layout.find("decoder.convolution4.weight").shape, (Shape{32, 3, 4, 4}));
  const AutoencoderOptions options;
  const Autoencoder model(options, network_of(options));
  EXPECT_EQ(model.encode(discs(2, 64, 3)).cols(), 100);
  const Images back = model.decode(Matrix<float>::Zero(2, 100));
  EXPECT_EQ(back.height, 64U);
  EXPECT_EQ(back.count, 2U);
}

TEST(AutoencoderNetwork, GradientIsThatOfTheError) {
  const AutoencoderOptions options{.size = 8, .channels = 1, .latent = 3, .seed = 1};
  Autoencoder model(options, network_of(options));
  const Images images = discs(3, 8, 1);
  const std::size_t all[] = {0, 1, 2};
  const Matrix<float> pixels = to_pixels(images, all);
  std::vector<float> gradient(model.parameters().size());
  const double value = model.network().add_gradient(model.parameters(), pixels, gradient);
  EXPECT_NEAR(value, model.errors(images).sum() * 64, 1e-3);
  const ParameterLayout layout = options.layout();
  for (const ParameterBlock& block : layout.blocks()) {
    const std::size_t place = block.offset + block.size / 2;
    float& parameter = model.edit_parameters()[place];
    const float before = parameter;
    constexpr float kStep = 1e-2F;
    parameter = before + kStep;
    const double above = model.errors(images).sum() * 64;
    parameter = before - kStep;
    const double below = model.errors(images).sum() * 64;
    parameter = before;
    const double slope = (above - below) / (2.0 * kStep);
    EXPECT_NEAR(gradient[place], slope, 2e-2 * std::max(1.0, std::abs(slope))) << block.name;
  }
}

TEST(AutoencoderTraining, LearnsDiscs) {
  const AutoencoderOptions options{.size = 16, .channels = 1, .latent = 4};
  const AutoencoderFit fit =
      train_autoencoder(discs(256, 16, 1), discs(64, 16, 1, 1000), options,
                        {.epochs = 12, .batch_size = 32}, {}, network_of(options));
  ASSERT_EQ(fit.epochs.size(), 12U);
  EXPECT_FALSE(fit.interrupted);
  const AutoencoderEpoch& last = fit.epochs.back();
  EXPECT_LT(last.held_out_error, 0.2 * fit.epochs.front().held_out_error);
  EXPECT_LT(last.held_out_error, 0.02);
  const Images held_out = discs(64, 16, 1, 1000);
  const Autoencoder& model = fit.autoencoder;
  EXPECT_NEAR(model.errors(held_out).mean(), last.held_out_error, 1e-9);
  // Through bytes and back, nearly the same.
  const Images back = model.decode(model.encode(held_out));
  double error = 0;
  for (std::size_t i = 0; i < back.pixels.size(); ++i) {
    error += std::pow((back.pixels[i] - held_out.pixels[i]) / 127.5, 2);
  }
  EXPECT_NEAR(error / static_cast<double>(back.pixels.size()), last.held_out_error, 1e-3);
}

class AutoencoderCheckpoint : public ScratchTest {
 protected:
  AutoencoderFit train(const AutoencoderRun& run, const AutoencoderTraining& training) const {
    return train_autoencoder(discs(50, 16, 1), discs(7, 16, 1, 500), options_, training, run,
                             network_of(options_));
  }
  const AutoencoderOptions options_{.size = 16, .channels = 1, .latent = 3, .seed = 5};
  const AutoencoderTraining training_{.epochs = 3, .batch_size = 20, .seed = 2};
};

std::vector<float> weights(const AutoencoderFit& fit) {
  return {fit.autoencoder.parameters().begin(), fit.autoencoder.parameters().end()};
}

TEST_F(AutoencoderCheckpoint, GoesOnWithTheSameBitsWhereverItStopped) {
  const AutoencoderFit whole = train({}, training_);
  for (int stop : {0, 1, 3, 4, 8}) {
    int asked = 0;
    const AutoencoderFit part =
        train({.checkpoint = path("a"), .should_stop = [&] { return asked++ == stop; }}, training_);
    EXPECT_TRUE(part.interrupted);
    const AutoencoderFit rest = train({.checkpoint = path("a"), .resume = true}, training_);
    EXPECT_FALSE(rest.interrupted);
    EXPECT_EQ(weights(rest), weights(whole)) << stop;
    ASSERT_EQ(rest.epochs.size(), 3U);
    EXPECT_EQ(rest.epochs[1].training_error, whole.epochs[1].training_error);
    EXPECT_EQ(rest.epochs[2].held_out_error, whole.epochs[2].held_out_error);
    // A finished one is taken as it is.
    const AutoencoderFit again = train({.checkpoint = path("a"), .resume = true}, training_);
    EXPECT_EQ(weights(again), weights(whole));
    std::filesystem::remove(path("a"));
  }
}

TEST_F(AutoencoderCheckpoint, ThreadsChangeNoBit) {
  EXPECT_EQ(weights(train({.threads = 1}, training_)), weights(train({.threads = 3}, training_)));
}

TEST_F(AutoencoderCheckpoint, OfAnotherRunIsRefused) {
  static_cast<void>(train({.checkpoint = path("a")}, training_));
  AutoencoderTraining other = training_;
  other.epochs = 4;
  const auto resume = [&](const std::filesystem::path& p) {
    static_cast<void>(train({.checkpoint = p, .resume = true}, other));
  };
  EXPECT_THAT(problem_of(path("a"), resume), HasSubstr("other epochs"));
  file("b", "rubbish");
  EXPECT_THROW(resume(path("b")), InputError);
  std::string bytes = bytes_of(path("a"));
  bytes[bytes.size() - 5] ^= 1;
  other = training_;
  EXPECT_THROW(resume(file("c", bytes)), InputError);
}

TEST_F(AutoencoderCheckpoint, WeightsOfAnotherNetworkAreRefused) {
  const Autoencoder model(options_, network_of(options_));
  const Autoencoder same(options_, model.arrays(), network_of(options_));
  EXPECT_TRUE(std::ranges::equal(model.parameters(), same.parameters()));
  AutoencoderOptions other = options_;
  other.latent = 4;
  EXPECT_THROW(Autoencoder(other, model.arrays(), network_of(other)), std::invalid_argument);
  storage::Arrays more = model.arrays();
  more["x"] = more.begin()->second;
  EXPECT_THROW(Autoencoder(options_, more, network_of(options_)), std::invalid_argument);
}

TEST(AutoencoderTraining, SeesFewPicturesMoreOften) {
  EXPECT_EQ(default_epochs(9000, 128), 20);
  EXPECT_EQ(default_epochs(200'000, 128), 20);
  for (const std::size_t pictures : {1, 20, 128, 129, 540, 1000, 3000}) {
    const std::size_t steps_of_epoch = (pictures + 127) / 128;
    const auto steps = static_cast<std::size_t>(default_epochs(pictures, 128)) * steps_of_epoch;
    EXPECT_GE(steps, 600U) << pictures;
    EXPECT_LT(steps, 600U + steps_of_epoch) << pictures;
  }
}

TEST(AutoencoderOptions, AreChecked) {
  for (const std::size_t size : {0, 4, 48, 512}) {
    EXPECT_THROW(AutoencoderOptions{.size = size}.validate(), std::invalid_argument) << size;
  }
  EXPECT_THROW(AutoencoderOptions{.channels = 2}.validate(), std::invalid_argument);
  EXPECT_THROW(AutoencoderOptions{.latent = 0}.validate(), std::invalid_argument);
  EXPECT_THROW(AutoencoderTraining{.epochs = 0}.validate(), std::invalid_argument);
  EXPECT_THROW(AutoencoderTraining{.learning_rate = -1}.validate(), std::invalid_argument);
}

}  // namespace
}  // namespace jeffreys::testing

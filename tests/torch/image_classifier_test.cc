// The classifier whose features serve for a distance: on pictures that the test makes, and, where
// JEFFREYS_DATA names a folder that holds images/, on MNIST.
#include "jeffreys/torch/image_classifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "jeffreys/base/random_purpose.h"
#include "jeffreys/storage/npz.h"
#include "jeffreys/storage/safetensors.h"
#include "kernels/random.h"
#include "support/mistake_of.h"
#include "support/scratch_folder.h"

namespace jeffreys {
namespace {

using ::testing::HasSubstr;
using testing::mistake_of;

struct Labelled {
  ImageBatch shape;
  std::vector<std::uint8_t> pixels;
  std::vector<std::int64_t> labels;

  [[nodiscard]] ImageBatch batch() const {
    return {shape.count, shape.height, shape.width, shape.channels, pixels};
  }
};

// Noise with a bright bar: upright, level, or none; its place is random.
Labelled bars(std::size_t count, std::uint64_t seed, std::size_t channels = 1) {
  constexpr std::size_t kHeight = 12;
  constexpr std::size_t kWidth = 10;
  const std::size_t one = kHeight * kWidth * channels;
  std::vector<float> noise(count * (one + 1));
  kernels::fill_uniforms(
      kernels::RandomArguments<float>{{seed, kFirstFree, 0}, 0, count, one + 1, noise.data()});
  Labelled made{.shape = {count, kHeight, kWidth, channels, {}}, .pixels = {}, .labels = {}};
  for (std::size_t i = 0; i < count; ++i) {
    const std::span<const float> row(noise.data() + i * (one + 1), one + 1);
    const auto place = static_cast<std::size_t>(row[one] * 10);
    const std::size_t label = i % 3;
    for (std::size_t p = 0; p < one; ++p) {
      const std::size_t y = p / channels / kWidth;
      const std::size_t x = p / channels % kWidth;
      const bool on = (label == 0 && x == place) || (label == 1 && y == place);
      made.pixels.push_back(static_cast<std::uint8_t>((on ? 100 : 0) + 150 * row[p]));
    }
    made.labels.push_back(static_cast<std::int64_t>(label));
  }
  return made;
}

constexpr ClassifierOptions kQuick{.epochs = 4, .batch_size = 32, .learning_rate = 3e-3, .seed = 1};

ImageClassifier quick(const Labelled& data) {
  return ImageClassifier::train(data.batch(), data.labels, kQuick);
}

// relu(w * x + b) at one place of a 3 x 3 convolution with zeros around; x: [channels, h, w].
std::vector<double> by_hand(const std::vector<double>& x, std::size_t channels, std::size_t height,
                            std::size_t width, const std::vector<double>& weight,
                            const std::vector<double>& bias) {
  std::vector<double> pooled;
  for (std::size_t out = 0; out < bias.size(); ++out) {
    const auto value = [&](std::size_t top, std::size_t left) {
      double sum = bias[out];
      for (std::size_t c = 0; c < channels; ++c) {
        for (std::size_t k = 0; k < 9; ++k) {
          const std::size_t y = top + k / 3;  // one more than the place
          const std::size_t z = left + k % 3;
          if (y < 1 || y > height || z < 1 || z > width) continue;
          sum += weight[(out * channels + c) * 9 + k] * x[(c * height + y - 1) * width + z - 1];
        }
      }
      return std::max(sum, 0.0);
    };
    for (std::size_t top = 0; top + 1 < height; top += 2) {
      for (std::size_t left = 0; left + 1 < width; left += 2) {
        pooled.push_back(std::max({value(top, left), value(top, left + 1), value(top + 1, left),
                                   value(top + 1, left + 1)}));
      }
    }
  }
  return pooled;
}

std::vector<double> dense_by_hand(const std::vector<double>& x, const std::vector<double>& weight,
                                  std::vector<double> sums) {
  for (std::size_t i = 0; i < sums.size(); ++i) {
    for (std::size_t j = 0; j < x.size(); ++j) sums[i] += weight[i * x.size() + j] * x[j];
  }
  return sums;
}

class ImageClassifierFile : public testing::ScratchTest {};

TEST_F(ImageClassifierFile, ComputesWhatItsWeightsSay) {
  const Labelled data = bars(96, 1, 3);
  const ImageClassifier classifier = quick(data);
  classifier.save(path("classifier"));
  const storage::TensorFile file = storage::read_safetensors(path("classifier"));
  const auto part = [&](const char* name) { return file.tensors.at(name).values<double>(); };
  std::vector<double> x(std::size_t{3} * 120);  // picture 7, channels first
  for (std::size_t p = 0; p < 360; ++p) {
    x[p % 3 * 120 + p / 3] = data.pixels[7 * 360 + p] / 127.5 - 1;
  }
  const std::vector<double> half = by_hand(x, 3, 12, 10, part("first.weight"), part("first.bias"));
  const std::vector<double> quarter =
      by_hand(half, 16, 6, 5, part("second.weight"), part("second.bias"));
  std::vector<double> features =
      dense_by_hand(quarter, part("features.weight"), part("features.bias"));
  for (double& value : features) value = std::max(value, 0.0);
  const std::vector<double> scores =
      dense_by_hand(features, part("classes.weight"), part("classes.bias"));
  double sum = 0;
  for (const double score : scores) sum += std::exp(score);

  const Matrix<double> found = classifier.features(data.batch());
  const Matrix<double> probabilities = classifier.probabilities(data.batch());
  ASSERT_EQ(found.rows(), 96);
  ASSERT_EQ(found.cols(), ImageClassifier::kFeatures);
  for (Eigen::Index i = 0; i < found.cols(); ++i) {
    EXPECT_NEAR(found(7, i), features[static_cast<std::size_t>(i)], 1e-4);
  }
  for (Eigen::Index i = 0; i < 3; ++i) {
    EXPECT_NEAR(probabilities(7, i), std::exp(scores[static_cast<std::size_t>(i)]) / sum, 1e-4);
  }
}

// Ten pixels of a bar are each brighter by more than two deviations of the noise, so hardly any
// picture is ambiguous; four epochs are too short to see that.
TEST(ImageClassifier, LearnsBars) {
  const Labelled training = bars(600, 2);
  ClassifierOptions longer = kQuick;
  longer.epochs = 12;
  std::vector<ClassifierEpoch> epochs;
  const ImageClassifier classifier =
      ImageClassifier::train(training.batch(), training.labels, longer,
                             [&](const ClassifierEpoch& epoch) { epochs.push_back(epoch); });
  const Labelled fresh = bars(300, 3);
  EXPECT_GT(classifier.accuracy(fresh.batch(), fresh.labels), 0.95);  // chance: 1/3, se 0.03
  ASSERT_EQ(epochs.size(), 12);
  EXPECT_EQ(epochs.back().epoch, 12);
  EXPECT_LT(epochs.back().loss, epochs.front().loss);
  EXPECT_GT(epochs.back().accuracy, 0.9);
}

TEST(ImageClassifier, FollowsItsSeed) {
  const Labelled data = bars(100, 4);
  const Matrix<double> once = quick(data).features(data.batch());
  EXPECT_EQ(once, quick(data).features(data.batch()));
  ClassifierOptions other = kQuick;
  other.seed = 2;
  EXPECT_NE(once, ImageClassifier::train(data.batch(), data.labels, other).features(data.batch()));
}

// More pictures than are scored at once.
TEST_F(ImageClassifierFile, ComesBackFromAFile) {
  const Labelled data = bars(60, 5);
  const ImageClassifier classifier = quick(data);
  classifier.save(path("classifier"));
  const Labelled many = bars(1203, 6);
  const ImageClassifier loaded = ImageClassifier::load(path("classifier"));
  EXPECT_EQ(loaded.features(many.batch()), classifier.features(many.batch()));
  const Matrix<double> last = loaded.features(many.batch().part(1202, 1));
  EXPECT_TRUE(last.row(0).isApprox(loaded.features(many.batch()).row(1202), 1e-5));
}

TEST_F(ImageClassifierFile, RefusesOtherFiles) {
  const Labelled data = bars(30, 7);
  quick(data).save(path("good"));
  const auto problem = [&](const char* name) {
    return testing::problem_of(
        path(name), [](const std::filesystem::path& file) { (void)ImageClassifier::load(file); });
  };
  storage::TensorFile file = storage::read_safetensors(path("good"));
  file.metadata["height"] = "16";
  storage::write_safetensors(path("taller"), file);
  EXPECT_THAT(problem("taller"), HasSubstr("tensor 'features.weight' has another shape"));
  file.metadata["height"] = "-3";
  storage::write_safetensors(path("negative"), file);
  EXPECT_THAT(problem("negative"), HasSubstr("'height' is no number"));
  file.metadata["height"] = "12";
  file.tensors.erase("second.bias");
  storage::write_safetensors(path("less"), file);
  EXPECT_THAT(problem("less"), HasSubstr("tensor 'second.bias' is missing"));
  file.metadata.clear();
  storage::write_safetensors(path("other"), file);
  EXPECT_THAT(problem("other"), HasSubstr("not an image classifier"));
}

TEST(ImageClassifier, RefusesWhatDoesNotFit) {
  const Labelled data = bars(30, 8);
  const auto train = [&](const ImageBatch& images, std::vector<std::int64_t> labels,
                         const ClassifierOptions& options) {
    return mistake_of([&] { (void)ImageClassifier::train(images, labels, options); });
  };
  EXPECT_THAT(train(data.batch(), {0, 1}, kQuick),
              HasSubstr("labels: expected 30 elements, got 2"));
  std::vector<std::int64_t> labels = data.labels;
  labels[3] = -1;
  EXPECT_THAT(train(data.batch(), labels, kQuick),
              HasSubstr("labels: expected at least 0, got -1"));
  EXPECT_THAT(train({10, 3, 4, 3, std::span(data.pixels).first(360)}, {}, kQuick),
              HasSubstr("height: expected at least 4, got 3"));
  EXPECT_THAT(train(data.batch(), data.labels, {.epochs = 0}), HasSubstr("epochs"));
  EXPECT_THAT(train(data.batch(), data.labels, {.learning_rate = 0}), HasSubstr("learning_rate"));
  const ImageClassifier classifier = quick(data);
  EXPECT_THAT(mistake_of([&] {
                (void)classifier.features({10, 12, 30, 1, data.pixels});
              }),
              HasSubstr("images: expected 12 x 10 pixels with 1 channels, got 12 x 30 with 1"));
}

// 1,000 digits, 500 others: the standard error of the accuracy is 0.012.
TEST(ImageClassifier, LearnsDigits) {
  const char* folder = std::getenv("JEFFREYS_DATA");
  const std::filesystem::path file =
      std::filesystem::path(folder != nullptr ? folder : "") / "images" / "mnist_20k.npz";
  if (folder == nullptr || !std::filesystem::exists(file)) {
    GTEST_SKIP() << "set JEFFREYS_DATA to a folder that holds images/ to run this test";
  }
  const storage::Arrays arrays = storage::read_npz(file);
  const auto first = [&](const std::string& part, std::size_t count) {
    Labelled data{.shape = {count, 28, 28, 1, {}},
                  .pixels = arrays.at(part + "_images").values<std::uint8_t>(),
                  .labels = arrays.at(part + "_labels").values<std::int64_t>()};
    data.pixels.resize(count * 28 * 28);
    data.labels.resize(count);
    return data;
  };
  const Labelled training = first("train", 1000);
  const Labelled test = first("test", 500);
  const ImageClassifier classifier =
      ImageClassifier::train(training.batch(), training.labels, {.epochs = 5});
  EXPECT_GT(classifier.accuracy(test.batch(), test.labels), 0.85);
}

}  // namespace
}  // namespace jeffreys

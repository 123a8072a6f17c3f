// The paper's pictures, and few of them, as a researcher runs them, on pictures made here.
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "cli/program.h"
#include "cli/tables.h"
#include "jeffreys/image/image_file.h"
#include "jeffreys/storage/npz.h"

namespace jeffreys::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// A head with eyes, or something like it, on ground of another colour.
Images face(double t) {
  constexpr std::size_t kSide = 64;
  Images image = make_images(1, kSide, kSide, 3);
  const auto near = [](double x, double y, double radius) {
    return 1 / (1 + std::exp(0.6 * (std::hypot(x, y) - radius)));
  };
  for (std::size_t i = 0; i < kSide * kSide; ++i) {
    const double x = static_cast<double>(i % kSide) - 32 - 6 * std::sin(t);
    const double y = static_cast<double>(i / kSide) - 32 - 4 * std::cos(1.7 * t);
    const double head = near(x, 0.8 * y, 18 + 4 * std::sin(2.3 * t));
    const double eyes = near(std::abs(x) - 7, y + 4, 3);
    for (std::size_t c = 0; c < 3; ++c) {
      const double ground = 60 + 50 * std::sin(t + static_cast<double>(c));
      image.pixels[3 * i + c] =
          static_cast<std::uint8_t>(ground + (200 - ground) * head - 90 * head * eyes);
    }
  }
  return image;
}

class ReproduceImages : public ProgramTest {
 protected:
  void SetUp() override {
    const std::filesystem::path beside =
        std::filesystem::path(JEFFREYS_PROGRAM).parent_path() / "libjeffreys_images.so";
    if (!std::filesystem::exists(beside)) GTEST_SKIP() << "built without libtorch";
    ::setenv("JEFFREYS_DATA", "data", 1);
    std::filesystem::create_directories(path("data/images/celeba"));
    for (int i = 0; i < 200; ++i) {
      write_png(path(fmt::format("data/images/celeba/{:03}.png", i)), face(i));
    }
  }

  void TearDown() override { ::unsetenv("JEFFREYS_DATA"); }

  // Stripes of ten kinds, 28 x 28, sorted by kind as some sets are.
  void make_digits(const std::string& file, const std::string& images,
                   const std::string& labels) const {
    constexpr std::size_t kCount = 320, kSide = 28;
    std::vector<std::uint8_t> pixels;
    std::vector<std::int64_t> kinds;
    for (std::size_t i = 0; i < kCount; ++i) {
      const std::size_t kind = i * 10 / kCount;
      kinds.push_back(static_cast<std::int64_t>(kind));
      for (std::size_t p = 0; p < kSide * kSide; ++p) {
        const double phase = 0.2 * static_cast<double>(kind + 1) * static_cast<double>(p % kSide) +
                             0.3 * static_cast<double>(i);
        pixels.push_back(static_cast<std::uint8_t>(120 + 100 * std::sin(phase)));
      }
    }
    storage::write_npz(
        path("data/images/" + file),
        {{images, storage::Array::from<std::uint8_t>({kCount, kSide, kSide}, pixels)},
         {labels, storage::Array::from<std::int64_t>({kCount}, kinds)}});
  }

  static Arguments reproduce(const Arguments& more) {
    return Arguments{"reproduce", "celeba", "--scale", "0.01"} + more;
  }
  // The cheapest run, with every stage.
  static Arguments one(const std::string& output, const Arguments& more = {}) {
    return reproduce({"--only", "celeba/flow/seed-0", "--no-figures", "-o", output}) + more;
  }
};

TEST_F(ReproduceImages, FromAFolderToAPageAndSheets) {
  make_digits("mnist_20k.npz", "train_images", "train_labels");
  make_digits("fashion_mnist_5k.npz", "images", "labels");
  Process process({"reproduce", "celeba", "few-images", "--scale", "0.01", "-o", "out"},
                  {.folder = folder()});
  const Outcome outcome = process.wait(4 * Process::kLimit);
  ASSERT_EQ(outcome.exit_code, kDone) << ::testing::PrintToString(outcome);
  EXPECT_THAT(outcome.out, HasSubstr("24 done"));
  const std::string page = bytes("out/index.html");
  EXPECT_THAT(page, AllOf(HasSubstr("A short run"), HasSubstr("in a second encoder"),
                          HasSubstr("our classifier"), HasSubstr("two halves of the held-out"),
                          HasSubstr("effective sample size"), Not(HasSubstr("48.07"))));
  const auto run = nlohmann::json::parse(bytes("out/celeba/celeba/stable/seed-0.json"));
  for (const char* column :
       {"main.test_nll", "proxy.test_nll", "proxy.log_zeta", "proxy.log_zeta_lower",
        "main.distance_encoder", "main.distance_second_encoder"}) {
    ASSERT_TRUE(run["curve"].contains(column)) << column;
    EXPECT_TRUE(run["curve"][column].back().is_number()) << column;
  }
  const auto digits =
      nlohmann::json::parse(bytes("out/few-images/mnist-500/ours-energy/seed-0.json"));
  EXPECT_TRUE(digits["curve"]["main.distance_classifier"].back().is_number());
  EXPECT_TRUE(digits["last"]["halves.distance_classifier"].is_number());
  for (const char* sheet :
       {"celeba/pictures/celeba-flow-samples.png", "celeba/pictures/celeba-stable-samples.png",
        "celeba/pictures/celeba-stable-nearest.png",
        "celeba/pictures/celeba-stable-interpolations.png",
        "celeba/pictures/celeba-reconstructions.png",
        "few-images/pictures/mnist-500-ours-flow-samples.png"}) {
    EXPECT_TRUE(exists("out/" + std::string(sheet))) << sheet;
  }
  // What the page shows are curves and tables, without any picture.
  EXPECT_THAT(page, Not(HasSubstr("<img")));
}

TEST_F(ReproduceImages, KilledAtAnyStageItEndsInTheSameBytes) {
  const Arguments often{"--checkpoint-seconds", "0.001"};
  good(one("whole", often));
  const std::string result = "/celeba/celeba/flow/seed-0.json";
  ASSERT_TRUE(exists("whole" + result));
  // The first autoencoder, the second one, and the density.
  for (const char* left : {"networks/celeba.safetensors", "networks/celeba-judge.safetensors",
                           "celeba/flow/seed-0.checkpoint"}) {
    std::filesystem::remove_all(path("killed"));
    const bool hard = !std::string(left).ends_with("judge.safetensors");
    interrupted(one("killed", often), hard ? SIGKILL : SIGTERM,
                "killed/celeba/" + std::string(left));
    EXPECT_FALSE(exists("killed" + result)) << left;
    good(one("killed", often));
    EXPECT_TRUE(bytes("killed" + result) == bytes("whole" + result)) << left;
  }
}

TEST_F(ReproduceImages, RefusesNetworksOfOtherPictures) {
  good(one("out"));
  std::filesystem::remove(path("out/celeba/celeba/flow/seed-0.json"));
  write_png(path("data/images/celeba/000.png"), face(1000));
  const Outcome outcome = run(one("out"));
  EXPECT_EQ(outcome.exit_code, kFailed);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("networks/celeba.safetensors"), HasSubstr("pictures"),
                                 HasSubstr("delete it")));
  file("out/celeba/networks/celeba.safetensors", "something else");
  EXPECT_THAT(run(one("out")).err, HasSubstr("networks/celeba.safetensors"));
}

TEST_F(ReproduceImages, SaysWhatIsMissing) {
  const Outcome nowhere = run(reproduce({"--only", "celeba/flow/", "-o", "out", "--data", "none"}));
  EXPECT_EQ(nowhere.exit_code, kBadInput);
  EXPECT_THAT(nowhere.err, AllOf(HasSubstr("none/images/celeba64_train10k.npz"),
                                 HasSubstr("img_align_celeba.zip"), HasSubstr("JEFFREYS_DATA")));
  std::filesystem::create_directories(path("few/images/celeba"));
  EXPECT_THAT(run(one("a", {"--data", "few"})).err, HasSubstr("holds no files"));
  for (int i = 0; i < 20; ++i) {
    write_png(path(fmt::format("few/images/celeba/{:03}.png", i)), face(i));
  }
  file("few/images/celeba/notes.txt", "hello");
  const Outcome few = run(one("b", {"--data", "few"}));
  EXPECT_EQ(few.exit_code, kFailed);
  EXPECT_THAT(few.err, AllOf(HasSubstr("few/images/celeba: expected at least 100 pictures, got 20"),
                             HasSubstr("notes.txt")));
  ::setenv("JEFFREYS_MODULES", "/nowhere", 1);
  const Outcome without = run(one("c"));
  ::unsetenv("JEFFREYS_MODULES");
  EXPECT_EQ(without.exit_code, kDone) << ::testing::PrintToString(without);
  EXPECT_THAT(without.err, HasSubstr("libtorch-dev"));
}

TEST_F(ReproduceImages, AFullDiskFailsTheRunAndLeavesNoHalfFile) {
  Process process(one("out"), {.folder = folder(), .largest_file = 200'000});
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.exit_code, kFailed) << ::testing::PrintToString(outcome);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("celeba.safetensors"), HasSubstr("free some space")));
  EXPECT_FALSE(exists("out/celeba/networks/celeba.safetensors"));
  good(one("out"));
}

}  // namespace
}  // namespace jeffreys::testing

// Pictures: fit, sample, score, interruptions, and what is refused.
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "cli/program.h"
#include "jeffreys/image/image_file.h"

namespace jeffreys::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// A bright disc on dark ground.
Images disc(double t, std::size_t channels) {
  constexpr std::size_t kSide = 16;
  Images image = make_images(1, kSide, kSide, channels);
  const double cx = 8 + 4 * std::sin(t), cy = 8 + 4 * std::cos(1.7 * t);
  for (std::size_t i = 0; i < kSide * kSide; ++i) {
    const double r =
        std::hypot(static_cast<double>(i % kSide) - cx, static_cast<double>(i / kSide) - cy);
    for (std::size_t c = 0; c < channels; ++c) {
      image.pixels[i * channels + c] =
          static_cast<std::uint8_t>(20 + 200 / (1 + std::exp(2 * (r - 4))));
    }
  }
  return image;
}

class ImagesCommand : public ProgramTest {
 protected:
  void SetUp() override {
    const std::filesystem::path beside =
        std::filesystem::path(JEFFREYS_PROGRAM).parent_path() / "libjeffreys_images.so";
    if (!std::filesystem::exists(beside)) GTEST_SKIP() << "built without libtorch";
    make_folder("pictures", 60);
  }

  void make_folder(const std::string& name, int count, std::size_t channels = 1) const {
    std::filesystem::create_directory(path(name));
    for (int i = 0; i < count; ++i) {
      write_png(path(fmt::format("{}/{:03}.png", name, i)), disc(i, channels));
    }
  }

  static Arguments fit_pictures(const std::string& model, const Arguments& more = {}) {
    return Arguments{"images", "fit",      "pictures", "-o",       model, "--size",
                     "16",     "--latent", "3",        "--epochs", "6"} +
           tiny() + more;
  }
};

TEST_F(ImagesCommand, FromAFolderToSheetsAndScores) {
  file("pictures/notes.txt", "hello");
  const Outcome fitted = good(fit_pictures("p.model"));
  EXPECT_THAT(fitted.err, AllOf(HasSubstr("1 of 61 files could not be used"),
                                HasSubstr("notes.txt"), HasSubstr("54 pictures of 16 x 16"),
                                HasSubstr("on 6 pictures that neither has seen")));
  EXPECT_FALSE(exists("p.model.autoencoder.checkpoint"));
  const auto record = nlohmann::json::parse(bytes("p.model.run.json"));
  EXPECT_EQ(record["images"]["latent"], 3);
  EXPECT_EQ(record["images"]["epochs"].size(), 6U);
  EXPECT_EQ(record["images"]["refused"][0]["name"], "notes.txt");

  good({"images", "sample", "p.model", "-n", "10", "--columns", "5", "-o", "grid.png"});
  const std::string grid = bytes("grid.png");
  const Images sheet = decode_image(std::as_bytes(std::span(grid)));
  EXPECT_EQ(sheet.width, 2U + 5 * (16 * 4 + 2));
  EXPECT_EQ(sheet.height, 2U + 2 * (16 * 4 + 2));
  good({"images", "sample", "p.model", "-n", "10", "--columns", "5", "-o", "again.png"});
  EXPECT_TRUE(bytes("again.png") == grid);
  good({"images", "sample", "p.model", "-n", "10", "--columns", "5", "--seed", "1", "-o", "b.png"});
  EXPECT_FALSE(bytes("b.png") == grid);

  // Something else among them comes first.
  make_folder("new", 5);
  Images stripes = make_images(1, 16, 16, 1);
  for (std::size_t i = 0; i < 256; ++i) {
    stripes.pixels[i] = static_cast<std::uint8_t>(i / 16 % 2 == 0 ? 255 : 0);
  }
  write_png(path("new/zebra.png"), stripes);
  good({"images", "score", "p.model", "new", "--sheet", "sheet.png", "--top", "4", "-o", "s.csv"});
  const std::string scores = bytes("s.csv");
  EXPECT_THAT(scores, ::testing::StartsWith("picture,p_value,log_prob,p_log_prob,error,p_error\n"
                                            "zebra.png,"));
  EXPECT_TRUE(exists("sheet.png"));
  const Outcome one = good({"images", "score", "p.model", "new/000.png", "--json"});
  EXPECT_EQ(one.json()["picture"][0], "000.png");
  // It is a density over the numbers too.
  EXPECT_THAT(good({"sample", "p.model", "-n", "2"}).out, ::testing::StartsWith("z1,z2,z3\n"));
}

TEST_F(ImagesCommand, InterruptedAtAnyStageEndsAsIfNothingHadHappened) {
  const Arguments often{"--set", "checkpoint.seconds=0", "--set", "iterations=2000",
                        "--set", "validation.patience=0"};
  good(fit_pictures("whole", often));
  for (const char* left : {"m.autoencoder.checkpoint", "m.checkpoint"}) {
    for (const int signal : {SIGINT, SIGKILL}) {
      const Outcome outcome = interrupted(fit_pictures("m", often), signal, left);
      if (signal == SIGINT) {
        EXPECT_EQ(outcome.exit_code, kFailed) << ::testing::PrintToString(outcome);
        EXPECT_THAT(outcome.err, AllOf(HasSubstr("interrupted"), HasSubstr("--resume")));
      }
      EXPECT_FALSE(exists("m"));
      EXPECT_TRUE(exists("m.autoencoder.checkpoint"));
      EXPECT_THAT(refusal(kBadInput, fit_pictures("m", often)), HasSubstr("--resume"));
      good(fit_pictures("m", often + Arguments{"--resume"}));
      EXPECT_TRUE(bytes("m") == bytes("whole")) << left;
      EXPECT_FALSE(exists("m.autoencoder.checkpoint"));
      std::filesystem::remove(path("m"));
      std::filesystem::remove(path("m.run.json"));
    }
  }
}

TEST_F(ImagesCommand, RefusesWhatMakesNoSense) {
  std::filesystem::create_directory(path("empty"));
  EXPECT_THAT(refusal(kBadInput, {"images", "fit", "empty"}), HasSubstr("holds no files"));
  EXPECT_THAT(refusal(kBadInput, {"images", "fit", "nowhere"}), HasSubstr("no such file"));
  make_folder("few", 12);
  EXPECT_THAT(refusal(kUsage, {"images", "fit", "few", "--size", "16"}),
              HasSubstr("at least 20 pictures, got 12"));
  EXPECT_THAT(refusal(kBadInput, {"images", "fit", "pictures", "--size", "64"}),
              HasSubstr("16 x 16 pixels, too small for 64 x 64"));
  EXPECT_THAT(refusal(kUsage, {"images", "fit", "pictures", "--size", "48"}), HasSubstr("48"));
  EXPECT_THAT(refusal(kUsage, {"images"}), HasSubstr("--help"));
  file("t.csv", "a,b\n1,2\n2,3\n3,5\n4,4\n5,7\n6,6\n7,9\n8,8\n9,1\n10,2\n11,5\n12,3\n");
  fit("t.csv", "t.model");
  EXPECT_THAT(refusal(kBadInput, {"images", "sample", "t.model", "-o", "a.png"}),
              HasSubstr("without an autoencoder"));
  EXPECT_THAT(refusal(kUsage, {"images", "sample", "t.model", "-o", "a.jpg"}), HasSubstr(".png"));
}

TEST_F(ImagesCommand, SaysWhatToInstallWithoutLibtorch) {
  good(fit_pictures("p.model"));
  ::setenv("JEFFREYS_MODULES", "/nowhere", 1);
  for (const Arguments& arguments :
       {fit_pictures("q.model"), Arguments{"images", "sample", "p.model", "-o", "a.png"},
        Arguments{"images", "score", "p.model", "pictures"}}) {
    EXPECT_THAT(refusal(kFailed, arguments), HasSubstr("install libtorch-dev"));
  }
  ::unsetenv("JEFFREYS_MODULES");
}

TEST_F(ImagesCommand, LeavesNoModelOnAFullDisk) {
  Process process(fit_pictures("p.model"), {.folder = folder(), .largest_file = 200'000});
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.exit_code, kFailed) << ::testing::PrintToString(outcome);
  EXPECT_FALSE(exists("p.model"));
}

}  // namespace
}  // namespace jeffreys::testing

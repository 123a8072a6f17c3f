// Folders and archives of pictures.
#include <gmock/gmock.h>

#include "image/made_images.h"
#include "jeffreys/image/image_file.h"
#include "jeffreys/image/image_set.h"
#include "jeffreys/storage/npy.h"
#include "jeffreys/storage/npz.h"
#include "support/scratch_folder.h"

namespace jeffreys::testing {
namespace {

using storage::Array;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Folder : public ScratchTest {
 protected:
  std::string problem(const ImageSetOptions& options = {}) const {
    return problem_of(path(""), [&](const auto& p) { static_cast<void>(read_images(p, options)); });
  }
};

TEST_F(Folder, IsReadInTheOrderOfNames) {
  std::filesystem::create_directory(path("more"));
  std::filesystem::create_directory(path(".hidden"));
  file("b.png", encode_png(pattern(64, 64, 3)));
  file("a.jpg", make_jpeg(waves(64, 64)));
  file("more/c", encode_png(waves(64, 64)));
  file(".hidden/d.png", encode_png(waves(64, 64)));
  file(".e.png", encode_png(waves(64, 64)));
  const ImageSet set = read_images(path(""));
  EXPECT_THAT(set.names, ElementsAre("a.jpg", "b.png", "more/c"));
  EXPECT_EQ(set.images.count, 3U);
  EXPECT_EQ(set.images.height, 64U);
  EXPECT_EQ(set.images.channels, 3U);
  const std::size_t second[] = {1};
  EXPECT_EQ(take_images(set.images, second), pattern(64, 64, 3));
  EXPECT_EQ(set.refusals(), "");
  EXPECT_EQ(read_images(path(""), {.threads = 3}).images, set.images);
}

TEST_F(Folder, NamesAndCountsWhatIsNoPicture) {
  file("good.png", encode_png(pattern(70, 80, 3)));
  file("notes.txt", "hello");
  file("empty.png", "");
  file("small.png", encode_png(pattern(55, 200)));
  const std::string jpeg = make_jpeg(pattern(64, 64, 3));
  file("short.jpg", jpeg.substr(0, jpeg.size() / 2));
  const ImageSet set = read_images(path(""), {.size = 64});
  EXPECT_THAT(set.names, ElementsAre("good.png"));
  ASSERT_EQ(set.refused.size(), 4U);
  const std::string text = set.refusals();
  EXPECT_THAT(text, HasSubstr("4 of 5 files could not be used"));
  EXPECT_THAT(text, HasSubstr("notes.txt"));
  EXPECT_THAT(text, HasSubstr("neither JPEG nor PNG"));
  EXPECT_THAT(text, HasSubstr("55 x 200 pixels, too small for 64 x 64"));
  EXPECT_THAT(text, HasSubstr("ends early"));
  EXPECT_THAT(set.refusals(2), HasSubstr(", ..."));
}

TEST_F(Folder, OfGreyPicturesIsGreyAndOfSomeColour) {
  file("a.png", encode_png(pattern(64, 64)));
  EXPECT_EQ(read_images(path("")).images, pattern(64, 64));
  EXPECT_EQ(read_images(path(""), {.channels = 3}).images, with_channels(pattern(64, 64), 3));
  file("b.png", encode_png(pattern(64, 64, 3)));
  const Images both = read_images(path("")).images;
  EXPECT_EQ(both.channels, 3U);
  const std::size_t first[] = {0};
  EXPECT_EQ(take_images(both, first), with_channels(pattern(64, 64), 3));
}

TEST_F(Folder, IsCutToSquares) {
  file("wide.png", encode_png(pattern(200, 100, 3)));
  EXPECT_EQ(read_images(path("")).images,
            resize(crop(pattern(200, 100, 3), 50, 0, 100, 100), 64, 64));
}

// As the project's copy of CelebA was made: left 15, top 35.
TEST_F(Folder, OfAlignedFacesIsCutAsUsual) {
  file("000001.png", encode_png(pattern(178, 218, 3)));
  EXPECT_EQ(read_images(path("")).images,
            resize(crop(pattern(178, 218, 3), 15, 35, 148, 148), 64, 64));
}

TEST_F(Folder, OfSmallPicturesIsPadded) {
  file("digit.png", encode_png(pattern(28, 28)));
  EXPECT_EQ(read_images(path("")).images, pad(pattern(28, 28), 32, 32));
  EXPECT_THAT(problem({.size = 64}), HasSubstr("28 x 28 pixels, too small for 64 x 64"));
}

TEST_F(Folder, WithoutPicturesIsRefused) {
  EXPECT_THAT(problem(), HasSubstr("holds no files"));
  file("a.txt", "a");
  EXPECT_THAT(problem(), HasSubstr("no picture that can be used; 1 of 1 files"));
  EXPECT_THROW(static_cast<void>(read_images(path("no"))), InputError);
  EXPECT_THROW(static_cast<void>(read_images(path(""), {.channels = 2})), std::invalid_argument);
}

TEST_F(Folder, CanBeAFileAndCanBeStopped) {
  file("a.png", encode_png(pattern(64, 64)));
  EXPECT_EQ(read_images(path("a.png")).images, pattern(64, 64));
  EXPECT_THROW(static_cast<void>(read_images(path(""), {.should_stop = [] { return true; }})),
               Interrupted);
  std::size_t done = 0;
  static_cast<void>(read_images(
      path(""), {.progress = [&](std::size_t now, std::size_t all) { done = now + all; }}));
  EXPECT_EQ(done, 2U);
}

class Archive : public ScratchTest {};

TEST_F(Archive, OfJpegFiles) {
  const std::string one = make_jpeg(waves(64, 64)), two = make_jpeg(pattern(64, 64, 3));
  const std::string all = one + two + "junk";
  const std::vector<std::uint8_t> bytes(all.begin(), all.end());
  const std::int64_t n = static_cast<std::int64_t>(one.size());
  const std::int64_t end = static_cast<std::int64_t>(one.size() + two.size());
  const std::vector<std::int64_t> offset = {0, n, end, static_cast<std::int64_t>(all.size())};
  storage::Arrays arrays;
  arrays["jpeg"] = Array::from<std::uint8_t>({static_cast<std::int64_t>(bytes.size())}, bytes);
  arrays["offset"] = Array::from<std::int64_t>({4}, offset);
  storage::write_npz(path("a.npz"), arrays);
  const ImageSet set = read_images(path("a.npz"));
  EXPECT_THAT(set.names, ElementsAre("0", "1"));
  EXPECT_THAT(set.refusals(), HasSubstr("1 of 3"));
  const std::size_t first[] = {0};
  EXPECT_EQ(take_images(set.images, first), decode_image(as_bytes(one)));
  EXPECT_EQ(read_images(path("a.npz"), {.most = 1}).images.count, 1U);

  const std::vector<std::int64_t> wrong = {0, n, n - 1, end};
  arrays["offset"] = Array::from<std::int64_t>({4}, wrong);
  storage::write_npz(path("b.npz"), arrays);
  EXPECT_THAT(problem_of(path("b.npz"), [](const auto& p) { static_cast<void>(read_images(p)); }),
              HasSubstr("offset"));
}

TEST_F(Archive, OfPixels) {
  const Images digits = pattern(28, 56);
  storage::Arrays arrays;
  arrays["train_images"] = Array::from<std::uint8_t>({2, 28, 28}, digits.pixels);
  arrays["labels"] = Array::from<std::uint8_t>({2}, std::vector<std::uint8_t>{1, 2});
  storage::write_npz(path("a.npz"), arrays);
  const ImageSet set = read_images(path("a.npz"));
  EXPECT_EQ(set.images.count, 2U);
  EXPECT_EQ(set.images.width, 32U);
  EXPECT_EQ(set.images.channels, 1U);
  arrays["test_images"] = arrays["train_images"];
  storage::write_npz(path("b.npz"), arrays);
  const auto read = [](const auto& p) { static_cast<void>(read_images(p)); };
  EXPECT_THAT(problem_of(path("b.npz"), read), HasSubstr("test_images or train_images"));
  EXPECT_EQ(read_images(path("b.npz"), {.array = "train_images"}).images, set.images);
  EXPECT_THROW(static_cast<void>(read_images(path("b.npz"), {.array = "no"})), InputError);
  storage::write_npy(path("c.npy"), arrays["train_images"]);
  EXPECT_EQ(read_images(path("c.npy")).images, set.images);
  storage::write_npy(path("d.npy"), arrays["labels"]);
  EXPECT_THAT(problem_of(path("d.npy"), read), HasSubstr("unsigned bytes of the shape"));
}

}  // namespace
}  // namespace jeffreys::testing

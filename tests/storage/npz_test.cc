#include "jeffreys/storage/npz.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdlib>
#include <ctime>

#include "jeffreys/storage/npy.h"
#include "storage/largest_allocation.h"
#include "storage/python_archives.h"
#include "storage/zip_image.h"
#include "support/scratch_folder.h"

namespace jeffreys::storage {
namespace {

using jeffreys::testing::bytes_of;
using jeffreys::testing::problem_of;
using jeffreys::testing::raw;
using jeffreys::testing::ScratchTest;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Npz : public ScratchTest {
 protected:
  std::string refusal(std::string_view bytes) const {
    return problem_of(file("a.npz", bytes), [](const auto& name) { read_npz(name); });
  }

  // An .npy image of these values.
  std::string npy(std::vector<double> values) const {
    write_npy(path("a.npy"),
              Array::from<double>({static_cast<std::int64_t>(values.size())}, values));
    return bytes_of(path("a.npy"));
  }
};

template <std::size_t Size>
std::string_view view(const unsigned char (&bytes)[Size]) {
  return {reinterpret_cast<const char*>(bytes), Size};
}

Arrays every_type_and_rank() {
  Arrays arrays;
  for (const Dtype dtype :
       {Dtype::f32, Dtype::f64, Dtype::i32, Dtype::i64, Dtype::u8, Dtype::boolean}) {
    for (const std::vector<std::int64_t>& shape :
         std::vector<std::vector<std::int64_t>>{{}, {7}, {0, 3}, {2, 3}}) {
      Array array{dtype, shape, std::vector<std::byte>(byte_size(dtype, shape))};
      for (std::size_t i = 0; i < array.bytes.size(); ++i) array.bytes[i] = std::byte(i);
      arrays.emplace(fmt::format("{}.{}", dtype_name(dtype), fmt::join(shape, "x")), array);
    }
  }
  return arrays;
}

TEST_F(Npz, EveryTypeAndRankComesBack) {
  const Arrays arrays = every_type_and_rank();
  write_npz(path("a.npz"), arrays);
  EXPECT_EQ(read_npz(path("a.npz")), arrays);
}

TEST_F(Npz, NoArraysAndOddNamesComeBack) {
  write_npz(path("a.npz"), {});
  EXPECT_TRUE(read_npz(path("a.npz")).empty());
  const Array one = Array::from<double>({}, std::vector{1.0});
  const Arrays arrays{{"", one}, {"größe/長さ", one}, {"a b\n'\"", one}, {"x.npy", one}};
  write_npz(path("a.npz"), arrays);
  EXPECT_EQ(read_npz(path("a.npz")), arrays);
}

TEST_F(Npz, LargeArraysComeBack) {
  std::vector<double> values(300'000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0.1 * static_cast<double>(i);
  const Arrays arrays{{"x", Array::from<double>({1000, 300}, values)}};
  write_npz(path("a.npz"), arrays);
  EXPECT_EQ(read_npz(path("a.npz")), arrays);
}

TEST_F(Npz, SameArraysGiveSameBytesInAnyTimeZone) {
  const char* const old_zone = std::getenv("TZ");
  const std::string kept = old_zone == nullptr ? "" : old_zone;
  std::string first;
  for (const char* const zone : {"UTC", "Asia/Tokyo", "EST5EDT"}) {
    ::setenv("TZ", zone, 1);
    ::tzset();
    write_npz(path("a.npz"), every_type_and_rank());
    if (first.empty()) first = bytes_of(path("a.npz"));
    EXPECT_EQ(bytes_of(path("a.npz")), first) << zone;
  }
  old_zone == nullptr ? ::unsetenv("TZ") : ::setenv("TZ", kept.c_str(), 1);
  ::tzset();
}

TEST_F(Npz, ReadsWhatNumPyWrote) {
  const Arrays arrays = read_npz(std::filesystem::path(JEFFREYS_GOLDEN_DIR) / "nsf_2d.npz");
  EXPECT_EQ(arrays.size(), 81u);
  const Array& x = arrays.at("x");
  EXPECT_EQ(x.dtype, Dtype::f64);
  EXPECT_THAT(x.shape, ElementsAre(64, 2));
  EXPECT_NEAR(x.values<double>().back(), -0.50655282, 1e-8);
  const Array& log_prob = arrays.at("log_prob_f32");
  EXPECT_EQ(log_prob.dtype, Dtype::f32);
  EXPECT_THAT(log_prob.shape, ElementsAre(64));
  EXPECT_NEAR(log_prob.values<float>().front(), -15.1739f, 1e-3f);
  const Array& weight = arrays.at("param.transform.transforms.0.hyper.4.weight");
  EXPECT_THAT(weight.shape, ElementsAre(46, 64));
  EXPECT_NEAR(weight.values<float>().at(1), 0.31192583f, 1e-7f);
  const Array& mask = arrays.at("param.transform.transforms.0.hyper.0.mask");
  EXPECT_EQ(mask.dtype, Dtype::u8);
  EXPECT_EQ(mask.values<int>().at(0), 1);
  EXPECT_EQ(mask.values<int>().at(1), 0);
  const Array& order = arrays.at("param.transform.transforms.1.order");
  EXPECT_EQ(order.dtype, Dtype::i64);
  EXPECT_THAT(order.values<std::int64_t>(), ElementsAre(1, 0));
}

TEST_F(Npz, ReadsCompressedArrays) {
  const Arrays arrays = read_npz(file("a.npz", view(kCompressedNpz)));
  ASSERT_EQ(arrays.size(), 3u);
  EXPECT_EQ(arrays.at("zeros").dtype, Dtype::f32);
  EXPECT_THAT(arrays.at("zeros").shape, ElementsAre(4, 8));
  EXPECT_EQ(arrays.at("zeros").values<float>(), std::vector<float>(32, 0.0f));
  EXPECT_TRUE(arrays.at("count").shape.empty());
  EXPECT_THAT(arrays.at("count").values<std::int64_t>(), ElementsAre(7));
  EXPECT_EQ(arrays.at("flags").dtype, Dtype::boolean);
  EXPECT_THAT(arrays.at("flags").values<bool>(), ElementsAre(true, false));
}

TEST_F(Npz, ReadsArchivesWrittenToAPipe) {
  const Arrays arrays = read_npz(file("a.npz", view(kStreamedNpz)));
  EXPECT_THAT(arrays.at("x").values<double>(), ElementsAre(0, 1, 2));
}

TEST_F(Npz, ReadsZip64) {
  ZipEntry entry = stored_entry("x.npy", npy({3, 4}));
  entry.has_zip64_sizes = true;
  const Arrays arrays = read_npz(file("a.npz", zip_image({entry})));
  EXPECT_THAT(arrays.at("x").values<double>(), ElementsAre(3, 4));
}

TEST_F(Npz, RefusesArchivesThatAreNotArrays) {
  const ZipEntry good = stored_entry("x.npy", npy({1}));
  EXPECT_THAT(refusal(zip_image({good, good})), HasSubstr("the name \"x\" occurs twice"));
  EXPECT_THAT(refusal(zip_image({good, stored_entry("notes.txt", "hello")})),
              HasSubstr("entry \"notes.txt\" is not an array"));
  EXPECT_THAT(refusal(zip_image({good, stored_entry("folder/", "")})),
              HasSubstr("entry \"folder/\" is not an array"));
  EXPECT_THAT(refusal(zip_image({stored_entry("y.npy", "hello, world")})),
              HasSubstr("array \"y\": is not a NumPy array"));
  EXPECT_THAT(refusal(zip_image({stored_entry("y.npy", "")})),
              HasSubstr("array \"y\": the array is"));
  EXPECT_THAT(refusal(""), HasSubstr("is empty"));
  EXPECT_THAT(refusal(npy({1})), HasSubstr("cannot be read as an .npz archive"));
  const auto read = [](const auto& name) { read_npz(name); };
  EXPECT_THAT(problem_of(path("none.npz"), read), HasSubstr("No such file"));
  EXPECT_THAT(problem_of(path(""), read), HasSubstr("is a directory"));
}

TEST_F(Npz, NamesTheArrayWhoseTypeIsUnknown) {
  std::string image = npy({1});
  image.replace(image.find("<f8"), 3, ">f8");
  EXPECT_THAT(refusal(zip_image({stored_entry("weights.npy", image)})),
              HasSubstr("array \"weights\": dtype \">f8\" (big-endian)"));
}

TEST_F(Npz, RefusesUnusualEntries) {
  ZipEntry entry = stored_entry("x.npy", npy({1}));
  entry.method = 12;
  EXPECT_THAT(refusal(zip_image({entry})), HasSubstr("compressed in a way NumPy does not use"));
  entry.method = 0;
  entry.flags = 1;
  EXPECT_THAT(refusal(zip_image({entry})), HasSubstr("encrypted"));
}

TEST_F(Npz, RefusesWrongChecksums) {
  ZipEntry entry = stored_entry("x.npy", npy({1, 2}));
  entry.checksum ^= 1;
  EXPECT_THAT(refusal(zip_image({entry})), HasSubstr("CRC error"));
  entry = stored_entry("x.npy", npy({1, 2}));
  entry.stored.back() = '\1';
  EXPECT_THAT(refusal(zip_image({entry})), HasSubstr("CRC error"));
}

// An .npy image whose header promises `count` doubles, without the data.
std::string promise(std::uint64_t count) {
  const std::string dictionary =
      fmt::format("{{'descr': '<f8', 'fortran_order': False, 'shape': ({},), }}\n", count);
  return std::string("\x93NUMPY\x01\x00", 8) + raw(static_cast<std::uint16_t>(dictionary.size())) +
         dictionary;
}

TEST_F(Npz, RefusesLyingSizesBeforeTakingMemory) {
  const std::uint64_t count = 500'000'000;
  const std::string image = promise(count);
  ZipEntry entry = stored_entry("x.npy", image);
  entry.has_zip64_sizes = true;
  take_largest_allocation();

  entry.claimed_size = image.size() + 8 * count;
  EXPECT_THAT(refusal(zip_image({entry})), HasSubstr("which cannot be"));
  entry.claimed_stored_size = entry.claimed_size;
  EXPECT_THAT(refusal(zip_image({entry})), HasSubstr("claims more data than it holds"));
  entry.claimed_size = entry.claimed_stored_size = ~std::uint64_t{0} >> 1;
  EXPECT_THAT(refusal(zip_image({entry, entry})), HasSubstr("claims more data than it holds"));
  entry.claimed_stored_size = image.size();
  entry.method = 8;
  EXPECT_THAT(refusal(zip_image({entry})), HasSubstr("which cannot be"));
  EXPECT_THAT(refusal(zip_image({stored_entry("x.npy", image)})),
              HasSubstr("promises 4000000000 bytes of data, the file holds 0"));
  EXPECT_LT(take_largest_allocation(), 100'000u);
}

TEST_F(Npz, RefusesDeflatedEntriesThatEndEarly) {
  // A deflate stream of one stored block: final, length, its complement, bytes.
  const std::string image = promise(10'000'000);
  ZipEntry entry;
  entry.name = "x.npy";
  entry.method = 8;
  entry.stored = "\x01" + raw(static_cast<std::uint16_t>(image.size())) +
                 raw(static_cast<std::uint16_t>(~image.size())) + image;
  entry.claimed_size = image.size() + 80'000'000;
  entry.claimed_stored_size = entry.stored.size();
  entry.checksum = crc32(image);
  // Padding after the stream's end makes the claim possible.
  entry.stored.resize(100'000);
  entry.claimed_stored_size = entry.stored.size();
  take_largest_allocation();
  refusal(zip_image({entry}));
  EXPECT_LT(take_largest_allocation(), 400'000u);
}

TEST_F(Npz, RefusesOverlappingEntries) {
  // The second directory record points at the first entry's bytes.
  const std::string first = npy(std::vector<double>(1000, 1.0));
  std::string image = zip_image({stored_entry("x.npy", first), stored_entry("y.npy", "")});
  const std::size_t record = image.rfind("PK\x01\x02");
  image.replace(record + 16, 12,
                raw(crc32(first)) + raw(static_cast<std::uint32_t>(first.size())) +
                    raw(static_cast<std::uint32_t>(first.size())));
  image.replace(record + 42, 4, raw(std::uint32_t{0}));
  EXPECT_THAT(refusal(image), HasSubstr("claims more data than it holds"));
}

TEST_F(Npz, UnfitNamesAndArraysAreTheCallersMistake) {
  const Array one = Array::from<double>({}, std::vector{1.0});
  EXPECT_THROW(write_npz(path("a.npz"), {{std::string("a\0b", 3), one}}), std::invalid_argument);
  EXPECT_THROW(write_npz(path("a.npz"), {{"\xff\xfe", one}}), std::invalid_argument);
  EXPECT_THROW(write_npz(path("a.npz"), {{std::string(70'000, 'n'), one}}), std::invalid_argument);
  EXPECT_THROW(write_npz(path("a.npz"), {{"x", Array{Dtype::f64, {2}, {}}}}),
               std::invalid_argument);
  EXPECT_EQ(files_in_folder(), 0u);
}

}  // namespace
}  // namespace jeffreys::storage

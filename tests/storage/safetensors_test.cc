#include "jeffreys/storage/safetensors.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "storage/largest_allocation.h"
#include "support/damaged_files.h"
#include "support/scratch_folder.h"

namespace jeffreys::storage {
namespace {

using jeffreys::testing::bytes_of;
using jeffreys::testing::problem_of;
using jeffreys::testing::raw;
using jeffreys::testing::ScratchTest;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class Safetensors : public ScratchTest {
 protected:
  std::string refusal(std::string_view bytes) const {
    return problem_of(file("a.safetensors", bytes),
                      [](const auto& name) { read_safetensors(name); });
  }
};

std::string image(std::string_view header, std::string_view data = "") {
  return raw(std::uint64_t{header.size()}).append(header).append(data);
}

TEST_F(Safetensors, EveryTypeAndRankComesBack) {
  TensorFile content;
  content.metadata = {{"format", "jeffreys"}, {"größe", "\"quoted\" \n {}"}, {"", ""}};
  for (const Dtype dtype :
       {Dtype::f32, Dtype::f64, Dtype::i32, Dtype::i64, Dtype::u8, Dtype::boolean}) {
    for (const std::vector<std::int64_t>& shape :
         std::vector<std::vector<std::int64_t>>{{}, {7}, {0, 3}, {2, 3}}) {
      Array array{dtype, shape, std::vector<std::byte>(byte_size(dtype, shape))};
      for (std::size_t i = 0; i < array.bytes.size(); ++i) array.bytes[i] = std::byte(i);
      content.tensors.emplace(fmt::format("{} \"{}\"", dtype_name(dtype), fmt::join(shape, "x")),
                              array);
    }
  }
  write_safetensors(path("a"), content);
  EXPECT_EQ(read_safetensors(path("a")), content);
  const std::string first = bytes_of(path("a"));
  write_safetensors(path("a"), content);
  EXPECT_EQ(bytes_of(path("a")), first);
}

TEST_F(Safetensors, WritesTheReferenceLayout) {
  TensorFile content;
  content.metadata = {{"b", "2"}, {"a", "1"}};
  content.tensors.emplace("a", Array::from<std::uint8_t>({3}, std::vector<std::uint8_t>{1, 2, 3}));
  content.tensors.emplace("b", Array::from<double>({1, 1}, std::vector{0.5}));
  content.tensors.emplace("c", Array::from<float>({}, std::vector{0.25f}));
  write_safetensors(path("a"), content);
  // The checksum is by the program xxhsum, of the lengths and bytes of metadata and tensors.
  std::string header =
      R"({"__metadata__":{"a":"1","b":"2","jeffreys.checksum":"ea7294953c03c373"},)"
      R"("b":{"dtype":"F64","shape":[1,1],"data_offsets":[0,8]},)"
      R"("c":{"dtype":"F32","shape":[],"data_offsets":[8,12]},)"
      R"("a":{"dtype":"U8","shape":[3],"data_offsets":[12,15]}})";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  EXPECT_EQ(bytes_of(path("a")), image(header, raw(0.5) + raw(0.25f) + "\x01\x02\x03"));
}

TEST_F(Safetensors, TensorsAreAlignedToTheirItems) {
  TensorFile content;
  for (const auto* const name : {"a", "b", "c", "d"}) {
    content.tensors.emplace(name + std::string("8"),
                            Array::from<std::uint8_t>({1}, std::vector<std::uint8_t>{1}));
    content.tensors.emplace(name + std::string("32"), Array::from<float>({1}, std::vector{1.0f}));
    content.tensors.emplace(name + std::string("64"), Array::from<double>({1}, std::vector{1.0}));
  }
  write_safetensors(path("a"), content);
  const std::string bytes = bytes_of(path("a"));
  const std::size_t data = bytes.find('}', bytes.rfind(']')) + 1;
  const nlohmann::json header = nlohmann::json::parse(bytes.substr(8, data - 8 + 1));
  for (const auto& [name, place] : header.items()) {
    if (name == "__metadata__") continue;
    const std::size_t begin = place["data_offsets"][0];
    const std::size_t end = place["data_offsets"][1];
    EXPECT_EQ(begin % (end - begin), 0u) << name;
  }
}

TEST_F(Safetensors, ReadsAnyOrderAndSpacing) {
  const std::string header =
      "{ \"a\" : {\"data_offsets\": [4, 8], \"shape\": [1], \"dtype\": \"I32\"},\n"
      "\"b\":{\"dtype\":\"I32\",\"shape\":[1],\"data_offsets\":[0,4]},"
      "\"e\":{\"dtype\":\"I32\",\"shape\":[0],\"data_offsets\":[4,4]}}   ";
  const TensorFile content = read_safetensors(file("a", image(header, raw(1) + raw(2))));
  EXPECT_THAT(content.tensors.at("a").values<int>(), ElementsAre(2));
  EXPECT_THAT(content.tensors.at("b").values<int>(), ElementsAre(1));
  EXPECT_THAT(content.tensors.at("e").values<int>(), ElementsAre());
  EXPECT_TRUE(content.metadata.empty());
  EXPECT_TRUE(read_safetensors(file("a", image("{}"))).tensors.empty());
}

TEST_F(Safetensors, FilesOfOthersNeedNoChecksum) {
  const TensorFile content{{{"format", "pt"}}, {{"x", Array::from<int>({1}, std::vector{7})}}};
  write_safetensors(path("a"), content);
  EXPECT_TRUE(read_safetensors(path("a")).has_checksum);
  const auto bare = file("bare", testing::without_checksum(bytes_of(path("a"))));
  EXPECT_EQ(read_safetensors(bare), content);
  EXPECT_FALSE(read_safetensors(bare).has_checksum);
  EXPECT_THAT(problem_of(bare, [](const auto& p) { require_checksum(read_safetensors(p), p); }),
              HasSubstr("is damaged: its checksum is missing; copy it again"));
}

// Another program may keep the metadata and lay out the tensors in its own way.
TEST_F(Safetensors, TheChecksumIsOfTheContentInAnyOrder) {
  TensorFile content;
  content.tensors.emplace("a", Array::from<int>({1}, std::vector{1}));
  content.tensors.emplace("b", Array::from<int>({1}, std::vector{2}));
  write_safetensors(path("a"), content);
  const std::string written = bytes_of(path("a"));
  const std::string key = R"("jeffreys.checksum":")";
  const std::string digits = written.substr(written.find(key) + key.size(), 16);
  const std::string header = R"({"b": {"dtype":"I32","shape":[1],"data_offsets":[0,4]}, )"
                             R"("a": {"dtype":"I32","shape":[1],"data_offsets":[4,8]}, )"
                             R"("__metadata__": {)" +
                             key + digits + "\"}}";
  const TensorFile read = read_safetensors(file("other", image(header, raw(2) + raw(1))));
  EXPECT_EQ(read, content);
  EXPECT_TRUE(read.has_checksum);
  EXPECT_THAT(refusal(image(header, raw(1) + raw(2))), HasSubstr("its checksum does not match"));
}

// Where the content is not the same, it is refused, or its checksum is missing.
TEST_F(Safetensors, NoFlippedBitGoesUnseen) {
  const TensorFile content{
      {{"format", "test \n {}"}, {"z", "1"}},
      {{"x", Array::from<double>({2, 2}, std::vector{0.5, 1.0, -2.0, 0.0})},
       {"y", Array::from<std::uint8_t>({3}, std::vector<std::uint8_t>{1, 2, 3})}}};
  write_safetensors(path("a"), content);
  const std::string whole = bytes_of(path("a"));
  std::size_t hidden = 0;
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    const auto flipped = file("flipped", testing::with_flipped_bit(whole, bit));
    try {
      const TensorFile read = read_safetensors(flipped);
      EXPECT_TRUE(!read.has_checksum || read == content) << bit;
      hidden += read.has_checksum ? 0 : 1;
    } catch (const InputError&) {
    }
  }
  EXPECT_GT(hidden, 0U);  // in the key
  EXPECT_LE(hidden, 8 * std::string_view(kChecksumKey).size());
}

TEST_F(Safetensors, RefusesWrongHeaderLengths) {
  take_largest_allocation();
  EXPECT_THAT(refusal(""), HasSubstr("is empty"));
  EXPECT_THAT(refusal("1234567"), HasSubstr("is cut short"));
  EXPECT_THAT(refusal(raw(std::uint64_t{3}) + "{}"), HasSubstr("claims a header of 3 bytes"));
  EXPECT_THAT(refusal(raw(~std::uint64_t{0}) + "{}"), HasSubstr("limit 100000000, file 10"));
  EXPECT_THAT(refusal(raw(std::uint64_t{99'999'999}) + "{}"), HasSubstr("claims a header"));
  EXPECT_THAT(refusal(raw(std::uint64_t{0})), HasSubstr("does not begin with '{'"));
  EXPECT_LT(take_largest_allocation(), 100'000u);
}

TEST_F(Safetensors, RefusesWhatIsNoSuchJson) {
  EXPECT_THAT(refusal(image("[]")), HasSubstr("does not begin with '{'"));
  EXPECT_THAT(refusal(image(" {}")), HasSubstr("does not begin with '{'"));
  EXPECT_THAT(refusal(image("\xef\xbb\xbf{}")), HasSubstr("does not begin with '{'"));
  EXPECT_THAT(refusal(image("{")), StartsWith("safetensors header: is not JSON at its byte 2"));
  EXPECT_THAT(refusal(image("{} x")), HasSubstr("is not JSON at its byte 4"));
  EXPECT_THAT(refusal(image("{\"\xff\":{}}")), HasSubstr("is not JSON at its byte 3"));
  EXPECT_THAT(refusal(image(R"({"a":1})")), HasSubstr("has a number for \"a\""));
  EXPECT_THAT(refusal(image(R"({"a":null})")), HasSubstr("has null for \"a\""));
  EXPECT_THAT(refusal(image(R"({"a":{}})")), HasSubstr("tensor \"a\" lacks dtype"));
  EXPECT_THAT(refusal(image(R"({"a":{"b":1}})")), HasSubstr("has an unknown key \"b\""));
  EXPECT_THAT(refusal(image(R"({"__metadata__":{"a":1}})")), HasSubstr("only strings may be"));
  EXPECT_THAT(refusal(image(R"({"__metadata__":{"a":{}}})")), HasSubstr("only strings may be"));
  EXPECT_THAT(refusal(image(R"({"__metadata__":"x"})")), HasSubstr("an object is expected"));
}

TEST_F(Safetensors, RefusesDuplicateKeys) {
  const std::string tensor = R"({"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  EXPECT_THAT(refusal(image(R"({"a":)" + tensor + R"(,"a":)" + tensor + "}")),
              HasSubstr("the key \"a\" occurs twice"));
  EXPECT_THAT(refusal(image(R"({"__metadata__":{},"__metadata__":{}})")),
              HasSubstr("occurs twice"));
  EXPECT_THAT(refusal(image(R"({"__metadata__":{"k":"1","k":"1"}})")),
              HasSubstr("the metadata key \"k\" occurs twice"));
  EXPECT_THAT(refusal(image(R"({"a":{"dtype":"U8","dtype":"U8"}})")),
              HasSubstr("tensor \"a\" has two keys \"dtype\""));
}

TEST_F(Safetensors, RefusesDeepNesting) {
  const std::string deep(1'000'000, '[');
  std::string objects;
  for (int i = 0; i < 300'000; ++i) objects += "{\"a\":";
  EXPECT_THAT(refusal(image("{\"a\":" + deep)), HasSubstr("has an array for \"a\""));
  EXPECT_THAT(refusal(image("{\"a\":{\"shape\":" + deep)), HasSubstr("has an array in shape"));
  EXPECT_THAT(refusal(image(objects)), HasSubstr("unknown key \"a\""));
}

class SafetensorsPlaces : public Safetensors {
 protected:
  static std::string tensor(std::string_view dtype, std::string_view shape,
                            std::string_view offsets) {
    return fmt::format(R"({{"dtype":"{}","shape":{},"data_offsets":{}}})", dtype, shape, offsets);
  }
  std::string refusal_of(std::string_view dtype, std::string_view shape, std::string_view offsets,
                         std::string_view data) const {
    return refusal(image("{\"a\":" + tensor(dtype, shape, offsets) + "}", data));
  }
};

TEST_F(SafetensorsPlaces, RefusesUnknownTypes) {
  EXPECT_THAT(refusal_of("BF16", "[1]", "[0,2]", "xx"), HasSubstr("has dtype \"BF16\""));
  EXPECT_THAT(refusal_of("f32", "[1]", "[0,4]", "xxxx"), HasSubstr("has dtype \"f32\""));
}

TEST_F(SafetensorsPlaces, RefusesImpossibleShapesBeforeTakingMemory) {
  take_largest_allocation();
  EXPECT_THAT(refusal_of("U8", "[-1]", "[0,1]", "x"), HasSubstr("a negative number"));
  EXPECT_THAT(refusal_of("U8", "[1.0]", "[0,1]", "x"), HasSubstr("the number \"1.0\""));
  EXPECT_THAT(refusal_of("U8", "[1e0]", "[0,1]", "x"), HasSubstr("the number \"1e0\""));
  EXPECT_THAT(refusal_of("U8", "[true]", "[0,1]", "x"), HasSubstr("true or false"));
  EXPECT_THAT(refusal_of("U8", "1", "[0,1]", "x"), HasSubstr("a number"));
  EXPECT_THAT(refusal_of("U8", "[18446744073709551615]", "[0,1]", "x"), HasSubstr("too large"));
  EXPECT_THAT(refusal_of("U8", "[36893488147419103232]", "[0,1]", "x"), HasSubstr("the number"));
  EXPECT_THAT(refusal_of("F64", "[4294967296,4294967296]", "[0,0]", ""), HasSubstr("8 GiB"));
  EXPECT_THAT(refusal_of("F64", "[0,4294967296]", "[0,0]", ""), HasSubstr("8 GiB"));
  EXPECT_THAT(refusal_of("F64", "[1000000000]", "[0,8000000000]", "x"),
              HasSubstr("the file holds"));
  EXPECT_THAT(refusal_of("F64", "[1000000000]", "[0,8]", "12345678"), HasSubstr("needs"));
  std::string many = "[1";
  for (int i = 0; i < 100; ++i) many += ",1";
  EXPECT_THAT(refusal_of("U8", many + "]", "[0,1]", "x"), HasSubstr("more than 32"));
  EXPECT_LT(take_largest_allocation(), 100'000u);
}

TEST_F(SafetensorsPlaces, RefusesHolesOverlapsAndLeftovers) {
  EXPECT_THAT(refusal_of("U8", "[1]", "[1,2]", "xx"), HasSubstr("must begin at 0"));
  EXPECT_THAT(refusal_of("U8", "[1]", "[0,2]", "xx"), HasSubstr("needs 1 bytes, has 2"));
  EXPECT_THAT(refusal_of("U8", "[1]", "[0,1]", "xx"), HasSubstr("take 1 bytes, the file holds 2"));
  EXPECT_THAT(refusal_of("U8", "[2]", "[0,2]", "x"), HasSubstr("take 2 bytes, the file holds 1"));
  EXPECT_THAT(refusal_of("U8", "[0]", "[0]", ""), HasSubstr("needs two data_offsets"));
  EXPECT_THAT(refusal_of("U8", "[0]", "[0,0,0]", ""), HasSubstr("needs two data_offsets"));
  EXPECT_THAT(refusal_of("U8", "[0]", "[0,-1]", ""), HasSubstr("a negative number"));
  const auto two = [](std::string_view first, std::string_view second) {
    return image(fmt::format(R"({{"a":{},"b":{}}})", tensor("U8", "[2]", first),
                             tensor("U8", "[2]", second)),
                 "xxxx");
  };
  EXPECT_THAT(refusal(two("[0,2]", "[1,3]")), HasSubstr("must begin at 2"));
  EXPECT_THAT(refusal(two("[0,2]", "[0,2]")), HasSubstr("must begin at 2"));
  EXPECT_THAT(refusal(two("[2,4]", "[3,5]")), HasSubstr("must begin at 0"));
  EXPECT_THAT(refusal(two("[2,0]", "[0,2]")), HasSubstr("must begin at"));
  EXPECT_EQ(read_safetensors(file("a", two("[2,4]", "[0,2]"))).tensors.size(), 2u);
}

TEST_F(Safetensors, UnfitContentIsTheCallersMistake) {
  const Array one = Array::from<double>({}, std::vector{1.0});
  EXPECT_THROW(write_safetensors(path("a"), {{}, {{"__metadata__", one}}}), std::invalid_argument);
  EXPECT_THROW(write_safetensors(path("a"), {{}, {{"\xff", one}}}), std::invalid_argument);
  EXPECT_THROW(write_safetensors(path("a"), {{{"k", "\xff"}}, {}}), std::invalid_argument);
  EXPECT_THROW(write_safetensors(path("a"), {{{kChecksumKey, "0"}}, {}}), std::invalid_argument);
  EXPECT_THROW(write_safetensors(path("a"), {{}, {{"x", Array{Dtype::f64, {2}, {}}}}}),
               std::invalid_argument);
  EXPECT_EQ(files_in_folder(), 0u);
}

}  // namespace
}  // namespace jeffreys::storage

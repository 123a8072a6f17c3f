#include "jeffreys/storage/npy.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "storage/largest_allocation.h"
#include "support/scratch_folder.h"

namespace jeffreys::storage {
namespace {

using jeffreys::testing::bytes_of;
using jeffreys::testing::problem_of;
using jeffreys::testing::raw;
using jeffreys::testing::ScratchTest;
using ::testing::HasSubstr;

class Npy : public ScratchTest {
 protected:
  std::string refusal(std::string_view bytes) const {
    return problem_of(file("a.npy", bytes), [](const auto& name) { read_npy(name); });
  }
};

std::string npy(int version, std::string_view dictionary, std::string_view data) {
  std::string bytes = "\x93NUMPY" + raw(static_cast<char>(version)) + raw('\0');
  bytes += version == 1 ? raw(static_cast<std::uint16_t>(dictionary.size()))
                        : raw(static_cast<std::uint32_t>(dictionary.size()));
  return bytes.append(dictionary).append(data);
}

std::string dictionary(std::string_view dtype, std::string_view shape,
                       std::string_view order = "False") {
  return fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}\n", dtype, order,
                     shape);
}

TEST_F(Npy, EveryTypeAndRankComesBack) {
  for (const Dtype dtype :
       {Dtype::f32, Dtype::f64, Dtype::i32, Dtype::i64, Dtype::u8, Dtype::boolean}) {
    for (const std::vector<std::int64_t>& shape : std::vector<std::vector<std::int64_t>>{
             {}, {0}, {5}, {0, 3}, {3, 0}, {2, 3}, {2, 1, 3, 4}}) {
      Array array{dtype, shape, std::vector<std::byte>(byte_size(dtype, shape))};
      for (std::size_t i = 0; i < array.bytes.size(); ++i) array.bytes[i] = std::byte(i);
      write_npy(path("a.npy"), array);
      EXPECT_EQ(read_npy(path("a.npy")), array);
    }
  }
}

TEST_F(Npy, WritesNumPysLayout) {
  write_npy(path("a.npy"), Array::from<double>({1}, std::vector{1.0}));
  std::string expected = npy(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }", "");
  expected[8] = 118;
  expected.resize(127, ' ');
  EXPECT_EQ(bytes_of(path("a.npy")), expected + "\n" + raw(1.0));
}

TEST_F(Npy, ReadsAllVersions) {
  for (const int version : {1, 2, 3}) {
    const auto name = file("a.npy", npy(version, dictionary("<i4", "(2,)"), raw(5) + raw(-6)));
    EXPECT_EQ(read_npy(name).values<std::int32_t>(), (std::vector<std::int32_t>{5, -6}));
  }
}

TEST_F(Npy, ReadsOtherSpellingsOfTheHeader) {
  const auto name =
      file("a.npy", npy(1, "{\"shape\":(2L,1L),'descr':\"|u1\",'fortran_order':True}", "\x01\x02"));
  const Array array = read_npy(name);
  EXPECT_EQ(array.shape, (std::vector<std::int64_t>{2, 1}));
  EXPECT_EQ(array.values<int>(), (std::vector<int>{1, 2}));
}

TEST_F(Npy, FortranOrderIsTransposed) {
  const auto item = [](std::int64_t i, std::int64_t j, std::int64_t k) {
    return 100 * i + 10 * j + k;
  };
  std::string data;
  std::vector<std::int64_t> expected;
  for (int k = 0; k < 4; ++k) {
    for (int j = 0; j < 3; ++j) {
      for (int i = 0; i < 2; ++i) data += raw(item(i, j, k));
    }
  }
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 4; ++k) expected.push_back(item(i, j, k));
    }
  }
  const auto name = file("a.npy", npy(1, dictionary("<i8", "(2, 3, 4)", "True"), data));
  EXPECT_EQ(read_npy(name).values<std::int64_t>(), expected);
  const auto empty = file("a.npy", npy(1, dictionary("<i8", "(0, 4)", "True"), ""));
  EXPECT_EQ(read_npy(empty).shape, (std::vector<std::int64_t>{0, 4}));
}

TEST_F(Npy, RefusesOtherTypesByName) {
  const auto refusal_of = [this](std::string_view dtype) {
    return refusal(npy(1, dictionary(dtype, "(1,)"), "12345678"));
  };
  EXPECT_THAT(refusal_of(">f8"), HasSubstr("dtype \">f8\" (big-endian) is not supported"));
  EXPECT_THAT(refusal_of("|O"), HasSubstr("dtype \"|O\" (Python objects) is not supported"));
  EXPECT_THAT(refusal_of("<U2"), HasSubstr("dtype \"<U2\" (text) is not supported"));
  EXPECT_THAT(refusal_of("|S8"), HasSubstr("dtype \"|S8\" (text) is not supported"));
  EXPECT_THAT(refusal_of("|V8"), HasSubstr("dtype \"|V8\" (raw or structured) is not supported"));
  EXPECT_THAT(refusal_of("<c8"), HasSubstr("dtype \"<c8\" is not supported; save float32"));
  EXPECT_THAT(refusal_of("\x1b[2J"), HasSubstr("\\u001b"));
  const std::string structured =
      "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }";
  EXPECT_THAT(refusal(npy(1, structured, "12345678")), HasSubstr("(structured) is not supported"));
}

TEST_F(Npy, RefusesImpossibleShapesBeforeTakingMemory) {
  take_largest_allocation();
  const auto refusal_of = [this](std::string_view shape) {
    return refusal(npy(1, dictionary("<f8", shape), "12345678"));
  };
  EXPECT_THAT(refusal_of("(-1,)"), HasSubstr("negative dimension"));
  EXPECT_THAT(refusal_of("(4294967296, 4294967296)"), HasSubstr("limit of 8 GiB"));
  EXPECT_THAT(refusal_of("(0, 9223372036854775807)"), HasSubstr("limit of 8 GiB"));
  EXPECT_THAT(refusal_of("(9223372036854775808,)"), HasSubstr("dimension below 2^63"));
  EXPECT_THAT(refusal_of("(1000000000,)"), HasSubstr("promises 8000000000 bytes"));
  EXPECT_THAT(refusal_of("(2,)"), HasSubstr("promises 16 bytes of data, the file holds 8"));
  std::string many = "(";
  for (int i = 0; i < 100; ++i) many += "1, ";
  EXPECT_THAT(refusal_of(many + ")"), HasSubstr("32 dimensions"));
  EXPECT_LT(take_largest_allocation(), 100'000u);
}

TEST_F(Npy, RefusesBrokenHeaders) {
  for (const std::string_view text :
       {"", "{", "{}", "[]", "{'descr'", "{'descr': '<f8', 'descr': '<f8'}", "{'other': 1}",
        "{'descr': '<f8', 'fortran_order': Maybe, 'shape': (1,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': 1, }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1.5,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (, }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), } x",
        "{'descr': '<f8', 'fortran_order': False}", "{'descr': '<f8"}) {
    EXPECT_THAT(refusal(npy(1, text, "12345678")), HasSubstr(".npy header")) << text;
  }
  EXPECT_THAT(refusal(npy(2, std::string(70000, ' '), "")), HasSubstr("the limit is 65536"));
  EXPECT_THAT(refusal(npy(4, dictionary("<f8", "()"), "12345678")), HasSubstr("version 4.0"));
}

TEST_F(Npy, RefusesWhatIsNoFileOfArrays) {
  EXPECT_THAT(refusal(""), HasSubstr("is empty"));
  EXPECT_THAT(refusal("a,b,c\n1,2,3\n"), HasSubstr("is not a NumPy array"));
  const auto read = [](const auto& name) { read_npy(name); };
  EXPECT_THAT(problem_of(path("none.npy"), read),
              HasSubstr("cannot open: No such file or directory; check the name"));
  EXPECT_THAT(problem_of(path(""), read), HasSubstr("is a directory"));
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_THAT(problem_of(path("pipe"), read), HasSubstr("is not a regular file"));
}

TEST_F(Npy, WritingAnInconsistentArrayIsTheCallersMistake) {
  EXPECT_THROW(write_npy(path("a.npy"), Array{Dtype::f64, {3}, {}}), std::invalid_argument);
  EXPECT_EQ(files_in_folder(), 0u);
}

}  // namespace
}  // namespace jeffreys::storage

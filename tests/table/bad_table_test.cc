// Files that are no tables: each is refused with its place and what to do.
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>

#include "jeffreys/storage/npy.h"
#include "jeffreys/storage/npz.h"
#include "jeffreys/table/table_file.h"
#include "support/scratch_folder.h"

namespace jeffreys {
namespace {

using jeffreys::testing::bytes_of;
using jeffreys::testing::problem_of;
using jeffreys::testing::ScratchTest;
using ::testing::HasSubstr;

class BadTable : public ScratchTest {
 protected:
  // "LINE:COLUMN: problem", with 0 for what is unknown.
  std::string refusal(std::string_view bytes, const TableOptions& options = {}) const {
    const auto name = file("a.csv", bytes);
    try {
      read_table(name, options);
    } catch (const InputError& error) {
      EXPECT_EQ(error.file(), name.string());
      return std::to_string(error.line()) + ":" + std::to_string(error.column()) + ": " +
             error.problem();
    }
    return "none";
  }
};

const auto read = [](const auto& name) { read_table(name); };

TEST_F(BadTable, RaggedRows) {
  EXPECT_EQ(refusal("a,b\n1,2\n# note\n3\n4,5\n"),
            "4:0: the row has 1 field, the first row has 2; correct the row, or quote fields that "
            "hold a delimiter");
  EXPECT_THAT(refusal("a,b\n1,2\n3,4,5\n"), HasSubstr("3:0: the row has 3 fields"));
  EXPECT_THAT(refusal("a,b\n1,2,\n3,4,\n"), HasSubstr("2:0: the row has 3 fields"));
  EXPECT_THAT(refusal("a,b\n\"x\ny\",2\n3\n"), HasSubstr("4:0: the row has 1 field"));
}

TEST_F(BadTable, Names) {
  EXPECT_EQ(refusal("# names\na,b,a\n1,2,3\n"),
            "2:3: the column name \"a\" occurs twice, as columns 1 and 3; give every column its "
            "own name");
  EXPECT_THAT(refusal("a,x1\n1,2\n", {.header = Header::no}), "none");
  EXPECT_THAT(refusal(",x1\n1,2\n"), HasSubstr("1:2: the column name \"x1\" occurs twice"));
  EXPECT_THAT(refusal("a,\xe9\n1,2\n"), HasSubstr("1:2: the column name is not UTF-8"));
}

TEST_F(BadTable, Quotes) {
  EXPECT_THAT(refusal("a,b\n1,2\n3,4 \"x\" 5\n"), HasSubstr("3:0: a quote (\") inside a field"));
  EXPECT_THAT(refusal("a,b\n1,\"2\n3,4\n5,6\n"), HasSubstr("2:0: a quoted field in this row never "
                                                           "ends"));
  EXPECT_THAT(refusal("a,b\n1,\"" + std::string(3'000'000, 'x') + "\n"),
              HasSubstr("2:0: a field in this row is longer than 1 MB"));
}

TEST_F(BadTable, NothingToRead) {
  EXPECT_THAT(refusal(""), HasSubstr("0:0: is empty"));
  EXPECT_THAT(refusal("\n\n# only this\n"), HasSubstr("has no rows"));
  EXPECT_THAT(refusal("a,b\n"), HasSubstr("has a header but no rows"));
  EXPECT_THAT(refusal("1,2\n", {.header = Header::yes}), HasSubstr("has a header but no rows"));
  EXPECT_THAT(problem_of(path(""), read), HasSubstr("is a directory"));
  EXPECT_THAT(problem_of(path("none.csv"), read), HasSubstr("cannot open: No such file"));
}

TEST_F(BadTable, Unreadable) {
  if (::geteuid() == 0) GTEST_SKIP() << "root reads everything";
  const auto name = file("a.csv", "a\n1\n");
  std::filesystem::permissions(name, std::filesystem::perms::none);
  EXPECT_THAT(problem_of(name, read), HasSubstr("check the permissions"));
}

TEST_F(BadTable, OtherFormats) {
  EXPECT_THAT(refusal(std::string_view("PK\x03\x04\0\0", 6)), HasSubstr("holds zero bytes"));
  EXPECT_THAT(refusal("1.5  2 3\n4 5 6\n"), HasSubstr("2:0: the numbers are separated by blanks"));
}

TEST_F(BadTable, Arrays) {
  const auto array = [](std::vector<std::int64_t> shape, std::size_t size) {
    return storage::Array::from<double>(std::move(shape), std::vector<double>(size));
  };
  storage::write_npy(path("a.npy"), array({2, 2, 2}, 8));
  EXPECT_THAT(problem_of(path("a.npy"), read), HasSubstr("the array has 3 dimensions"));
  storage::write_npy(path("a.npy"), array({0, 2}, 0));
  EXPECT_THAT(problem_of(path("a.npy"), read), HasSubstr("0 rows and 2 columns"));
  storage::write_npz(path("a.npz"), {{"a", array({2, 1}, 2)}, {"b", array({1, 2}, 2)}});
  EXPECT_EQ(problem_of(path("a.npz"), read),
            "has 2 arrays with two dimensions; name the one to read with --array NAME. The arrays "
            "are: \"a\", "
            "\"b\"");
  EXPECT_THAT(problem_of(path("a.npz"), [](const auto& name) { read_table(name, {.array = "c"}); }),
              HasSubstr("has no array \"c\""));
  Table text;
  text.columns.resize(1);
  text.columns[0] = {.name = "t", .codes = {0}, .labels = {"x"}};
  EXPECT_THAT(problem_of(path("t.npy"), [&](const auto& name) { write_table(name, text); }),
              HasSubstr("column \"t\" is text"));
}

TEST_F(BadTable, AFullDiskLeavesNoFile) {
  Table table;
  table.columns.resize(1);
  table.columns[0].name = "a";
  table.columns[0].numbers.assign(100'000, 1.5);
  const auto write = [&](const auto& name) { write_table(name, table); };
  rlimit old{};
  ::getrlimit(RLIMIT_FSIZE, &old);
  const rlimit limit{10'000, old.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ::setrlimit(RLIMIT_FSIZE, &limit);
  const std::string problem = problem_of(path("a.csv"), write);
  ::setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, handler);
  EXPECT_THAT(problem, HasSubstr("cannot write"));
  EXPECT_EQ(files_in_folder(), 0u);
  EXPECT_THAT(problem_of(path("no/folder/a.csv"), write), HasSubstr("No such file or directory"));
}

}  // namespace
}  // namespace jeffreys

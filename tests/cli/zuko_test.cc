// Flows from and to Zuko by way of model files.
#include "cli/program.h"
#include "cli/tables.h"
#include "jeffreys/storage/npy.h"
#include "support/golden.h"

namespace jeffreys::testing {
namespace {

using ::testing::HasSubstr;

class Zuko : public ProgramTest {
 protected:
  Zuko() { good({"import", "zuko", golden_path("nsf_2d.npz"), "-o", "m"}); }
};

TEST_F(Zuko, ImportAndExportKeepEveryArray) {
  good({"export", "zuko", "m", "-o", "z.npz"});
  const storage::Arrays exported = storage::read_npz(path("z.npz"));
  std::size_t parameters = 0;
  const Golden golden("nsf_2d.npz");
  for (const auto& [name, array] : golden.arrays()) {
    if (!name.starts_with("param.")) continue;
    ++parameters;
    ASSERT_TRUE(exported.contains(name)) << name;
    EXPECT_EQ(exported.at(name), array) << name;
  }
  EXPECT_EQ(exported.size(), parameters);
  // And once more.
  good({"import", "zuko", "z.npz", "-o", "n"});
  EXPECT_EQ(bytes("n"), bytes("m"));
}

TEST_F(Zuko, LogProbIsZukos) {
  const Golden golden("nsf_2d.npz");
  storage::write_npy(path("x.npy"), golden.array("x"));
  const std::vector<double> expected = golden.values<double>("log_prob");
  for (const auto& [precision, tolerance] :
       std::vector<std::pair<std::string, double>>{{"float", 3e-4}, {"double", 1e-6}}) {
    good({"log_prob", "m", "x.npy", "--precision", precision, "-o", "l.npy"});
    const std::vector<double> values = storage::read_npy(path("l.npy")).values<double>();
    ASSERT_EQ(values.size(), expected.size());
    for (std::size_t row = 0; row < values.size(); ++row) {
      EXPECT_NEAR(values[row], expected[row], tolerance) << precision << " row " << row;
    }
  }
}

TEST_F(Zuko, ConditionalFlowsHaveConditions) {
  good({"import", "zuko", golden_path("nsf_cond.npz"), "-o", "c"});
  const auto inside = good({"inspect", "c", "--json"}).json();
  EXPECT_EQ(inside.at("columns").at(0).at("name"), "x1");
  EXPECT_EQ(inside.at("columns").back().at("role"), "condition");
}

TEST_F(Zuko, FittedFlowsAreExported) {
  file("t.csv", two_columns());
  fit("t.csv", "f");
  for (const char* from : {"main", "proxy"}) {
    good({"export", "zuko", "f", "-o", "f.npz", "--from", from});
    good({"import", "zuko", "f.npz", "-o", "g"});
  }
  fit("t.csv", "e", {"--proxy", "energy"});
  EXPECT_THAT(refusal(kUsage, {"export", "zuko", "e", "-o", "e.npz", "--from", "proxy"}),
              HasSubstr("energy"));
}

TEST_F(Zuko, OtherFilesAreRefused) {
  EXPECT_THAT(refusal(kBadInput, {"import", "zuko", golden_path("ebm_2d.npz"), "-o", "q"}),
              HasSubstr("ebm_2d.npz"));
  file("junk.npz", "no archive");
  EXPECT_THAT(refusal(kBadInput, {"import", "zuko", "junk.npz", "-o", "q"}), HasSubstr("junk.npz"));
  EXPECT_THAT(refusal(kBadInput, {"import", "zuko", "none.npz", "-o", "q"}), HasSubstr("none.npz"));
  EXPECT_THAT(refusal(kBadInput, {"export", "zuko", "junk.npz", "-o", "q"}), HasSubstr("junk.npz"));
}

}  // namespace
}  // namespace jeffreys::testing

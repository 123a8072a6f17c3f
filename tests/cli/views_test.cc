// Looking at a model: inspect, evaluate, plot and demo.
#include <set>
#include <sstream>

#include "cli/program.h"
#include "cli/tables.h"

namespace jeffreys::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class Views : public ProgramTest {
 protected:
  Views() {
    file("t.csv", two_columns());
    fit("t.csv", "m");
  }

  // The file is a picture of its kind.
  void expect_picture(const std::string& name) const {
    if (name.ends_with(".png")) {
      EXPECT_THAT(bytes(name), StartsWith("\x89PNG")) << name;
    } else {
      EXPECT_THAT(bytes(name), AllOf(HasSubstr("<svg"), HasSubstr("</svg>"))) << name;
    }
  }
};

TEST_F(Views, InspectShowsModelsAndColumns) {
  EXPECT_THAT(good({"inspect", "m"}).out,
              AllOf(HasSubstr("spline flow, features 2"), HasSubstr("proxy: "), HasSubstr("  x "),
                    HasSubstr("  y "), HasSubstr("verdict: ")));
  const auto json = good({"inspect", "m", "--json"}).json();
  ASSERT_EQ(json.at("columns").size(), 2u);
  EXPECT_EQ(json.at("columns").at(1).at("name"), "y");
  EXPECT_EQ(json.at("columns").at(1).at("role"), "feature");
  EXPECT_NEAR(json.at("columns").at(0).at("mean").get<double>(), 5, 1);
  EXPECT_GT(json.at("columns").at(0).at("scale").get<double>(), 0);
}

TEST_F(Views, EvaluateSpeaksForBothModels) {
  fit("t.csv", "e", {"--proxy", "energy"});
  for (const char* model : {"m", "e"}) {
    const auto json = good({"evaluate", model, "t.csv", "--json"}).json();
    EXPECT_EQ(json.at("main").at("rows"), 100);
    EXPECT_EQ(json.at("proxy").at("rows"), 100);
    EXPECT_EQ(json.at("dropped_rows"), 0);
    EXPECT_GE(json.at("reverse_kl").at("kl").get<double>(),
              -4 * json.at("reverse_kl").at("standard_error").get<double>());
    EXPECT_GT(json.at("effective_sample_size").get<double>(), 0);
    EXPECT_LE(json.at("effective_sample_size").get<double>(), 1);
    EXPECT_EQ(json.contains("unseen_mass"), model == std::string("e"));
  }
  const auto energy = good({"evaluate", "e", "t.csv", "--json"}).json();
  EXPECT_LT(energy.at("unseen_mass").get<double>(), 1);
  EXPECT_GE(energy.at("zeta_samples").get<int>(), 1000);
  EXPECT_NEAR(energy.at("log_zeta_half").get<double>(), energy.at("log_zeta").get<double>(), 0.5);
  EXPECT_THAT(good({"evaluate", "e", "t.csv"}).out,
              AllOf(HasSubstr("energy model: log zeta"), HasSubstr("from half as many")));
  // With conditions, at those of the table.
  fit("t.csv", "c", {"--proxy", "energy", "--condition", "x"});
  const auto given = good({"evaluate", "c", "t.csv", "--json"}).json();
  EXPECT_EQ(given.at("zeta_conditions"), 100);
  EXPECT_LE(given.at("log_zeta_lowest").get<double>(), given.at("log_zeta").get<double>());
  EXPECT_GE(given.at("log_zeta_highest").get<double>(), given.at("log_zeta").get<double>());
  fit("t.csv", "l", {"--method", "mle"});
  EXPECT_THAT(good({"evaluate", "l", "t.csv"}).out,
              AllOf(HasSubstr("main"), Not(HasSubstr("KL("))));
  file("gaps.csv", with_line(two_columns(), 4, "5,"));
  EXPECT_EQ(good({"evaluate", "m", "gaps.csv", "--json"}).json().at("dropped_rows"), 0);
  fit("t.csv", "d", {"--missing", "drop"});
  EXPECT_EQ(good({"evaluate", "d", "gaps.csv", "--json"}).json().at("dropped_rows"), 1);
}

TEST_F(Views, PlotDrawsPlanes) {
  for (const char* name : {"p.svg", "p.png"}) {
    good({"plot", "m", "t.csv", "-o", name});
    expect_picture(name);
  }
  good({"plot", "m"});
  expect_picture("m.png");
  fit("t.csv", "e", {"--proxy", "energy", "--bound", "y=0:1"});
  good({"plot", "e", "t.csv", "-o", "e.svg"});
  expect_picture("e.svg");
}

// Labels have the places of the model, whichever comes first in the table.
TEST_F(Views, PlotDrawsLabelsTheSameInAnyOrderOfRows) {
  const std::string rows = mixed_columns();
  file("mixed.csv", rows);
  fit("mixed.csv", "x");
  std::istringstream stream(rows);
  std::string header;
  std::getline(stream, header);
  std::string backwards;
  for (std::string line; std::getline(stream, line);) backwards.insert(0, line + "\n");
  file("back.csv", header + "\n" + backwards);
  const auto lines_of = [&](const std::string& table) {
    good({"plot", "x", table, "-o", "p.svg"});
    std::istringstream svg(bytes("p.svg"));
    std::multiset<std::string> all;
    for (std::string line; std::getline(svg, line);) all.insert(line);
    return all;
  };
  EXPECT_EQ(lines_of("mixed.csv"), lines_of("back.csv"));
}

TEST_F(Views, PlotDrawsPairsAndTraining) {
  file("mixed.csv", mixed_columns());
  fit("mixed.csv", "x");
  good({"plot", "x", "mixed.csv", "-o", "pairs.svg"});
  expect_picture("pairs.svg");
  good({"plot", "x", "--columns", "height,colour", "-o", "two.svg", "--from", "proxy"});
  expect_picture("two.svg");
  for (const char* model : {"m", "x"}) {
    good({"plot", model, "--training", "-o", "training.svg"});
    expect_picture("training.svg");
  }
  EXPECT_THAT(refusal(kUsage, {"plot", "x", "--columns", "zz", "-o", "q.svg"}),
              AllOf(HasSubstr("zz"), HasSubstr("height")));
}

TEST_F(Views, PlotDrawsConditionalModels) {
  file("mixed.csv", mixed_columns());
  fit("mixed.csv", "c", {"--condition", "group,level", "--ignore", "count,colour"});
  good({"plot", "c", "-o", "c.svg", "--given", "group=north,level=0"});
  expect_picture("c.svg");
  EXPECT_THAT(refusal(kBadInput, {"plot", "c", "-o", "d.svg", "--given", "group=north"}),
              HasSubstr("level"));
  EXPECT_THAT(
      refusal(kUsage, {"plot", "c", "-o", "d.svg", "--given", "group=north,level=0,level=1"}),
      HasSubstr("level"));
}

TEST_F(Views, PlotOfAnImportedFlowHasNoTraining) {
  good({"export", "zuko", "m", "-o", "z.npz"});
  good({"import", "zuko", "z.npz", "-o", "z"});
  good({"plot", "z", "-o", "z.svg"});
  expect_picture("z.svg");
  EXPECT_THAT(refusal(kBadInput, {"plot", "z", "--training", "-o", "q.svg"}),
              HasSubstr("training"));
}

TEST_F(Views, PlotsAreSvgOrPng) {
  for (const char* name : {"p.pdf", "p", "p.jpg"}) {
    EXPECT_THAT(refusal(kBadInput, {"plot", "m", "-o", name}),
                AllOf(HasSubstr(name), HasSubstr(".svg"), HasSubstr(".png")));
    EXPECT_THAT(refusal(kBadInput, {"demo", "--rows", "30", "--iterations", "2", "-q", "-o", name}),
                HasSubstr(name));
  }
}

TEST_F(Views, PlotRefusesATableThatIsNotTheModels) {
  file("other.csv", "a,b\n1,2\n2,3\n");
  EXPECT_THAT(refusal(kBadInput, {"plot", "m", "other.csv", "-o", "p.svg"}),
              HasSubstr("other.csv"));
}

TEST_F(Views, DemoComparesTheMethods) {
  const Outcome outcome =
      good({"demo", "--source", "ring", "--rows", "60", "--iterations", "5", "-o", "d.svg"});
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("maximum likelihood"), HasSubstr("main model"),
                    HasSubstr("proxy model"), HasSubstr("entropy"), HasSubstr("d.svg")));
  expect_picture("d.svg");
  const auto json =
      good({"demo", "--rows", "30", "--iterations", "2", "-o", "e.png", "--json"}).json();
  EXPECT_EQ(json.at("source"), "moons");
  EXPECT_GT(json.at("mle").get<double>(), json.at("entropy").get<double>());
  expect_picture("e.png");
}

TEST_F(Views, DemoRefusesWhatItDoesNotKnow) {
  EXPECT_THAT(refusal(kUsage, {"demo", "--source", "cube"}), HasSubstr("--source"));
  EXPECT_THAT(refusal(kUsage, {"demo", "--rows", "1"}), HasSubstr("--rows"));
  EXPECT_THAT(refusal(kUsage, {"demo", "--rows", "20", "--iterations", "-2"}),
              HasSubstr("--iterations"));
}

}  // namespace
}  // namespace jeffreys::testing

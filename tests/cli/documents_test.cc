// The commands of README and docs, as a reader pastes them.
#include <algorithm>
#include <map>
#include <sstream>

#include "cli/program.h"
#include "cli/sbi_program.h"
#include "cli/tables.h"

namespace jeffreys::testing {
namespace {

// Those that are not run here, by how they begin, and why.
const std::map<std::string, std::string> kNotRun{
    {"reproduce all", "minutes to hours; `check` runs it with --scale 0.01"},
    {"reproduce density", "hours"},
    {"compare table.csv --methods", "ten splits of four methods: a minute"},
    {"compare power.csv", "five splits of all methods, as the first command"},
    {"compare --no-training", "of the folder of those"},
    {"images ", "needs pictures and libtorch; images_test.cc runs these three"},
    {"sbi check decay.model --reference", "two classifiers on thousands of samples: a minute"}};

bool is_run(const std::string& command) {
  return std::none_of(kNotRun.begin(), kNotRun.end(),
                      [&](const auto& entry) { return command.starts_with(entry.first); });
}

// Every command in the blocks of a document, without what is said about it.
std::vector<std::string> commands_of(const std::string& document) {
  std::istringstream lines(bytes_of(JEFFREYS_GOLDEN_DIR "/../../" + document));
  std::vector<std::string> commands;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) inside = !inside;
    if (inside && line.starts_with("jeffreys ")) {
      line = line.substr(9, line.find(" # ") - 9);
      commands.push_back(line.substr(0, line.find_last_not_of(' ') + 1));
    }
  }
  return commands;
}

class Documents : public SbiProgramTest {
 protected:
  // As it stands there, but for how long it takes.
  static Arguments shorter(const std::string& command) {
    std::istringstream stream(command);
    Arguments words;
    for (std::string word; stream >> word;) {
      const bool count = !words.empty() && words.back() == "-n";
      words.push_back(count && word.size() > 2 ? "100" : word);
    }
    const auto begins = [&](const char* text) { return command.starts_with(text); };
    if (begins("fit") || begins("sbi fit") || begins("compare")) {
      words = words + Arguments{"--set", "iterations=20", "flow.hidden=8", "members=1"};
    }
    if (begins("sbi check")) words = words + Arguments{"--samples", "20"};
    if (begins("sbi check") && command.find("--simulator") != std::string::npos) {
      words = words + Arguments{"-n", "100"};
    }
    return words;
  }

  // Runs those of a document that can be run here; returns how many.
  int run_all(const std::string& document) const {
    int count = 0;
    for (const std::string& command : commands_of(document)) {
      if (!is_run(command)) continue;
      good(shorter(command));
      ++count;
    }
    return count;
  }

  // A price that depends on age and site, for some rows without one.
  static std::string people(int rows, unsigned seed, const std::string& gap = "") {
    return lines(
        "age,site,price,weight", rows,
        [&](Draws& draws, int row) {
          const int age = 20 + static_cast<int>(60 * draws.uniform());
          const std::string price = text_of(age + draws.normal());
          return std::to_string(age) + (draws.uniform() < 0.5 ? ",north," : ",south,") +
                 (row % 9 == 4 ? gap : price) + "," + text_of(draws.uniform());
        },
        seed);
  }
};

TEST_F(Documents, TheReadmesCommandsRun) {
  for (const char* table : {"table.csv", "new.csv", "test.csv"}) file(table, two_columns());
  EXPECT_EQ(run_all("README.md"), 14);
  EXPECT_TRUE(names().contains("scores.csv") && names().contains("synthetic.csv") &&
              names().contains("density.svg") && names().contains("posterior.png"));
}

TEST_F(Documents, TheCommandsForTablesRun) {
  file("table.csv", people(80, 1));
  file("test.csv", people(40, 2));
  file("new.csv", people(2, 3));
  file("known.csv", "age,site\n40,north\n,south\n");
  file("machines.csv", two_columns(120));
  file("today.csv", two_columns(20, 1, 2));
  file("sites.csv", "temperature,site\n20,north\n5,south\n");
  file("weather.csv", lines("temperature,site,wind", 80, [](Draws& draws, int row) {
         return text_of(15 + 5 * draws.normal()) + (row % 2 == 0 ? ",north," : ",south,") +
                text_of(draws.normal());
       }));
  good({"fit", "table.csv", "-o", "table.model", "--set", "iterations=20", "flow.hidden=8",
        "members=1"});
  EXPECT_EQ(run_all("docs/tables.md"), 17);
}

// The file of settings that the documents show does what it says.
TEST_F(Documents, TheSettingsFileIsRead) {
  const std::string page = bytes_of(JEFFREYS_GOLDEN_DIR "/../../docs/settings.md");
  const std::size_t begin = page.find("```toml\n") + 8;
  file("my.toml", page.substr(begin, page.find("```", begin) - begin));
  file("table.csv", two_columns());
  const auto settings = good({"fit", "table.csv", "--config", "my.toml", "--time-limit", "0.2",
                              "--members", "1", "--json"})
                            .json()
                            .at("settings");
  EXPECT_EQ(settings.at("iterations").at("value"), "20000");
  EXPECT_EQ(settings.at("learning_rate.proxy").at("value"), "0.001");
  EXPECT_EQ(settings.at("flow.hidden").at("value"), "64,64");
}

// Page, tables and figures from the runs that are part of the project.
TEST_F(Documents, TheCommandForTheResultsRuns) {
  std::filesystem::copy(JEFFREYS_GOLDEN_DIR "/../../results", path("results"),
                        std::filesystem::copy_options::recursive);
  std::filesystem::remove(path("results/results.md"));
  const std::vector<std::string> commands = commands_of("docs/results.md");
  ASSERT_EQ(commands.size(), 2U) << "the other one trains for hours";
  EXPECT_EQ(commands[0], "reproduce all --no-training --output results && tools/copy_overview");
  good({"reproduce", "all", "--no-training", "--output", "results"});
  EXPECT_TRUE(exists("results/results.md") && exists("results/index.html"));
}

TEST_F(Documents, TheCommandsForPosteriorsRun) {
  for (const char* name : {"decay.sh", "decay.toml"}) {
    std::filesystem::copy_file(example_simulators() / name, path(name));
  }
  EXPECT_EQ(run_all("docs/sbi.md"), 13);
}

}  // namespace
}  // namespace jeffreys::testing

// The examples of the help texts and of docs/sbi.md run as they are written.
#include <sstream>

#include "cli/sbi_program.h"

namespace jeffreys::testing {
namespace {

using ::testing::StartsWith;

// Lines that begin with `jeffreys sbi`, as arguments.
std::vector<Arguments> examples_of(const std::string& text) {
  std::vector<Arguments> all;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    std::istringstream words(line);
    Arguments arguments;
    for (std::string word; words >> word;) arguments.push_back(word);
    if (arguments.size() < 3 || arguments[0] != "jeffreys" || arguments[1] != "sbi") continue;
    all.emplace_back(arguments.begin() + 1, arguments.end());
  }
  return all;
}

class SbiExamples : public SbiProgramTest {
 protected:
  SbiExamples() {
    for (const char* name : {"decay.sh", "decay.toml"}) {
      std::filesystem::copy(example_simulators() / name, path(name));
    }
  }

  // With a small fit, few simulations and few samples.
  static Arguments small(Arguments example) {
    for (std::size_t i = 0; i + 1 < example.size(); ++i) {
      if (example[i] == "-n") example[i + 1] = "100";
    }
    if (example[1] == "fit") return example + tiny_posterior("20");
    return example[1] == "check" ? example + Arguments{"--samples", "20"} : example;
  }
};

TEST_F(SbiExamples, OfTheHelpTextsRun) {
  make_posterior();
  const std::string posterior = bytes("p.model");
  for (const char* name : {"candidates.csv", "nights.csv", "exact.csv"}) {
    std::filesystem::copy(path("new_pairs.csv"), path(name));
  }
  std::filesystem::copy(path("simulate.sh"), path("simulate.py"));
  std::size_t examples = 0;
  for (const char* command : {"", "simulate", "fit", "sample", "log_prob", "check", "plot"}) {
    Arguments help{"sbi", command, "--help"};
    if (help[1].empty()) help.erase(help.begin() + 1);
    for (const Arguments& example : examples_of(good(help).out)) {
      file("p.model", posterior);
      std::filesystem::remove(path("pairs.csv.journal"));
      std::filesystem::remove(path("p.model.pairs.csv.journal"));
      good(small(example));
      file("pairs.csv", pairs(300, 1));
      ++examples;
    }
  }
  EXPECT_GE(examples, 20U);
}

TEST_F(SbiExamples, OfTheDocumentationRunInTheirOrder) {
  const auto document = std::filesystem::path(JEFFREYS_GOLDEN_DIR) / "../../docs/sbi.md";
  const std::vector<Arguments> examples = examples_of(bytes_of(document));
  EXPECT_GE(examples.size(), 10U);
  for (const Arguments& example : examples) good(small(example));
  EXPECT_THAT(bytes("samples.csv"), StartsWith("amplitude,rate\n"));
}

}  // namespace
}  // namespace jeffreys::testing

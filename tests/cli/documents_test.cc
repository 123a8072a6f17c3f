// The commands of the README, as a reader pastes them.
#include <sstream>

#include "cli/program.h"
#include "cli/tables.h"

namespace jeffreys::testing {
namespace {

// The commands of the first block after a heading, without what is said about them.
std::vector<Arguments> commands_after(const std::string& text, const std::string& heading) {
  std::istringstream lines(text.substr(text.find(heading)));
  std::vector<Arguments> commands;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) {
      if (inside) return commands;
      inside = true;
    }
    if (!inside || !line.starts_with("jeffreys ")) continue;
    std::istringstream words(line.substr(0, line.find(" # ")));
    Arguments command;
    for (std::string word; words >> word;) command.push_back(word);
    command.erase(command.begin());
    commands.push_back(command);
  }
  return commands;
}

class Documents : public ProgramTest {};

TEST_F(Documents, TheReadmesCommandsForTablesRun) {
  for (const char* table : {"table.csv", "new.csv", "test.csv"}) file(table, two_columns());
  const std::vector<Arguments> commands =
      commands_after(bytes_of(JEFFREYS_GOLDEN_DIR "/../../README.md"), "## You have a table");
  EXPECT_EQ(commands.size(), 8U);
  for (const Arguments& command : commands) {
    // As they stand there, but for how long they take.
    const bool trains = command.front() == "fit" || command.front() == "compare";
    const Arguments shorter = {"--set", "iterations=20", "--set", "flow.hidden=8"};
    good(command + (trains ? shorter : Arguments{}));
  }
  EXPECT_TRUE(names().contains("scores.csv") && names().contains("synthetic.csv") &&
              names().contains("density.svg"));
}

}  // namespace
}  // namespace jeffreys::testing

// The words of the command line, before the parser gets them.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"

namespace jeffreys::cli {

// Writes options with several values out: `--set A=1 B=2` becomes `--set A=1 --set B=2`. Words
// after the first value belong to the option too, up to one that begins with -, has another form
// (with or without =), or looks like the name of a file, which is an argument of the command: `fit
// --ignore id day table.csv` leaves out two columns.
[[nodiscard]] std::vector<std::string> written_out(const std::vector<std::string>& words,
                                                   const CLI::App& app);

}  // namespace jeffreys::cli

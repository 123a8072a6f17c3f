#include "cli/command.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>

#include "jeffreys/base/input_error.h"

namespace jeffreys::cli {

void say(const Globals& globals, const std::string& line) {
  if (!globals.quiet) fmt::print(stderr, "{}\n", line);
}

void print_line(const std::string& line) {
  const std::string text = line + "\n";
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    throw InputError("standard output", "cannot be written: is the disk full?");
  }
}

void print_json(const Json& json) { print_line(json.dump(2)); }

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

}  // namespace jeffreys::cli

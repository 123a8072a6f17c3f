// A shell command with text for its standard input, and all that it writes.
#pragma once

#include <cstddef>
#include <stop_token>
#include <string>
#include <vector>

namespace jeffreys {

struct ProcessRequest {
  std::string command;                   // for /bin/sh -c
  std::vector<std::string> environment;  // "NAME=value", beside this process's own
  std::string input;
  double seconds = 0;
  // Output beyond this many lines or bytes ends the process.
  std::size_t most_lines = 0;
  std::size_t most_bytes = 0;
};

enum class ProcessEnd { exited, killed, timed_out, too_much_output, stopped };

struct ProcessResult {
  ProcessEnd end = ProcessEnd::exited;
  int code = 0;        // the exit code, or the signal that killed it
  std::string output;  // may end within a line
  std::string errors;  // the last 2 kB
};

// Feeds and reads at the same time, so that neither side waits for the other for ever. A command
// that does not read its input is no mistake. It has a process group of its own, and nothing in the
// group survives the return. Throws std::system_error if no process can be started.
ProcessResult run_process(const ProcessRequest& request, const std::stop_token& stop);

}  // namespace jeffreys

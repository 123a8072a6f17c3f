// What the commands share: global options, and how they speak to the user.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

namespace jeffreys::cli {

using Json = nlohmann::ordered_json;

// What a script can tell from how the program ended; `jeffreys --help` lists the codes.
enum class ExitCode { done = 0, failed = 1, usage = 2, bad_input = 3, diverged = 4 };

struct Globals {
  bool quiet = false;  // no progress, no summary: only results and errors
  bool json = false;   // results on stdout as one JSON object
  ExitCode exit_code = ExitCode::done;
};

// A mistake in how the program was called that the parser could not see.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// For people, on stderr; nothing with --quiet.
void say(const Globals& globals, const std::string& line);
// The result, on stdout.
void print_line(const std::string& line);
void print_json(const Json& json);

// A number that JSON can hold: NaN and infinities become null.
Json number(double value);

void add_fit(CLI::App& app, Globals& globals);
void add_sample(CLI::App& app, Globals& globals);
void add_impute(CLI::App& app, Globals& globals);
void add_log_prob(CLI::App& app, Globals& globals);
void add_evaluate(CLI::App& app, Globals& globals);
void add_inspect(CLI::App& app, Globals& globals);
void add_plot(CLI::App& app, Globals& globals);
void add_zuko(CLI::App& app, Globals& globals);
void add_demo(CLI::App& app, Globals& globals);
void add_reproduce(CLI::App& app, Globals& globals);
void add_sbi(CLI::App& app, Globals& globals);
void add_completion(CLI::App& app, Globals& globals);

}  // namespace jeffreys::cli

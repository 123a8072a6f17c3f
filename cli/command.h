// What the commands share: global options, and how they speak to the user.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <exception>
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

// Who reads standard output has seen enough (`jeffreys sample ... | head`): nothing to talk about.
class ReaderGone : public std::exception {};

// Throws what a failed write to standard output means.
[[noreturn]] void fail_output();

// On stderr, whatever becomes of it.
void tell(const std::string& text);
// For people, on stderr; nothing with --quiet.
void say(const Globals& globals, const std::string& line);
// The result, on stdout.
void print_line(const std::string& line);
void print_json(const Json& json);

// Adds --seed.
void add_seed(CLI::App& command, std::uint64_t& target, const std::string& help);
// A finite number above 0.
[[nodiscard]] CLI::Validator positive();

// A number that JSON can hold: NaN and infinities become null.
Json number(double value);

void add_fit(CLI::App& app, Globals& globals);
void add_sample(CLI::App& app, Globals& globals);
void add_impute(CLI::App& app, Globals& globals);
void add_log_prob(CLI::App& app, Globals& globals);
void add_evaluate(CLI::App& app, Globals& globals);
void add_compare(CLI::App& app, Globals& globals);
void add_inspect(CLI::App& app, Globals& globals);
void add_plot(CLI::App& app, Globals& globals);
void add_zuko(CLI::App& app, Globals& globals);
void add_demo(CLI::App& app, Globals& globals);
void add_reproduce(CLI::App& app, Globals& globals);
void add_sbi(CLI::App& app, Globals& globals);
void add_images(CLI::App& app, Globals& globals);
void add_completion(CLI::App& app, Globals& globals);

}  // namespace jeffreys::cli

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <iostream>
#include <new>

#include "cli/command.h"
#include "cli/words.h"
#include "jeffreys/base/input_error.h"
#include "jeffreys/storage/atomic_file.h"
#include "jeffreys/version.h"

namespace jeffreys::cli {
namespace {

int fail(ExitCode code, const std::string& message) {
  tell(fmt::format("jeffreys: {}\n", message));
  return static_cast<int>(code);
}

// So that the help of every command shows them.
void add_global_flags(CLI::App& app, Globals& globals) {
  app.add_flag("-q,--quiet", globals.quiet, "No progress and no summary");
  app.add_flag("--json", globals.json, "Results as JSON on standard output");
  for (CLI::App* command : app.get_subcommands({})) add_global_flags(*command, globals);
}

// An option takes one value each time that it is given: words.h writes others out.
void take_one_value_at_a_time(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (option->get_items_expected_max() > 1 && option->nonpositional()) {
      option->allow_extra_args(false);
    }
  }
  for (CLI::App* command : app.get_subcommands({})) take_one_value_at_a_time(*command);
}

void parse(CLI::App& app, int argc, char** argv) {
  std::vector<std::string> words = written_out({argv + std::min(argc, 1), argv + argc}, app);
  std::reverse(words.begin(), words.end());  // as the parser wants them
  app.parse(std::move(words));
}

int run(int argc, char** argv) {
  Globals globals;
  CLI::App app("Fits probability densities to small tables by minimising the Jeffreys divergence.",
               "jeffreys");
  app.set_version_flag("--version", std::string("jeffreys ") + kVersion);
  app.require_subcommand(1);
  app.fallthrough();
  app.footer(
      "Examples:\n"
      "  jeffreys demo                                 see what it does, in a minute\n"
      "  jeffreys fit table.csv -o table.model         fit a density\n"
      "  jeffreys log_prob table.model new.csv         score rows: low = unusual\n"
      "  jeffreys sample table.model -n 1000 -o s.csv  synthetic rows\n"
      "  jeffreys compare table.csv                    which method fits it best\n"
      "  jeffreys sbi --help                           posteriors from a simulator\n"
      "  jeffreys images --help                        densities over pictures\n"
      "  jeffreys COMMAND --help                       more about a command\n"
      "An option with several values takes them with commas (--ignore id,day), one after another\n"
      "(--ignore id day), or is given again.\n"
      "Exit codes: 0 done, 1 failed, 2 usage, 3 bad input, 4 diverged.");
  add_fit(app, globals);
  add_sample(app, globals);
  add_log_prob(app, globals);
  add_impute(app, globals);
  add_evaluate(app, globals);
  add_compare(app, globals);
  add_inspect(app, globals);
  add_plot(app, globals);
  add_zuko(app, globals);
  add_demo(app, globals);
  add_sbi(app, globals);
  add_images(app, globals);
  add_reproduce(app, globals);
  add_completion(app, globals);
  app.add_subcommand("version", "The version of this program")->callback([&globals] {
    if (globals.json) {
      print_json({{"version", kVersion}});
    } else {
      print_line(std::string("jeffreys ") + kVersion);
    }
  });
  add_global_flags(app, globals);
  take_one_value_at_a_time(app);
  try {
    parse(app, argc, argv);
    return static_cast<int>(globals.exit_code);
  } catch (const CLI::Success& success) {
    app.exit(success);
    if (!std::cout.flush())
      return fail(ExitCode::failed, "standard output cannot be written: is the disk full?");
    return static_cast<int>(ExitCode::done);
  } catch (const CLI::RequiredError& error) {
    // The parser says only that a command is missing, not that it did not know a word.
    const CLI::App* at = &app;
    int place = 1;
    for (; !at->get_subcommands().empty(); ++place) at = at->get_subcommands().front();
    const std::string word = argc > place ? argv[place] : "";
    const bool unknown = at->get_require_subcommand_min() > 0 && !word.empty() && word[0] != '-';
    return fail(ExitCode::usage,
                fmt::format("{}\nTry --help for more.",
                            unknown ? fmt::format("there is no command '{}'",
                                                  at == &app ? word : at->get_name() + " " + word)
                                    : error.what()));
  } catch (const CLI::ParseError& error) {
    return fail(ExitCode::usage, fmt::format("{}\nTry --help for more.", error.what()));
  } catch (const UsageError& error) {
    return fail(ExitCode::usage, error.what());
  } catch (const ReaderGone&) {
    return static_cast<int>(ExitCode::failed);
  } catch (const std::filesystem::filesystem_error& error) {
    return fail(ExitCode::bad_input,
                fmt::format("{}: {}", error.path1().string(), error.code().message()));
  } catch (const storage::WriteError& error) {
    return fail(ExitCode::failed, error.what());
  } catch (const InputError& error) {
    return fail(ExitCode::bad_input, error.what());
  } catch (const std::invalid_argument& error) {
    return fail(ExitCode::usage, error.what());
  } catch (const std::bad_alloc&) {
    return fail(ExitCode::failed, "out of memory");
  } catch (const std::exception& error) {
    return fail(ExitCode::failed, error.what());
  }
}

}  // namespace
}  // namespace jeffreys::cli

int main(int argc, char** argv) {
  // A reader that goes away (`jeffreys sample ... | head`) is told by the write that fails, so that
  // a fit can tidy up behind it.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return jeffreys::cli::run(argc, argv);
  } catch (...) {
    // Not even the message could be written.
    return static_cast<int>(jeffreys::cli::ExitCode::failed);
  }
}

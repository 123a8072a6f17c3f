#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/command.h"

namespace jeffreys::cli {
namespace {

std::string option_words(const CLI::App& command) {
  std::vector<std::string> words;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
    for (const std::string& name : option->get_snames()) words.push_back("-" + name);
  }
  return fmt::format("{}", fmt::join(words, " "));
}

// Made from the parser itself, so it knows every command and option.
std::string bash_script(const CLI::App& app) {
  std::vector<std::string> names;
  std::string cases;
  for (const CLI::App* command : app.get_subcommands({})) {
    names.push_back(command->get_name());
    cases += fmt::format("    {}) words=\"{} {}\" ;;\n", command->get_name(),
                         option_words(*command), option_words(app));
  }
  return fmt::format(
      "_jeffreys() {{\n"
      "  local word=\"${{COMP_WORDS[COMP_CWORD]}}\" words=\n"
      "  if ((COMP_CWORD == 1)); then\n"
      "    COMPREPLY=($(compgen -W \"{} {}\" -- \"$word\"))\n"
      "    return\n"
      "  fi\n"
      "  case ${{COMP_WORDS[1]}} in\n"
      "{}"
      "  esac\n"
      "  if [[ $word == -* ]]; then\n"
      "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
      "  else\n"
      "    COMPREPLY=($(compgen -f -- \"$word\"))\n"
      "  fi\n"
      "}}\n"
      "complete -o filenames -F _jeffreys jeffreys",
      fmt::join(names, " "), option_words(app), cases);
}

}  // namespace

void add_completion(CLI::App& app, Globals&) {
  CLI::App* command = app.add_subcommand("completion", "A script for the shell's tab key");
  auto shell = std::make_shared<std::string>("bash");
  command->add_option("shell", *shell, "bash, or zsh (which reads the same script)")
      ->check(CLI::IsMember({"bash", "zsh"}));
  command->footer("Example:\n  source <(jeffreys completion bash)");
  command->callback([&app, shell] {
    if (*shell == "zsh") print_line("autoload -U +X bashcompinit && bashcompinit");
    print_line(bash_script(app));
  });
}

}  // namespace jeffreys::cli

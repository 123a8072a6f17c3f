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

std::string names_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return fmt::format("{}", fmt::join(names, " "));
}

// A case for every command, and for every command of a group such as sbi.
std::string cases_of(const CLI::App& app, const std::string& before) {
  std::string cases;
  for (const CLI::App* command : app.get_subcommands({})) {
    const std::string name = before + command->get_name();
    if (!command->get_subcommands({}).empty()) {
      cases += fmt::format("    \"{} \") names=\"{}\" ;;\n", name, names_of(*command));
      cases += cases_of(*command, name + " ");
      continue;
    }
    cases += fmt::format("    \"{} \"*) words=\"{}\" ;;\n", name, option_words(*command));
  }
  return cases;
}

// Made from the parser itself, so it knows every command and option.
std::string bash_script(const CLI::App& app) {
  return fmt::format(
      "_jeffreys() {{\n"
      "  local word=\"${{COMP_WORDS[COMP_CWORD]}}\" words= names=\n"
      "  local line=\"${{COMP_WORDS[*]:1:COMP_CWORD-1}} \"\n"
      "  case $line in\n"
      "    \" \") names=\"{}\" words=\"{}\" ;;\n"
      "{}"
      "  esac\n"
      "  if [[ $word == -* ]]; then\n"
      "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
      "  elif [[ -n $names ]]; then\n"
      "    COMPREPLY=($(compgen -W \"$names\" -- \"$word\"))\n"
      "  else\n"
      "    COMPREPLY=($(compgen -f -- \"$word\"))\n"
      "  fi\n"
      "}}\n"
      "complete -o filenames -F _jeffreys jeffreys",
      names_of(app), option_words(app), cases_of(app, ""));
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

#include "apps/frame/completion.h"

#include <fmt/format.h>

#include "apps/frame/flags.h"
#include "assay/support/text/shell.h"
#include "assay/support/text/text.h"

namespace assay::frame {
namespace {

// "--a --b": all flags of the command.
std::string flags_of(const CLI::App& app) {
  std::string flags;
  for (const std::string& name : long_names(app)) flags += (flags.empty() ? "--" : " --") + name;
  return flags;
}

// Words for what follows a flag, and for the first position.
std::string values_of(const CLI::App& app) {
  std::string cases, first;
  for (const CLI::Option* option : app.get_options()) {
    const std::string words = shell_word(joined(words_of(*option), " "));
    if (words_of(*option).empty()) continue;
    for (const std::string& name : option->get_lnames())
      cases += fmt::format("        --{}) values={} ;;\n", name, words);
    if (option->get_positional())
      first = fmt::format("        *) [ \"$COMP_CWORD\" -ne 2 ] || values={} ;;\n", words);
  }
  cases += first;
  return cases.empty() ? "" : fmt::format("      case $before in\n{}      esac\n", cases);
}

std::string bash(const CLI::App& root) {
  std::string names, cases;
  for (const CLI::App* sub : shown_subcommands(root)) {
    names += (names.empty() ? "" : " ") + sub->get_name();
    cases += fmt::format("    {})\n      words={}\n{}      ;;\n", sub->get_name(), shell_word(flags_of(*sub)),
                         values_of(*sub));
  }
  return fmt::format(
      "_assay() {{\n"
      "  local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} words= values= "
      "IFS=$'\\n'\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    words={}\n"
      "    COMPREPLY=($(compgen -W \"${{words// /$IFS}}\" -- \"$current\"))\n"
      "    return\n"
      "  fi\n"
      "  case ${{COMP_WORDS[1]}} in\n{}  esac\n"
      "  case $current in\n"
      "    -*) values=$words ;;\n"
      "  esac\n"
      "  if [ -n \"$values\" ]; then\n"
      "    COMPREPLY=($(compgen -W \"${{values// /$IFS}}\" -- \"$current\"))\n"
      "  else\n"
      "    COMPREPLY=($(compgen -f -- \"$current\"))\n"
      "  fi\n"
      "}}\n"
      "complete -o filenames -F _assay assay\n",
      shell_word(names + " --help --version"), cases);
}

std::string fish(const CLI::App& root) {
  std::string script;
  for (const CLI::App* sub : shown_subcommands(root)) {
    script += fmt::format("complete -c assay -n __fish_use_subcommand -f -a {} -d {}\n", sub->get_name(),
                          shell_word(sub->get_description()));
    for (const CLI::Option* option : sub->get_options()) {
      for (const std::string& name : option->get_lnames()) {
        const std::string words = joined(words_of(*option), " ");
        script += fmt::format("complete -c assay -n '__fish_seen_subcommand_from {}' -l {} -d {}{}\n",
                              sub->get_name(), name, shell_word(option->get_description()),
                              words.empty() ? std::string() : fmt::format(" -x -a {}", shell_word(words)));
      }
    }
  }
  return script;
}

}  // namespace

std::vector<const CLI::App*> shown_subcommands(const CLI::App& root) {
  return root.get_subcommands([](const CLI::App* command) { return !command->get_group().empty(); });
}

std::string completion_script(const CLI::App& root, const std::string& shell) {
  if (shell == "fish") return fish(root);
  // zsh runs bash completions through its own bridge.
  if (shell == "zsh") return "autoload -U +X bashcompinit && bashcompinit\n" + bash(root);
  return bash(root);
}

}  // namespace assay::frame

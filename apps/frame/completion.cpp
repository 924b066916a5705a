#include "apps/frame/completion.h"

#include <fmt/format.h>

#include <set>

#include "apps/frame/flags.h"
#include "assay/support/text/shell.h"
#include "assay/support/text/text.h"

namespace assay::frame {
namespace {

// "--a --b": all flags of the command.
std::string flags_of(const CLI::App& app) {
  std::string flags;
  for (const CLI::Option* option : app.get_options()) {
    if (is_idle(*option)) continue;
    for (const std::string& name : option->get_lnames()) flags += (flags.empty() ? "--" : " --") + name;
  }
  return flags;
}

// Endings of file names that fit, "/" of folders alone; none: any file.
std::string endings_of(const CLI::Option& option) {
  constexpr std::string_view folder = "FOLDER", file = "FILE.";
  const std::string whole = option.get_type_name(), type = whole.substr(0, whole.find(':'));
  if (type.starts_with(folder)) return "/";
  switch (files_of(option)) {
    case Concept::network:
    case Concept::other_network:
      return ".onnx .keras .h5";
    case Concept::training_data:
    case Concept::test_data:
    case Concept::data:
      return ".npz .npy .csv .tsv .txt .bin .gz .bz2 .xz .zst .tar .tgz .zip -ubyte";
    case Concept::document:
      return ".json";
    default:
      return type.starts_with(file) ? type.substr(file.size() - 1) : "";
  }
}

// Those of all that may stand without a flag; none where one of these takes any file.
std::string endings_of_positions(const CLI::App& app) {
  std::set<std::string> all;
  for (const CLI::Option* option : app.get_options()) {
    const std::string endings = endings_of(*option);
    if (!option->get_positional() || !words_of(*option).empty()) continue;
    if (endings.empty()) return "";
    all.merge(std::set<std::string>{endings});
  }
  return joined(std::vector<std::string>(all.begin(), all.end()), " ");
}

// What follows a flag, and what stands without one.
std::string values_of(const CLI::App& app) {
  std::string cases, first, any;
  for (const CLI::Option* option : app.get_options()) {
    if (is_switch(*option) || is_idle(*option)) continue;
    const std::string words = joined(words_of(*option), " "), endings = endings_of(*option);
    const std::string set = !words.empty()     ? "values=" + shell_word(words)
                            : !endings.empty() ? "endings=" + shell_word(endings)
                                               : "";
    for (const std::string& name : option->get_lnames()) {
      if (set.empty())
        any += (any.empty() ? "--" : "|--") + name;
      else
        cases += fmt::format("        --{}) {} ;;\n", name, set);
    }
    if (option->get_positional() && !words.empty())
      first = fmt::format(" [ \"$COMP_CWORD\" -ne 2 ] || values={};", shell_word(words));
  }
  if (!any.empty()) cases += fmt::format("        {}) ;;\n", any);
  cases += fmt::format("        *) endings={};{} ;;\n", shell_word(endings_of_positions(app)), first);
  return fmt::format("      case $before in\n{}      esac\n", cases);
}

std::string bash(const CLI::App& root) {
  std::string names, cases;
  for (const CLI::App* sub : shown_subcommands(root)) {
    names += (names.empty() ? "" : " ") + sub->get_name();
    cases += fmt::format("    {})\n      words={}\n{}      ;;\n", sub->get_name(), shell_word(flags_of(*sub)),
                         values_of(*sub));
  }
  return fmt::format(
      "_assay_files() {{\n"
      "  local ending IFS=$'\\n'\n"
      "  compgen -d -- \"$1\"\n"
      "  for ending in ${{2// /$IFS}}; do\n"
      "    [ \"$ending\" = / ] || compgen -f -X \"!*$ending\" -- \"$1\"\n"
      "  done\n"
      "}}\n"
      "_assay() {{\n"
      "  local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} words= values= "
      "endings= IFS=$'\\n'\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    words={}\n"
      "    COMPREPLY=($(compgen -W \"${{words// /$IFS}}\" -- \"$current\"))\n"
      "    return\n"
      "  fi\n"
      "  case ${{COMP_WORDS[1]}} in\n{}  esac\n"
      "  case $current in\n"
      "    -*) values=$words ;;\n"
      "  esac\n"
      "  COMPREPLY=()\n"
      "  if [ -n \"$values\" ]; then\n"
      "    COMPREPLY=($(compgen -W \"${{values// /$IFS}}\" -- \"$current\"))\n"
      "    return\n"
      "  fi\n"
      "  [ -z \"$endings\" ] || COMPREPLY=($(_assay_files \"$current\" \"$endings\"))\n"
      "  [ \"${{#COMPREPLY[@]}}\" -gt 0 ] || COMPREPLY=($(compgen -f -- \"$current\"))\n"
      "}}\n"
      "complete -o filenames -F _assay assay\n",
      shell_word(names + " --help --version"), cases);
}

// " -r -k -a '(...)'" of what follows a flag or stands without one.
std::string fish_values(const std::vector<std::string>& words, const std::string& endings) {
  if (!words.empty()) return " -x -a " + shell_word(joined(words, " "));
  if (endings == "/") return " -x -a '(__fish_complete_directories)'";
  return endings.empty() ? "" : fmt::format(" -r -k -a '(__fish_complete_suffix {})'", endings);
}

std::string fish(const CLI::App& root) {
  std::string script;
  for (const CLI::App* sub : shown_subcommands(root)) {
    script += fmt::format("complete -c assay -n __fish_use_subcommand -f -a {} -d {}\n", sub->get_name(),
                          shell_word(sub->get_description()));
    const std::string start =
        fmt::format("complete -c assay -n '__fish_seen_subcommand_from {}'", sub->get_name());
    for (const CLI::Option* option : sub->get_options()) {
      if (is_idle(*option)) continue;
      for (const std::string& name : option->get_lnames())
        script += fmt::format("{} -l {} -d {}{}\n", start, name, shell_word(option->get_description()),
                              fish_values(words_of(*option), endings_of(*option)));
    }
    const std::string positions = fish_values({}, endings_of_positions(*sub));
    if (!positions.empty()) script += start + positions + "\n";
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

#include "apps/frame/words.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/frame/flags.h"
#include "assay/support/ascii.h"
#include "assay/support/text/text.h"

namespace assay::frame {
namespace {

// "out" of --out=FILE; empty if it is not a flag.
std::string flag_in(const std::string& argument) {
  return argument.starts_with("--") ? argument.substr(2, argument.find('=') - 2) : "";
}

// "-x".
bool is_short_flag(std::string_view argument) {
  return argument.size() == 2 && argument[0] == '-' && is_letter(argument[1]);
}

// Without those that have no effect on the command.
std::vector<std::string> names_to_suggest(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    if (!is_idle(*option))
      names.insert(names.end(), option->get_lnames().begin(), option->get_lnames().end());
  }
  return names;
}

}  // namespace

std::optional<std::string> new_word(const Words& words, std::string_view command, std::string_view flag) {
  for (const OldWord& word : words.old) {
    if (word.command == command && word.before == flag) return std::string(word.now);
  }
  return std::nullopt;
}

std::vector<std::string> with_new_words(const Words& words, std::vector<std::string> arguments,
                                        const std::function<void(const std::string&)>& notice) {
  if (arguments.empty()) return arguments;
  const std::string command = arguments[0];
  for (std::string& argument : arguments) {
    if (argument == "--") break;
    const std::string flag = flag_in(argument);
    const auto now = new_word(words, command, flag);
    if (!now) continue;
    notice(fmt::format("--{} of `assay {}` is now called --{}", flag, command, *now));
    argument.replace(0, 2 + flag.size(), "--" + *now);
  }
  return arguments;
}

std::string unknown_flag(const Words& words, const CLI::App& command,
                         const std::vector<std::string>& arguments) {
  const std::vector<std::string> known = long_names(command);
  const auto is_known = [&](std::string_view name) { return std::ranges::find(known, name) != known.end(); };
  const std::string under = command.get_parent() == nullptr ? "" : command.get_parent()->get_name() + " ";
  for (const std::string& argument : arguments) {
    if (argument == "--") break;
    if (is_short_flag(argument) && command.get_option_no_throw(argument) == nullptr)
      return fmt::format("`{}{}` has no flag '{}'", under, command.get_name(), argument);
    const std::string flag = flag_in(argument);
    if (!argument.starts_with("--") || is_known(flag)) continue;
    std::string nearest = nearest_name(flag, names_to_suggest(command));
    if (std::ranges::find(words.alike, flag) != words.alike.end()) {
      const auto other = std::ranges::find_if(words.alike, is_known);
      if (other != words.alike.end()) nearest = *other;
    }
    return fmt::format("`{}{}` has no flag '--{}'{}", under, command.get_name(), flag,
                       nearest.empty() ? "" : fmt::format("; did you mean '--{}'?", nearest));
  }
  return {};
}

}  // namespace assay::frame

#include "apps/assay/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "assay/support/text.h"

namespace assay::app {
namespace {

struct OldWord {
  std::string_view command, before, now;
};

// --out: what a command is run for; --out-dir and --made-dir: folders for what comes with it; --train,
// --test: records of these kinds; --data: records of any kind.
constexpr std::array<OldWord, 7> old_words{{
    {"attack", "output", "out"},
    {"explore", "output", "out"},
    {"explore", "training", "train"},
    {"cover", "extensions", "made-dir"},
    {"retrain", "made", "made-dir"},
    {"retrain", "data", "train"},
    {"polluted", "output", "out-dir"},
}};

constexpr std::array<std::string_view, 3> record_words{"data", "test", "train"};

}  // namespace

std::optional<std::string> new_word(std::string_view command, std::string_view flag) {
  for (const OldWord& word : old_words) {
    if (word.command == command && word.before == flag) return std::string(word.now);
  }
  return std::nullopt;
}

std::vector<std::string> with_new_words(std::vector<std::string> arguments,
                                        const std::function<void(const std::string&)>& notice) {
  if (arguments.empty()) return arguments;
  const std::string command = arguments[0];
  for (std::string& argument : arguments) {
    if (argument == "--") break;
    if (!argument.starts_with("--")) continue;
    const std::size_t equals = std::min(argument.find_first_of("="), argument.size());
    const std::string flag = argument.substr(2, equals - 2);
    const auto now = new_word(command, flag);
    if (!now) continue;
    notice(fmt::format("--{} of `assay {}` is now called --{}", flag, command, *now));
    argument = fmt::format("--{}{}", *now, argument.substr(equals));
  }
  return arguments;
}

std::string flag_suggestion(const CLI::App& command, const std::vector<std::string>& arguments) {
  std::vector<std::string> known;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back(name);
  }
  const auto is_known = [&](std::string_view name) { return std::ranges::find(known, name) != known.end(); };
  for (const std::string& argument : arguments) {
    if (argument == "--") break;
    if (!argument.starts_with("--")) continue;
    const std::string flag = argument.substr(2, argument.find('=') - 2);
    if (is_known(flag)) continue;
    std::string nearest = nearest_name(flag, known);
    // Who names records by another of these words means records.
    if (std::ranges::find(record_words, flag) != record_words.end()) {
      const auto other = std::ranges::find_if(record_words, is_known);
      if (other != record_words.end()) nearest = *other;
    }
    return nearest.empty() ? "" : fmt::format("; did you mean '--{}'?", nearest);
  }
  return {};
}

}  // namespace assay::app

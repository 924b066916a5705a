#pragma once

// Names from earlier versions, which are still understood, and suggestions for unknown words.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

namespace assay::frame {

// A flag of a command that had another name before.
struct OldWord {
  std::string_view command, before, now;
};

// Words of flags.
struct Words {
  std::span<const OldWord> old = {};
  std::span<const std::string_view> alike = {};  // who uses one of them means one of the others
};

// What the flag is called now that `command` had under another name; nothing for words that are in use.
std::optional<std::string> new_word(const Words& words, std::string_view command, std::string_view flag);

// Arguments with the words in use; `notice` is told of each that was replaced.
std::vector<std::string> with_new_words(const Words& words, std::vector<std::string> arguments,
                                        const std::function<void(const std::string&)>& notice);

// "`assay cover` has no flag '--modle'; did you mean '--model'?" of the first argument that looks like a flag
// of `command` and is none; empty where all are.
std::string unknown_flag(const Words& words, const CLI::App& command,
                         const std::vector<std::string>& arguments);

}  // namespace assay::frame

#pragma once

// One vocabulary of flags (docs/configuration.md), and the words of earlier programs, which are still
// understood.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

namespace assay::app {

// What the flag is called now that `command` had under another name; nothing for words that are in use.
std::optional<std::string> new_word(std::string_view command, std::string_view flag);

// Arguments with the words in use; `notice` is told of each that was replaced.
std::vector<std::string> with_new_words(std::vector<std::string> arguments,
                                        const std::function<void(const std::string&)>& notice);

// "; did you mean '--model'?" for the first argument that looks like a flag of `command` and is none.
std::string flag_suggestion(const CLI::App& command, const std::vector<std::string>& arguments);

}  // namespace assay::app

#pragma once

// What all commands have in common, from the command line as from a program: flags, outputs tried before work
// begins, and what every result rests on.

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "apps/assay/command.h"

namespace assay::app {

void declare_common(CLI::App& app, Settings& settings);

// What an option is when it is not given, as text. Nothing for lists without elements, which CLI11 writes as
// "[]" or, from 2.4 on, as "{}".
std::string fallback_of(const CLI::Option& option);

// What the error says, without bounds that are as long as the greatest number.
std::string message_of(const CLI::Error& error);

// What alone the option takes, where that is a list of words.
std::vector<std::string> words_of(const CLI::Option& option);

// The command's document, with its name and what it rests on. `command` has its flags and their values.
report::Document answer(const CLI::App& sub, Command& command, const Settings& settings, Progress& progress);

}  // namespace assay::app

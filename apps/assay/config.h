#pragma once

// assay.toml: every flag can stand in the file under its own name, without the dashes, either at the top (for
// all subcommands that have the flag) or in a table named after the subcommand. The command line wins.

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

namespace assay::app {

// Gives an option its values as text, as if it had been typed. `place`: where they come from, for messages
// ("assay.toml:3", "`assay cover`"). Throws Error{usage} for values that it does not take.
void give_values(CLI::Option& option, std::vector<std::string> values, const std::string& place);

// Gives the values in the file to those options of `command` that the command line left unset. `root` holds
// all subcommands, to recognise names. Throws Error{usage} with file and line for unknown names (and the
// nearest known one) and wrong types.
void apply_config(const std::filesystem::path& file, CLI::App& root, CLI::App& command);

}  // namespace assay::app

#pragma once

// assay.toml: every flag can stand in the file under its own name, without the dashes, either at the top (for
// all subcommands that have the flag) or in a table named after the subcommand. The command line wins.

#include <CLI/CLI.hpp>
#include <filesystem>

#include "apps/frame/words.h"

namespace assay::frame {

// Gives the values in the file to those options of `command` that the command line left unset. `root` holds
// all subcommands, to recognise names. Throws Error{usage} with file and line for unknown names (and the
// nearest known one) and wrong types.
void apply_config(const std::filesystem::path& file, const Words& words, CLI::App& root, CLI::App& command);

}  // namespace assay::frame

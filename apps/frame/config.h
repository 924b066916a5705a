#pragma once

// assay.toml: every flag can stand in the file under its own name, without the dashes, either at the top (for
// all subcommands that have the flag) or in a table named after the subcommand. The command line takes
// precedence.

#include <CLI/CLI.hpp>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "apps/frame/words.h"

namespace assay::frame {

// Options whose values come from a configuration file, and where they stand there: "assay.toml:3".
using Configured = std::map<const CLI::Option*, std::string>;

// Gives the values in the file to those options of `command` that the command line left unset. `root` holds
// all subcommands, to recognise names. Throws Error{usage} with file and line for unknown names (and the
// nearest known one), wrong types, and what stands on the command line only. `tables`: further ones, in which
// commands read what no flag says.
Configured apply_config(const std::filesystem::path& file, const Words& words,
                        std::span<const std::string_view> tables, CLI::App& root, CLI::App& command);

}  // namespace assay::frame

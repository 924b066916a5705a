#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace assay::app {

// A completion script for "bash", "zsh" or "fish": subcommands, then the flags of the subcommand, else files.
std::string completion_script(const CLI::App& root, const std::string& shell);

}  // namespace assay::app

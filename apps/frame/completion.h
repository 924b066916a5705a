#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace assay::frame {

// The subcommands that --help lists, in its order.
std::vector<const CLI::App*> shown_subcommands(const CLI::App& root);

// A completion script for "bash", "zsh" or "fish": subcommands, then the flags of the subcommand, else files.
std::string completion_script(const CLI::App& root, const std::string& shell);

}  // namespace assay::frame

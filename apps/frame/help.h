#pragma once

// Pages of --help: a command's own flags; --help-all shows those that all commands have, too.

#include <memory>

#include <CLI/CLI.hpp>

namespace assay::frame {

// Groups of flags that every command has.
inline constexpr const char *common_group = "Common", *outputs_group = "Outputs";

std::shared_ptr<CLI::FormatterBase> make_help_formatter();

}  // namespace assay::frame

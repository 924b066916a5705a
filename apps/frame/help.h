#pragma once

// Pages of --help: a command's own flags; --help-all shows those that all commands have as well.

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include "apps/frame/command.h"

namespace assay::frame {

// Groups of flags that every command has.
inline constexpr const char *common_group = "Common", *outputs_group = "Outputs";

// Commands of one group.
struct HelpGroup {
  Group group;
  std::vector<std::string_view> commands;
};
// In the order of their first commands; none where no command has a group.
std::vector<HelpGroup> groups_of(std::span<const CommandInfo> commands);

// The list of commands has a line for each, with as much of its summary as fits; without groups all of it.
// `width`: of the terminal, whose lines texts of flags are cut to; 0: they stay whole.
std::shared_ptr<CLI::FormatterBase> make_help_formatter(std::vector<HelpGroup> groups = {},
                                                        std::size_t width = 0);

}  // namespace assay::frame

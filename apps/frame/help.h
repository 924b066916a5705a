#pragma once

// Pages of --help: a command's own flags; --help-all shows those that all commands have as well.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

namespace assay::frame {

// Groups of flags that every command has.
inline constexpr const char *common_group = "Common", *outputs_group = "Outputs";

// Commands that stand together in the list of all.
struct HelpGroup {
  std::string title;
  std::vector<std::string_view> commands;
  bool one_line = false;  // their names alone, where the title says what they are
};

// The list of commands has a line for each, with as much of its summary as fits; without groups all of it.
std::shared_ptr<CLI::FormatterBase> make_help_formatter(std::vector<HelpGroup> groups = {});

}  // namespace assay::frame

#pragma once

#include <span>

#include "apps/assay/command.h"

namespace assay::app {

// All subcommands in the order of --help.
std::span<const CommandInfo> commands();

}  // namespace assay::app

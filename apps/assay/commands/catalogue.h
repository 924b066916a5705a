#pragma once

#include "apps/assay/command.h"

namespace assay::app {

// One function per subcommand, defined in the file of that name.
CommandInfo evaluate_command();
CommandInfo model_command();

}  // namespace assay::app

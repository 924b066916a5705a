#pragma once

#include "assay/evidence/step_commands.h"

namespace assay::app {

// The program's commands as studies and packs know them, for evidence::declare_commands().
evidence::StepCommands step_commands();

}  // namespace assay::app

#pragma once

#include <span>

#include "apps/assay/command.h"

namespace assay::app {

// All subcommands in the order of --help: one file next to this, one line below and one in catalogue.cpp
// each.
std::span<const CommandInfo> commands();

// One function per subcommand, defined in the file of that name.
CommandInfo attack_command();
CommandInfo attacks_command();
CommandInfo bounds_command();
CommandInfo robust_command();
CommandInfo evidence_command();
CommandInfo explore_command();
CommandInfo constraints_command();
CommandInfo audit_command();
CommandInfo cover_command();
CommandInfo criteria_command();
CommandInfo combine_command();
CommandInfo diff_command();
CommandInfo data_command();
CommandInfo demo_command();
CommandInfo evaluate_command();
CommandInfo hypotheses_command();
CommandInfo tasks_command();
CommandInfo faithful_command();
CommandInfo history_command();
CommandInfo importance_command();
CommandInfo inspect_command();
CommandInfo measures_command();
CommandInfo model_command();
CommandInfo monitor_command();
CommandInfo mutate_command();
CommandInfo open_command();
CommandInfo patch_command();
CommandInfo operators_command();
CommandInfo polluted_command();
CommandInfo prune_command();
CommandInfo reliability_command();
CommandInfo report_command();
CommandInfo retrain_command();
CommandInfo select_command();
CommandInfo selftest_command();
CommandInfo train_command();
CommandInfo verify_command();

}  // namespace assay::app

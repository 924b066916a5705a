#include "apps/assay/commands/catalogue.h"

#include <vector>

namespace assay::app {

std::span<const CommandInfo> commands() {
  static const std::vector<CommandInfo> all{
      model_command(),      demo_command(),   data_command(),     train_command(),       evaluate_command(),
      importance_command(), cover_command(),  criteria_command(), mutate_command(),      operators_command(),
      combine_command(),    diff_command(),   select_command(),   audit_command(),       attack_command(),
      attacks_command(),    robust_command(), explore_command(),  constraints_command(), inspect_command(),
      hypotheses_command(), tasks_command(),  measures_command(), prune_command(),       retrain_command(),
      polluted_command(),   report_command(), evidence_command(), verify_command(),
  };
  return all;
}

std::vector<frame::HelpGroup> help_groups() {
  return {{"Begin", {"demo", "model", "data", "train", "evaluate"}},
          {"Test", {"cover", "mutate", "audit", "select", "combine", "diff"}},
          {"Break", {"attack", "robust", "explore", "retrain", "polluted"}},
          {"Explain", {"importance", "inspect", "prune"}},
          {"Report", {"report", "evidence", "verify"}},
          {"Look up",
           {"criteria", "operators", "attacks", "constraints", "hypotheses", "measures", "tasks"},
           true}};
}

}  // namespace assay::app

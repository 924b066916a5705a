#include "apps/assay/commands/catalogue.h"

#include <vector>

namespace assay::app {

std::span<const CommandInfo> commands() {
  static const std::vector<CommandInfo> all{
      demo_command(),     model_command(),       data_command(),       train_command(),
      evaluate_command(), cover_command(),       mutate_command(),     audit_command(),
      select_command(),   combine_command(),     diff_command(),       history_command(),
      open_command(),     attack_command(),      robust_command(),     explore_command(),
      retrain_command(),  polluted_command(),    importance_command(), inspect_command(),
      patch_command(),    prune_command(),       bounds_command(),     reliability_command(),
      monitor_command(),  faithful_command(),    selftest_command(),   report_command(),
      evidence_command(), verify_command(),      criteria_command(),   operators_command(),
      attacks_command(),  constraints_command(), hypotheses_command(), measures_command(),
      tasks_command(),
  };
  return all;
}

}  // namespace assay::app

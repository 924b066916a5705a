#include "apps/assay/commands/catalogue.h"

#include <vector>

namespace assay::app {

// One line for each, in the order of --help: NAME_command() is defined in a file next to this.
#define ASSAY_COMMANDS(X) \
  X(demo)                 \
  X(model)                \
  X(data)                 \
  X(train)                \
  X(evaluate)             \
  X(cover)                \
  X(mutate)               \
  X(audit)                \
  X(select)               \
  X(combine)              \
  X(diff)                 \
  X(history)              \
  X(open)                 \
  X(attack)               \
  X(robust)               \
  X(explore)              \
  X(retrain)              \
  X(polluted)             \
  X(importance)           \
  X(inspect)              \
  X(patch)                \
  X(prune)                \
  X(bounds)               \
  X(reliability)          \
  X(monitor)              \
  X(faithful)             \
  X(selftest)             \
  X(report)               \
  X(evidence)             \
  X(verify)               \
  X(criteria)             \
  X(operators)            \
  X(attacks)              \
  X(constraints)          \
  X(hypotheses)           \
  X(measures)             \
  X(tasks)

#define DECLARE(name) CommandInfo name##_command();
ASSAY_COMMANDS(DECLARE)
#undef DECLARE
#define LIST(name) name##_command(),

std::span<const CommandInfo> commands() {
  static const std::vector<CommandInfo> all{ASSAY_COMMANDS(LIST)};
  return all;
}
#undef LIST

}  // namespace assay::app

#include "apps/assay/commands/catalogue.h"

#include <vector>

namespace assay::app {

std::span<const CommandInfo> commands() {
  static const std::vector<CommandInfo> all{
      model_command(),
      evaluate_command(),
  };
  return all;
}

}  // namespace assay::app

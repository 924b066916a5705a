#include "assay/evidence/step_commands.h"

namespace assay::evidence {

std::map<std::string, StepCommand>& step_commands() {
  static std::map<std::string, StepCommand> all;
  return all;
}

const StepCommand& step_command(const std::string& name) {
  static const StepCommand none;
  const auto found = step_commands().find(name);
  return found == step_commands().end() ? none : found->second;
}

const StepFlag* step_flag(const std::string& command, const std::string& flag) {
  const auto& flags = step_command(command).flags;
  const auto found = flags.find(flag);
  return found == flags.end() ? nullptr : &found->second;
}

bool is_made(const StepFlag& flag, bool learns) {
  return flag.written && (learns || flag.files != "profile");
}

}  // namespace assay::evidence

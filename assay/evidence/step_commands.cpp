#include "assay/evidence/step_commands.h"

#include <utility>

namespace assay::evidence {
namespace {

StepCommands& declared() {
  static StepCommands all;
  return all;
}

}  // namespace

void declare_commands(StepCommands commands) { declared() = std::move(commands); }

const StepCommands& step_commands() { return declared(); }

const StepCommand& step_command(const std::string& name) {
  static const StepCommand none;
  const auto found = declared().find(name);
  return found == declared().end() ? none : found->second;
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

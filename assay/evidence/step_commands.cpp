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

bool is_idle(const std::string& command, const std::string& flag) {
  const StepFlag* const known = step_flag(command, flag);
  return known != nullptr && known->idle;
}

std::vector<std::string> without_idle(const std::vector<std::string>& typed) {
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < typed.size(); ++i) {
    const std::size_t equals = typed[i].find('=');
    const StepFlag* const flag =
        typed[i].starts_with("--") ? step_flag(typed[0], typed[i].substr(2, equals - 2)) : nullptr;
    if (flag == nullptr || !flag->idle)
      kept.push_back(typed[i]);
    else if (!flag->is_switch && equals == std::string::npos)
      ++i;  // its value
  }
  return kept;
}

bool is_made(const StepFlag& flag, bool learns) {
  return flag.written && (learns || flag.files != "profile");
}

}  // namespace assay::evidence

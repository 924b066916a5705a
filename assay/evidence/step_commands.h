#pragma once

// What studies and packs know of the program's commands. Those declare it with their flags, and who has
// them puts it here (declare_step_commands() of the program).

#include <map>
#include <string>
#include <vector>

namespace assay::evidence {

struct StepFlag {
  std::string files =
      {};  // what the files are that it names: "network", "training data", "input"; empty: it names none
  bool written = false;     // its files are made; a profile only where it is learned
  bool acts = false;        // runs code, or writes and removes what no flag names
  bool of_the_run = false;  // says how a result is told and kept, and changes nothing of it
  bool idle = false;        // has no effect on this command
  bool is_switch = false;
  bool repeated() const { return !acts && !of_the_run; }
};

struct StepCommand {
  bool measures = false;                  // and does nothing else, so that it may be run again
  std::map<std::string, StepFlag> flags;  // by names without dashes, short ones, too; "": what has no name
};

std::map<std::string, StepCommand>& step_commands();
// Of a command that is not known: one without flags. Of a flag that is not known: null.
const StepCommand& step_command(const std::string& name);
const StepFlag* step_flag(const std::string& command, const std::string& flag);

// Whether a flag that all commands have is not for this one.
bool is_idle(const std::string& command, const std::string& flag);
// What was typed, command first, without such flags: earlier versions gave them to every step.
std::vector<std::string> without_idle(const std::vector<std::string>& typed);

// `learns`: the command has training data, so that it writes its profile.
bool is_made(const StepFlag& flag, bool learns);

}  // namespace assay::evidence

#include "apps/assay/step_commands.h"

#include "apps/assay/command.h"
#include "apps/assay/program.h"

namespace assay::app {
namespace {

// What a study is not about is an input.
std::string role_of(Concept files) {
  const bool other = files == Concept::other_network || files == Concept::document;
  return std::string(frame::to_string(other ? Concept::input : files));
}

evidence::StepFlag step_flag(const CLI::Option& option) {
  return {.files = role_of(frame::files_of(option)),
          .written = frame::is_written(option),
          .acts = frame::acts(option),
          .of_the_run = frame::is_of_the_run(option)};
}

evidence::StepCommand step_command(const frame::CommandInfo& info) {
  evidence::StepCommand command{info.measures, {}};
  const frame::Posed posed(info);
  for (const CLI::Option* option : posed.flags.get_options()) {
    std::vector<std::string> names = option->get_lnames();
    names.insert(names.end(), option->get_snames().begin(), option->get_snames().end());
    if (names.empty()) names.emplace_back();
    for (const std::string& name : names) command.flags.emplace(name, step_flag(*option));
  }
  return command;
}

}  // namespace

evidence::StepCommands step_commands() {
  evidence::StepCommands all;
  for (const frame::CommandInfo& info : program().commands) all.emplace(info.name, step_command(info));
  return all;
}

}  // namespace assay::app

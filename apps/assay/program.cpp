#include "apps/assay/program.h"

#include <fmt/format.h>

#include <assay/extend/plugin.h>
#include <assay/session.h>
#include "apps/assay/commands/catalogue.h"
#include "assay/evidence/approvals.h"
#include "assay/evidence/step_commands.h"
#include "assay/results/folder.h"
#include "assay/support/memory.h"

namespace assay::frame {

std::vector<std::pair<std::string, std::string>> component_versions() {
  return {{"assay", ASSAY_VERSION},
          {"protobuf", ASSAY_PROTOBUF_VERSION},
          {"hdf5", ASSAY_HDF5_VERSION},
          {"compiler", ASSAY_COMPILER}};
}

}  // namespace assay::frame

namespace assay::app {
namespace {

// --out: what a command is run for; --out-dir and --made-dir: folders for what comes with it; --train,
// --test: records of these kinds; --data: records of any kind.
constexpr std::array<frame::OldWord, 7> old_words{{
    {"attack", "output", "out"},
    {"explore", "output", "out"},
    {"explore", "training", "train"},
    {"cover", "extensions", "made-dir"},
    {"retrain", "made", "made-dir"},
    {"retrain", "data", "train"},
    {"polluted", "output", "out-dir"},
}};
constexpr std::array<std::string_view, 3> record_words{"data", "test", "train"};
// Of the configuration file.
constexpr std::array<std::string_view, 1> further_tables{evidence::approval_table_name};

// What a study is not about is an input.
std::string role_of(frame::Concept files) {
  const bool other = files == frame::Concept::other_network || files == frame::Concept::document;
  return std::string(frame::to_string(other ? frame::Concept::input : files));
}

evidence::StepCommand step_command(const frame::CommandInfo& info) {
  evidence::StepCommand command{info.measures, {}};
  const frame::Posed posed(info);
  for (const CLI::Option* option : posed.flags.get_options()) {
    std::vector<std::string> names = option->get_lnames();
    names.insert(names.end(), option->get_snames().begin(), option->get_snames().end());
    if (names.empty()) names.emplace_back();
    for (const std::string& name : names)
      command.flags[name] = {
          role_of(frame::files_of(*option)), frame::is_written(*option), frame::acts(*option),
          frame::is_of_the_run(*option),     frame::is_idle(*option),    frame::is_switch(*option)};
  }
  return command;
}

void prepare_machine(const Settings& settings) {
  keep_freed_memory();
  set_memory_limit(settings.memory_limit());
}

}  // namespace

std::vector<std::pair<std::string, std::string>> pack_versions() {
  std::vector<std::pair<std::string, std::string>> versions = frame::component_versions();
  versions.insert(versions.begin() + 1, {"commit", commit()});
  return versions;
}

void declare_step_commands() {
  for (const frame::CommandInfo& info : commands())
    evidence::step_commands().emplace(info.name, step_command(info));
}

const frame::Program& program() {
  static const frame::Program all{
      .name = "assay",
      .summary = "Assay: white-box testing for deep-learning models.",
      .closing = "`assay help COMMAND`: flags and examples; `assay completion bash`; `assay -V`",
      .commands = commands(),
      .words = {old_words, record_words},
      .tables = further_tables,
      .load_plugin = [](const std::string& file) { plugin::load(file); },
      .prepare = prepare_machine,
      .about_model = results::folder_provenance,
      .versions = frame::component_versions(),
      .commit = commit()};
  return all;
}

}  // namespace assay::app

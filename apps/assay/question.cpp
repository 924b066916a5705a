#include <assay/extend/question.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <set>

#include <assay/dataset.h>
#include <assay/error.h>
#include <assay/model.h>
#include "apps/assay/command.h"
#include "apps/assay/config.h"
#include "apps/assay/flag_names.h"
#include "apps/assay/frame.h"
#include "assay/support/process.h"
#include "assay/support/text.h"

namespace assay {
namespace {

// Of a terminal and of how the program is started, not of the question.
bool is_of_the_program(const std::string& flag) {
  static const std::array<std::string_view, 6> names{"help", "json", "config", "plugin", "quiet", "strict"};
  return std::ranges::find(names, flag) != names.end() || report::renderers().contains(flag);
}

// "count-layer" of --count-layer, "states" of what stands without dashes.
std::string name_of(const CLI::Option& option) {
  return option.get_lnames().empty() ? option.get_name() : option.get_lnames().front();
}

// A command with its flags, before any has a value.
struct Posed {
  explicit Posed(const app::CommandInfo& info)
      : flags(std::string(info.summary), std::string(info.name)), command(info.make()) {
    flags.option_defaults()->always_capture_default();
    command->declare(flags);
    own = flags.get_options().size();
    app::declare_common(flags, settings);
  }

  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const CLI::Option* option : flags.get_options()) {
      if (!is_of_the_program(name_of(*option))) all.push_back(name_of(*option));
    }
    return all;
  }

  app::Settings settings;
  CLI::App flags;
  std::unique_ptr<app::Command> command;
  std::size_t own = 0;  // the options from here on are common
};

QuestionFlag described(const CLI::Option& option) {
  QuestionFlag flag{name_of(option), option.get_description(), {}, {}};
  flag.is_switch = option.get_expected_max() == 0;
  flag.repeats = option.get_expected_max() > 1;
  if (flag.is_switch) return flag;
  flag.type = option.get_type_name().substr(0, option.get_type_name().find(':'));
  flag.words = app::words_of(option);
  flag.fallback = app::fallback_of(option);
  return flag;
}

const app::CommandInfo& command_named(const std::string& name) {
  std::vector<std::string> names;
  for (const app::CommandInfo& info : app::commands()) {
    if (info.name == name) return info;
    names.emplace_back(info.name);
  }
  fail(Fault::usage, "no subcommand is named '{}'{}", name, did_you_mean(name, names));
}

void give_flags(const Question& question, Posed& posed) {
  std::set<std::string> given;
  for (const auto& [name, values] : question.flags) {
    CLI::Option* const option = posed.flags.get_option_no_throw("--" + name) != nullptr
                                    ? posed.flags.get_option_no_throw("--" + name)
                                    : posed.flags.get_option_no_throw(name);
    if (option == nullptr || is_of_the_program(name))
      fail(Fault::usage, "`assay {}` has no flag '--{}'{}", question.command, name,
           did_you_mean(name, posed.names()));
    if (!given.insert(name_of(*option)).second)
      fail(Fault::usage, "`assay {}`: --{} is given twice", question.command, name);
    app::give_values(*option, values.empty() ? std::vector<std::string>{"true"} : values,
                     "`assay " + question.command + "`");
  }
}

// Clears what an earlier question, which ended before it looked, has left.
void forget_interrupt() {
  try {
    check_interrupt();
  } catch (const Error&) {
    // Meant for that one.
  }
}

}  // namespace

std::vector<QuestionCommand> question_commands() {
  std::vector<QuestionCommand> all;
  for (const app::CommandInfo& info : app::commands()) {
    const Posed posed(info);
    QuestionCommand command{
        std::string(info.name), std::string(info.summary), std::string(info.examples), {}};
    std::size_t position = 0;
    for (const CLI::Option* option : posed.flags.get_options()) {
      const bool common = position++ >= posed.own;
      if (is_of_the_program(name_of(*option))) continue;
      command.flags.push_back(described(*option));
      command.flags.back().common = common;
    }
    all.push_back(std::move(command));
  }
  return all;
}

report::Document ask(const Question& question, Progress& progress) {
  Posed posed(command_named(question.command));
  give_flags(question, posed);
  posed.settings.json = "-";  // as detailed as for a file
  std::vector<std::unique_ptr<NamedNetwork>> networks;
  for (const auto& [name, graph] : question.networks)
    networks.push_back(std::make_unique<NamedNetwork>(name, graph));
  std::vector<std::unique_ptr<NamedDataset>> datasets;
  for (const auto& [name, dataset] : question.datasets)
    datasets.push_back(std::make_unique<NamedDataset>(name, dataset));
  forget_interrupt();
  try {
    report::Document document = app::answer(posed.flags, *posed.command, posed.settings, progress);
    posed.command->result_written();
    return document;
  } catch (const Error& error) {
    const std::string message = app::with_flags(error.what());
    if (message == error.what()) throw;
    throw Error(error.fault(), message);
  }
}

void set_program(const std::filesystem::path& file) { set_this_program(file); }

}  // namespace assay

#include <algorithm>
#include <array>
#include <set>

#include <assay/error.h>
#include "apps/frame/program.h"
#include "assay/support/text/text.h"

namespace assay::frame {
namespace {

// Of a terminal and of how the program is started, not of the question.
bool is_of_the_program(const std::string& flag) {
  static const std::array<std::string_view, 9> names{"help",  "json",   "config",  "plugin", "trust",
                                                     "quiet", "format", "verbose", "strict"};
  return std::ranges::find(names, flag) != names.end() || report::renderers().contains(flag);
}

std::vector<std::string> names_of_question(const Posed& posed) {
  std::vector<std::string> all;
  for (const CLI::Option* option : posed.flags.get_options()) {
    if (!is_of_the_program(name_of(*option))) all.push_back(name_of(*option));
  }
  return all;
}

QuestionFlag described(const CLI::Option& option) {
  QuestionFlag flag{name_of(option), option.get_description(), {}, {}};
  flag.is_switch = is_switch(option);
  flag.repeats = option.get_expected_max() > 1;
  if (flag.is_switch) return flag;
  flag.type = option.get_type_name().substr(0, option.get_type_name().find(':'));
  flag.files = to_string(files_of(option));
  flag.words = words_of(option);
  flag.fallback = fallback_of(option);
  return flag;
}

const CommandInfo& command_named(const Program& program, const std::string& name) {
  std::vector<std::string> names;
  for (const CommandInfo& info : program.commands) {
    if (info.name == name) return info;
    names.emplace_back(info.name);
  }
  fail(Fault::usage, "no subcommand is named '{}'{}", name, did_you_mean(name, names));
}

void give_flags(const FlagValues& flags, Posed& posed) {
  const std::string& command = posed.flags.get_name();
  std::set<std::string> given;
  for (const auto& [name, values] : flags) {
    CLI::Option* const option = posed.flags.get_option_no_throw("--" + name) != nullptr
                                    ? posed.flags.get_option_no_throw("--" + name)
                                    : posed.flags.get_option_no_throw(name);
    if (option == nullptr || is_of_the_program(name))
      fail(Fault::usage, "`assay {}` has no flag '--{}'{}", command, name,
           did_you_mean(name, names_of_question(posed)));
    if (!given.insert(name_of(*option)).second)
      fail(Fault::usage, "`assay {}`: --{} is given twice", command, name);
    give_values(*option, values.empty() ? std::vector<std::string>{"true"} : values,
                "`assay " + command + "`");
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

std::vector<QuestionCommand> question_commands(const Program& program) {
  std::vector<QuestionCommand> all;
  for (const CommandInfo& info : program.commands) {
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

report::Document ask(const Program& program, const std::string& command, const FlagValues& flags,
                     Progress& progress) {
  Posed posed(command_named(program, command));
  give_flags(flags, posed);
  posed.settings.json = "-";  // as detailed as for a file
  forget_interrupt();
  report::Document document = answer(program, posed.flags, *posed.command, posed.settings, progress);
  posed.command->result_written();
  return document;
}

}  // namespace assay::frame

#pragma once

// A program made of commands, and their common parts, from the command line as from another program: flags,
// checks of outputs before work begins, and provenance.

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <assay/extend/question.h>
#include "apps/frame/command.h"
#include "apps/frame/words.h"

namespace assay::frame {

struct Program {
  std::string name, summary;
  std::string closing;                    // below --help
  std::span<const CommandInfo> commands;  // in the order of --help
  Words words = {};
  // Tables of the configuration file that belong to no command: "approval".
  std::span<const std::string_view> tables = {};
  // Adds the entries of a plug-in to the catalogues.
  void (*load_plugin)(const std::string& file) = [](const std::string&) {};
  // Called before each command runs.
  void (*prepare)(const Settings& settings) = [](const Settings&) {};
  // Provenance of a network beside its hash, by the option that names its file.
  std::vector<std::pair<std::string, report::Cell>> (*about_model)(const std::string& file) =
      [](const std::string&) { return std::vector<std::pair<std::string, report::Cell>>(); };
  // Versions of the program, first, and of the libraries that results rest on; the commit it was built from.
  std::vector<std::pair<std::string, std::string>> versions = {};
  std::string commit = {};
};

// A command with its flags, before any has a value. Stays where it is: the flags point to its variables.
struct Posed {
  explicit Posed(const CommandInfo& info);
  Posed(const Posed&) = delete;
  Posed& operator=(const Posed&) = delete;

  Settings settings;
  CLI::App flags;
  std::unique_ptr<Command> command;
  std::size_t own = 0;  // the options from here on are common
};

// Flags that every command has, after those of the command. What it does not take is refused where it is
// given.
void declare_common(CLI::App& app, Settings& settings, const Declared& declared);

// The command's document, with its name and provenance. `sub` has its flags and their values.
report::Document answer(const Program& program, const CLI::App& sub, Command& command,
                        const Settings& settings, Progress& progress);

// Values by names of flags; none, or "true", for a switch.
using FlagValues = std::vector<std::pair<std::string, std::vector<std::string>>>;

// The commands for other programs (<assay/extend/question.h>), and what one of them answers.
std::vector<QuestionCommand> question_commands(const Program& program);
// `folder`: Question::folder. `for_all`: values that hold for many questions, for those that do not name them
// and heed them.
report::Document ask(const Program& program, const std::string& command, const FlagValues& flags,
                     Progress& progress, const std::filesystem::path& folder = {},
                     const FlagValues& for_all = {});

// The program on a command line, with exit codes as docs/exit-codes.md has them. Does not return.
[[noreturn]] void run_program(const Program& program, int argc, char** argv);

}  // namespace assay::frame

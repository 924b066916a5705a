// A program on a command line: streams, signals, ranks, errors and exit codes around a command.

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <new>
#include <stdexcept>
#include <system_error>

#include <assay/error.h>
#include <assay/gate.h>
#include "apps/frame/completion.h"
#include "apps/frame/config.h"
#include "apps/frame/help.h"
#include "apps/frame/manual.h"
#include "apps/frame/program.h"
#include "apps/frame/rendering.h"
#include "apps/frame/terminal.h"
#include "apps/frame/trust.h"
#include "apps/frame/watch.h"
#include "apps/frame/wording.h"
#include "assay/support/conditions.h"
#include "assay/support/deaf_work.h"
#include "assay/support/files/input_file.h"
#include "assay/support/files/toml_file.h"
#include "assay/support/ranks/launch.h"
#include "assay/support/text/text.h"

namespace assay::frame {
namespace {

constexpr int gate_failed = 2, warned = 9, signal_base = 128;  // docs/exit-codes.md, as all codes

volatile std::sig_atomic_t stopped_by = 0;  // the signal that asked for an end

void on_stop(int signal) {
  if (stopped_by != 0) ::_exit(signal_base + signal);  // a second one does not wait
  stopped_by = signal;
  request_interrupt();
  DeafWork::hear();
}

// Work that hears nothing has had its time.
void on_alarm(int) {
  if (stopped_by != 0) ::_exit(signal_base + stopped_by);
  constexpr std::string_view message = "assay: the question takes longer than allowed; ask for less\n";
  static_cast<void>(::write(STDERR_FILENO, message.data(), message.size()) + 0);
  ::_exit(8);
}

void take_signals() {
  keep_interrupt_requests();
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, on_stop);
  if (std::signal(SIGHUP, on_stop) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);  // as nohup wants it
  DeafWork::take_alarms(on_alarm);
  // Writing says what is wrong instead.
  for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_IGN);
}

// Standard streams that are closed get a file that refuses to be written: else the next file to be opened,
// perhaps a result, would be taken for standard error.
void occupy_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) == -1) static_cast<void>(::open("/dev/null", O_RDONLY) + 0);
  }
}

int exit_code(Fault fault) {
  switch (fault) {
    case Fault::usage:
      return 1;
    case Fault::model:
      return 3;
    case Fault::unsupported:
      return 4;
    case Fault::data:
      return 5;
    case Fault::mismatch:
      return 6;
    case Fault::io:
      return 7;
    case Fault::resources:
      return 8;
    case Fault::internal:
      return 70;
    case Fault::interrupted:
      return signal_base + (stopped_by == 0 ? SIGINT : stopped_by);
  }
  return 70;
}

// Whether the file has settings for Assay. One that does not speak of it need not even be TOML.
bool configures(const char* pyproject) {
  constexpr std::size_t most = std::size_t{1} << 20;
  std::error_code code;
  return std::filesystem::is_regular_file(pyproject, code) &&
         read_start(pyproject, most).find("tool.assay") != std::string::npos && has_configuration(pyproject);
}

// The configuration file of the current folder; empty where there is none. `notice`: of another one that is
// not read next to it.
std::string config_of_folder(std::string& notice) {
  constexpr const char *own = "assay.toml", *shared = "pyproject.toml";
  const bool both = std::filesystem::exists(own) && configures(shared);
  if (both)
    notice = fmt::format(
        "{} is read, [tool.assay] of {} is not; settings of one folder belong in one of them", own, shared);
  if (std::filesystem::exists(own)) return own;
  return configures(shared) ? shared : "";
}

// Values of the file that was named, or of the one in the current folder as far as it is trusted.
void configure(const Program& program, CLI::App& root, CLI::App& sub, Command& command, Settings& settings) {
  std::string notice;
  const std::string in_folder = settings.config.empty() ? config_of_folder(notice) : "";
  const bool found = !in_folder.empty();
  if (!found)
    refuse_without_effect(
        {sub.get_option("--trust")},
        settings.config.empty()
            ? "without an assay.toml, or a pyproject.toml with [tool.assay], in the current folder"
            : "with --config: a file that is named is trusted");
  if (found) settings.config = in_folder;
  if (settings.config.empty()) return;
  Configured configured = apply_config(settings.config, program.words, program.tables, root, sub);
  if (!notice.empty() && !settings.quiet) say("assay: " + notice);
  const CLI::Option* const plugin = sub.get_option("--plugin");
  if (found && !command.plugins_of_folder() && configured.erase(plugin) > 0) {
    settings.plugins.clear();
    say(fmt::format("assay: plug-ins that {} names are not loaded by `{}`; name them with --plugin",
                    settings.config, sub.get_name()));
  }
  settings.config_is_found = found && !settings.trust && !is_trusted(".");
  if (settings.config_is_found) refuse_untrusted(configured);
  command.configured(configured, settings);
}

// The code of a command that has done its work. Where standard output is for programs, people are told why.
int code_of(const report::Document& document, const Settings& settings) {
  const bool told = settings.format == "text" && !settings.prints_json();
  if (report::any_failed(document)) {
    for (const report::Gate& gate : document.gates) {
      if (!told && !gate.passed) say("assay: GATE FAILED: " + report::described(gate));
    }
    return gate_failed;
  }
  if (!settings.strict || document.warnings.empty()) return 0;
  if (!told) say("assay: WARNINGS, see \"warnings\" in the result");
  return warned;
}

// The result in all files that were named. Where runs are watched, people see what is different; a result
// that cannot be kept for the next run is shown whole all the same, then the error is thrown.
void show(const report::Document& document, const Command& command, const Settings& settings,
          const Watch* watch) {
  std::optional<report::Document> difference;
  std::exception_ptr not_kept;
  try {
    if (watch != nullptr) difference = watch->compared(document);
  } catch (const Error&) {
    not_kept = std::current_exception();
  }
  if (difference)
    render(document, {*difference}, settings);
  else
    render(document, {document, command.printed(document)}, settings);
  if (not_kept) std::rethrow_exception(not_kept);
}

// Files that a configuration file names for many commands are left out where a result has nothing for them.
void leave_out_empty(const report::Document& document, const CLI::App& sub, Settings& settings) {
  for (auto& [name, file] : settings.renderings)
    if (is_unused(document, sub, name)) file.clear();
}

// `watch`: of a run that is watched, else null.
int run_command(const Program& program, CLI::App& root, CLI::App& sub, Command& command, Settings& settings,
                Watch* watch) {
  command.typed();
  configure(program, root, sub, command, settings);
  require_one_form(settings);
  for (const std::string& file : settings.plugins) program.load_plugin(file);
  if (!ranks().alone() && !command.shared())
    fail(Fault::usage,
         "`assay {}` is not shared among the {} processes of an MPI launcher; start it without one "
         "(docs/clusters.md says what is shared)",
         sub.get_name(), ranks().size());
  if (settings.threads == 0) settings.threads = threads_of_rank(ranks());
  if (watch != nullptr) {
    if (command.stays())
      fail(Fault::usage, "--watch: this goes on until it is interrupted, so that it is never run again");
    watch->begin(paths_read(command.inputs(settings), sub, settings),
                 paths_written(command.outputs(), settings));
    settings.force = settings.force || watch->goes_on();  // what is there was written by the run before
  }
  const auto progress = make_terminal_progress(settings.quiet);
  const report::Document document = answer(program, sub, command, settings, *progress);
  leave_out_empty(document, sub, settings);
  show(document, command, settings, watch);
  command.result_written();
  return code_of(document, settings);
}

// Plug-ins on the command line are loaded before it is read as a whole: what they add has separate flags.
void load_plugins(const Program& program, std::span<char* const> arguments) {
  constexpr std::string_view flag = "--plugin";
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    if (argument == flag && i + 1 < arguments.size()) program.load_plugin(arguments[i + 1]);
    if (argument.starts_with("--plugin=")) program.load_plugin(std::string(argument.substr(flag.size() + 1)));
  }
}

// "assay 1.0.0 (commit ...)" and a line for each library.
std::string version_text(const Program& program) {
  std::string text;
  for (const auto& [name, version] : program.versions) {
    text += text.empty() ? fmt::format("{} {} (commit {})", name, version, program.commit)
                         : fmt::format("\n{} {}", name, version);
  }
  return text;
}

// The program's command line: its commands, and those of the frame.
struct CommandLine {
  explicit CommandLine(const Program& program) : root(program.summary, program.name) {
    root.formatter(
        make_help_formatter(groups_of(program.commands), is_terminal(STDOUT_FILENO) ? terminal_width() : 0));
    const std::string version = version_text(program);
    root.set_version_flag("-V,--version", version);
    root.require_subcommand(0, 1);
    root.option_defaults()->always_capture_default();  // --help shows what an option is when it is not given
    root.footer(program.closing);
    for (const CommandInfo& info : program.commands) {
      CLI::App* sub = root.add_subcommand(std::string(info.name), std::string(info.summary));
      auto command = info.make();
      command->declare_on(*sub);
      declare_common(*sub, settings, command->declared());
      Flags(*sub, common_group)
          .of_the_program()
          .add("--watch", watch,
               "run again whenever a file that is read changes, and show what is different");
      sub->set_help_all_flag("--help-all", "print all flags, with those of every command");
      sub->set_version_flag("-V,--version", version)->group("");  // the program's, which its own help names
      for (CLI::Option* option : sub->get_options()) option->default_str(fallback_of(*option));
      sub->footer("Examples:\n" + std::string(info.examples));
      made.emplace(sub, std::move(command));
    }
    completion = root.add_subcommand("completion", "print a completion script for bash, zsh or fish");
    completion->add_option("shell", shell, "bash, zsh or fish")
        ->check(CLI::IsMember({"bash", "zsh", "fish"}));
    completion->footer(
        "Examples:\n  assay completion bash > /etc/bash_completion.d/assay\n  source <(assay completion "
        "zsh)");
    completion->set_version_flag("-V,--version", version)->group("");
    // For who installs the program: no command of --help.
    manual = root.add_subcommand("manual", "write pages for man(1)")->group("");
    manual->add_option("folder", folder, "where the pages go");
  }

  // Null: none was given.
  CLI::App* chosen() const {
    return root.get_subcommands().empty() ? nullptr : root.get_subcommands().front();
  }

  CLI::App root;
  Settings settings;
  std::map<const CLI::App*, std::unique_ptr<Command>> made;
  CLI::App *completion = nullptr, *manual = nullptr;
  std::string shell = "bash", folder = ".";
  bool watch = false;
};

// What is wrong with a flag that has no effect, where its value is refused: the library does not name it.
std::string idle_flag(const CLI::App& sub, const std::string& message,
                      const std::vector<std::string>& arguments) {
  if (!message.starts_with(": ") && !message.starts_with("Could not convert:  = ")) return {};
  for (const std::string& argument : arguments) {
    if (argument == "--") break;
    const std::string flag = argument.substr(0, argument.find('='));
    const CLI::Option* const option = flag.starts_with("--") ? sub.get_option_no_throw(flag) : nullptr;
    if (option != nullptr && is_idle(*option))
      return fmt::format("{} has no effect on `assay {}`; leave it out", flag, sub.get_name());
  }
  return {};
}

// The error in the arguments, with suggestions.
[[noreturn]] void fail_to_parse(const CommandLine& line, const Words& words, const CLI::ParseError& error,
                                const std::vector<std::string>& arguments) {
  const CLI::App* const sub = line.chosen();
  std::string message = message_of(error);
  if (sub != nullptr) {
    const bool extra = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
    const std::string clash = clash_of(*sub);
    // What follows an unknown flag was taken for a position, which then clashes with a flag.
    const std::string unknown = extra || !clash.empty() ? unknown_flag(words, *sub, arguments) : "";
    if (!unknown.empty() || !clash.empty()) message = unknown.empty() ? clash : unknown;
    if (const std::string idle = idle_flag(*sub, message, arguments); !idle.empty()) message = idle;
  } else if (!arguments.empty() && !arguments[0].starts_with('-')) {
    std::vector<std::string> names;
    for (const CLI::App* command : shown_subcommands(line.root)) names.push_back(command->get_name());
    message = fmt::format("no subcommand is named '{}'{}", arguments[0], did_you_mean(arguments[0], names));
  } else if (const std::string unknown = unknown_flag(words, line.root, arguments); !unknown.empty()) {
    message = unknown;
  }
  fail(Fault::usage, "{}; `{} --help` shows what there is", message,
       sub == nullptr ? line.root.get_name() : line.root.get_name() + " " + sub->get_name());
}

// --json= with nothing after it is mostly a variable that is not set; CLI11 would take the next argument.
void refuse_missing_values(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    if (argument == "--") return;
    const std::size_t equals = argument.find('=');
    if (argument.starts_with("--") && equals != std::string::npos && equals + 1 == argument.size())
      fail(Fault::usage, "{} has no value (a variable that is not set?)", argument);
  }
}

// A flag instead of a value was not meant as one.
void require_values(const CLI::App& sub, const std::vector<std::string>& arguments) {
  const auto flag = [&](const std::string& argument) -> const CLI::Option* {
    return argument.starts_with("--") ? sub.get_option_no_throw(argument) : nullptr;
  };
  for (std::size_t i = 0; i + 1 < arguments.size(); ++i) {
    const CLI::Option* const asks = flag(arguments[i]);
    if (asks == nullptr || asks->get_items_expected_min() == 0 || flag(arguments[i + 1]) == nullptr) continue;
    fail(Fault::usage, "{} needs a value, but {} is a flag; if it is the value, write {}={}", arguments[i],
         arguments[i + 1], arguments[i], arguments[i + 1]);
  }
}

// "help" and "help cover" are --help.
std::vector<std::string> with_help_as_flag(std::vector<std::string> arguments) {
  if (arguments.empty() || arguments[0] != "help") return arguments;
  arguments.erase(arguments.begin());
  arguments.emplace_back("--help");
  return arguments;
}

int failed(Fault fault, const std::string& message) {
  if (!message.empty()) say("assay: " + message);
  return exit_code(fault);
}

// The system's error for a call of the standard library.
Error error_of(const std::system_error& error) {
  const bool memory = error.code() == std::errc::not_enough_memory,
             threads = error.code() == std::errc::resource_unavailable_try_again;
  if (threads)
    return {Fault::resources, "the system gives no more threads (ulimit -u); use a smaller --threads"};
  return {memory ? Fault::resources : Fault::io, error.what()};
}

// Calls `work`, and `tell` with what it throws.
template <typename Work, typename Tell>
int with_errors_told(const Work& work, const Tell& tell) {
  try {
    return work();
  } catch (const Error& error) {
    return tell(error);
  } catch (const std::bad_alloc&) {
    return tell(
        Error(Fault::resources, "out of memory; give less data, or smaller batches where they can be set"));
  } catch (const std::length_error&) {
    return tell(Error(
        Fault::resources,
        "a list is longer than memory can hold; give less data, or smaller batches where they can be set"));
  } catch (const std::system_error& error) {
    return tell(error_of(error));
  } catch (const std::exception& error) {
    return tell(Error(Fault::internal, std::string("internal error, please report it: ") + error.what()));
  }
}

// The command of the command line, once or as often as its files change.
int run_chosen(const Program& program, CommandLine& line, CLI::App& sub) {
  const auto once = [&](Watch* watch) {
    return run_command(program, line.root, sub, *line.made.at(&sub), line.settings, watch);
  };
  if (!line.watch) return once(nullptr);
  if (!ranks().alone())
    fail(Fault::usage, "--watch is for one process; start the program without an MPI launcher");
  return run_whenever_files_change(line.settings.quiet, [&](Watch& watch) {
    return with_errors_told(
        [&] { return once(&watch); },
        [](const Error& error) { return failed(error.fault(), with_flags(error.message())); });
  });
}

int run(const Program& program, int argc, char** argv) {
  refuse_missing_values({argv + 1, argv + argc});
  load_plugins(program, {argv, static_cast<std::size_t>(argc)});
  CommandLine line(program);
  const std::vector<std::string> arguments =
      with_new_words(program.words, with_help_as_flag({argv + 1, argv + argc}),
                     [](const std::string& notice) { say("assay: " + notice); });
  try {
    line.root.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::Success& help) {
    const bool unknown = line.chosen() == nullptr && !arguments.empty() && !arguments[0].starts_with('-');
    if (unknown) fail_to_parse(line, program.words, help, arguments);
    const int code = line.root.exit(help);
    flush_standard_output();
    return code;
  } catch (const CLI::ParseError& error) {
    fail_to_parse(line, program.words, error, arguments);
  }
  CLI::App* const sub = line.chosen();
  if (sub == line.manual) {
    write_manual(line.root, line.folder);
    return 0;
  }
  if (sub != nullptr && sub != line.completion) {
    require_values(*sub, arguments);
    return run_chosen(program, line, *sub);
  }
  std::cout << (sub == nullptr ? line.root.help() : completion_script(line.root, line.shell));
  flush_standard_output();
  return sub == nullptr ? exit_code(Fault::usage) : 0;
}

// The one that writes and speaks.
int run_first(const Program& program, int argc, char** argv, Ranks& all) {
  return with_errors_told(
      [&] {
        const int code = run(program, argc, argv);
        all.close();
        return code;
      },
      [&](const Error& error) {
        std::string message = with_flags(error.message());
        // Launchers interrupt everybody when one has ended.
        if (error.fault() == Fault::interrupted) {
          for (const std::string& name : all.ended())
            message += "; " + name + " has ended before its work was done";
        }
        const int code = failed(error.fault(), message);
        all.close_failed(code);
        return code;
      });
}

// Those that only work: what they find goes wrong is said by the first one.
int run_beside(const Program& program, int argc, char** argv, Ranks& all) {
  const int nowhere = ::open("/dev/null", O_WRONLY);
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) ::dup2(nowhere, stream);
  return with_errors_told(
      [&] {
        try {
          run(program, argc, argv);
        } catch (const Dismissed&) {
          // Its work is done.
        }
        all.close();
        return 0;
      },
      [&](const Error& error) {
        all.close(&error);
        return 0;
      });
}

int run_launched(const Program& program, int argc, char** argv) {
  const std::unique_ptr<Ranks> all = launched_ranks();
  if (!all) return run(program, argc, argv);
  const RanksScope scope(*all);
  return all->first() ? run_first(program, argc, argv, *all) : run_beside(program, argc, argv, *all);
}

}  // namespace

void run_program(const Program& program, int argc, char** argv) {
  occupy_standard_streams();
  take_signals();
  const int code =
      with_errors_told([&] { return run_launched(program, argc, argv); },
                       [](const Error& error) { return failed(error.fault(), with_flags(error.message())); });
  std::cout.flush();
  // The tables of libraries are left to the system: taking them down is an eighth of a short command's time.
  std::_Exit(code);
}

}  // namespace assay::frame

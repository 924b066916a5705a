// assay: white-box testing for deep-learning models. See docs/ for the manual.

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>

#include <assay/error.h>
#include <assay/gate.h>
#include <assay/plugin.h>
#include <assay/report.h>
#include <assay/session.h>
#include "apps/assay/command.h"
#include "apps/assay/completion.h"
#include "apps/assay/config.h"
#include "apps/assay/flag_names.h"
#include "apps/assay/manual.h"
#include "apps/assay/terminal.h"
#include "apps/assay/version.h"
#include "assay/support/file.h"
#include "assay/support/text.h"

namespace assay::app {
namespace {

constexpr int gate_failed = 2;  // docs/exit-codes.md, as all codes

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
      return 130;
  }
  return 70;
}

void declare_common(CLI::App& app, Settings& settings) {
  const std::string group = "Common";
  app.add_option("--json", settings.json,
                 "write the result document to FILE ('-': standard output, instead of tables)")
      ->type_name("FILE")
      ->group(group);
  for (const report::Renderer& renderer : report::renderers()) {
    const std::string name(renderer.name);
    app.add_option("--" + renderer.name, settings.renderings[renderer.name],
                   fmt::format("write the {} to FILE", renderer.summary))
        ->type_name("FILE" + renderer.extension)
        ->group("Outputs");
  }
  app.add_option("--config", settings.config, "read flags from FILE (default: ./assay.toml where it exists)")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--plugin", settings.plugins,
                 "load FILE, a shared library that adds criteria, attacks, operators, ... of your own "
                 "(docs/plugins.md)")
      ->type_name("FILE.so")
      ->allow_extra_args(false)
      ->group(group);
  app.add_flag("--quiet", settings.quiet, "no progress, only the result")->group(group);
  app.add_option("--seed", settings.seed, "seed of everything random")->group(group);
  app.add_option("--threads", settings.threads, "threads; 0: all cores")
      ->check(CLI::Range(0, 4096))
      ->group(group);
  app.add_option("--batch", settings.batch, "records per batch; 0: chosen for the network")
      ->check(CLI::Range(0, 1 << 20))
      ->group(group);
  app.add_option("--device", settings.device, "where networks run")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->group(group);
  app.add_option("--memory", settings.memory_gib,
                 "GiB that one tensor may take; 0: half of the machine's memory")
      ->check(CLI::Range(0.0, 1e6))
      ->default_str("")
      ->group(group);
}

void on_interrupt(int) {
  static volatile std::sig_atomic_t presses = 0;
  if (presses > 0) ::_exit(130);  // a second Ctrl-C does not wait
  presses = presses + 1;
  request_interrupt();
}

void render(const report::Document& document, const Settings& settings) {
  if (settings.json == "-") {
    std::cout << report::to_json(document);
  } else {
    const bool terminal = is_terminal(STDOUT_FILENO);
    report::print(document, std::cout,
                  {.colour = terminal && std::getenv("NO_COLOR") == nullptr, .width = terminal_width()});
    if (!settings.json.empty()) write_file(settings.json, report::to_json(document));
  }
  for (const auto& [name, file] : settings.renderings) {
    if (!file.empty()) write_file(file, report::renderers().find(name).render(document));
  }
  std::cout.flush();
  if (!std::cout) fail(Fault::io, "standard output: writing failed (disk full or closed pipe?)");
}

// What every result rests on, whatever the subcommand.
void add_common_provenance(report::Document& document, const CLI::App& command, const Settings& settings,
                           double seconds) {
  std::string options;
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() == 0 || option->get_lnames().empty() || option->get_lnames()[0] == "help") continue;
    const bool is_flag = option->get_expected_max() == 0;
    options += fmt::format("{}--{}{}", options.empty() ? "" : " ", option->get_lnames()[0],
                           is_flag ? "" : " " + joined(option->results(), " "));
  }
  document.provenance.emplace_back("options", options);
  document.provenance.emplace_back("seed", static_cast<std::int64_t>(settings.seed));
  for (const auto& [name, version] : component_versions()) document.provenance.emplace_back(name, version);
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  const std::time_t time = std::chrono::system_clock::to_time_t(now);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&time));
  document.provenance.emplace_back("finished", std::string(text));
  document.provenance.emplace_back("seconds", seconds);
}

int run_command(CLI::App& root, CLI::App& sub, Command& command, Settings& settings) {
  keep_freed_memory();
  if (settings.config.empty() && std::filesystem::exists("assay.toml")) settings.config = "assay.toml";
  if (!settings.config.empty()) apply_config(settings.config, root, sub);
  for (const std::string& file : settings.plugins) plugin::load(file);
  const auto progress = make_terminal_progress(settings.quiet);
  Context context{settings, *progress};
  const auto start = std::chrono::steady_clock::now();
  report::Document document = command.run(context);
  document.command = sub.get_name();
  for (std::string& notice : document.notices) notice = with_flags(std::move(notice));
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  add_common_provenance(document, sub, settings, seconds);
  render(document, settings);
  if (!report::any_failed(document)) return 0;
  if (settings.json == "-") std::cerr << "assay: GATE FAILED, see \"gates\" in the result\n";
  return gate_failed;
}

// Plug-ins on the command line are loaded before it is read as a whole: what they add has flags of its own.
void load_plugins(std::span<char* const> arguments) {
  constexpr std::string_view flag = "--plugin";
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    if (argument == flag && i + 1 < arguments.size()) plugin::load(arguments[i + 1]);
    if (argument.starts_with("--plugin=")) plugin::load(argument.substr(flag.size() + 1));
  }
}

int run(int argc, char** argv) {
  load_plugins({argv, static_cast<std::size_t>(argc)});
  CLI::App root("Assay: white-box testing for deep-learning models.", "assay");
  root.set_version_flag("--version", version_text());
  root.require_subcommand(0, 1);
  root.option_defaults()->always_capture_default();  // --help shows what an option is when it is not given
  root.footer("`assay SUBCOMMAND --help` shows flags and examples. A first result in minutes: assay demo");
  Settings settings;
  std::map<const CLI::App*, std::unique_ptr<Command>> made;
  std::vector<std::string> names;
  for (const CommandInfo& info : commands()) {
    CLI::App* sub = root.add_subcommand(std::string(info.name), std::string(info.summary));
    auto command = info.make();
    command->declare(*sub);
    declare_common(*sub, settings);
    for (CLI::Option* option : sub->get_options()) {
      if (option->get_default_str() == "[]") option->default_str("");
    }
    sub->footer("Examples:\n" + std::string(info.examples));
    made.emplace(sub, std::move(command));
    names.emplace_back(info.name);
  }
  CLI::App* completion = root.add_subcommand("completion", "print a completion script for bash, zsh or fish");
  std::string shell = "bash";
  completion->add_option("shell", shell, "bash, zsh or fish")->check(CLI::IsMember({"bash", "zsh", "fish"}));
  completion->footer(
      "Examples:\n  assay completion bash > /etc/bash_completion.d/assay\n  source <(assay completion zsh)");
  names.emplace_back("completion");
  // For who installs the program: no command of --help.
  CLI::App* manual = root.add_subcommand("manual", "write pages for man(1)")->group("");
  std::string folder = ".";
  manual->add_option("folder", folder, "where the pages go");
  try {
    root.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return root.exit(help);
  } catch (const CLI::ParseError& error) {
    std::string message = error.what();
    if (argc > 1 && argv[1][0] != '-' && root.get_subcommands().empty()) {
      message = fmt::format("no subcommand is named '{}'{}", argv[1], did_you_mean(argv[1], names));
    }
    fail(Fault::usage, "{}\n`{} --help` shows what there is", message,
         root.get_subcommands().empty() ? "assay" : "assay " + root.get_subcommands().front()->get_name());
  }
  if (root.get_subcommands().empty()) {
    std::cout << root.help();
    return exit_code(Fault::usage);
  }
  CLI::App* sub = root.get_subcommands().front();
  if (sub == completion) {
    std::cout << completion_script(root, shell);
    return 0;
  }
  if (sub == manual) {
    write_manual(root, folder);
    return 0;
  }
  return run_command(root, *sub, *made.at(sub), settings);
}

}  // namespace
}  // namespace assay::app

int main(int argc, char** argv) {
  std::signal(SIGINT, assay::app::on_interrupt);
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return assay::app::run(argc, argv);
  } catch (const assay::Error& error) {
    std::cerr << "assay: " << assay::app::with_flags(error.what()) << "\n";
    return assay::app::exit_code(error.fault());
  } catch (const std::bad_alloc&) {
    std::cerr << "assay: out of memory; use a smaller --batch\n";
    return assay::app::exit_code(assay::Fault::resources);
  } catch (const std::exception& error) {
    std::cerr << "assay: internal error, please report it: " << error.what() << "\n";
    return assay::app::exit_code(assay::Fault::internal);
  }
}

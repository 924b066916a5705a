// assay: white-box testing for deep-learning models. See docs/ for the manual.

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>

#include "apps/assay/command.h"
#include "apps/assay/completion.h"
#include "apps/assay/config.h"
#include "apps/assay/terminal.h"
#include "apps/assay/version.h"
#include "assay/engine/session.h"
#include "assay/report/gate.h"
#include "assay/report/renderer.h"
#include "assay/support/error.h"
#include "assay/support/file.h"
#include "assay/support/text.h"

namespace assay::app {
namespace {

constexpr int gate_failed = 2;  // docs/exit-codes.md, as all codes

int exit_code(Fault fault) {
  switch (fault) {
    case Fault::usage: return 1;
    case Fault::model: return 3;
    case Fault::unsupported: return 4;
    case Fault::data: return 5;
    case Fault::mismatch: return 6;
    case Fault::io: return 7;
    case Fault::resources: return 8;
    case Fault::internal: return 70;
    case Fault::interrupted: return 130;
  }
  return 70;
}

void declare_common(CLI::App& app, Settings& settings) {
  const std::string group = "Common";
  app.add_option("--json", settings.json, "write the result document to FILE ('-': standard output, instead of tables)")->type_name("FILE")->group(group);
  for (const Renderer& renderer : renderers()) {
    const std::string name(renderer.name);
    app.add_option("--" + name, settings.renderings[name], fmt::format("write the {} to FILE", renderer.summary))->type_name("FILE" + std::string(renderer.extension))->group("Outputs");
  }
  app.add_option("--config", settings.config, "read flags from FILE (default: ./assay.toml where it exists)")->type_name("FILE")->group(group);
  app.add_flag("--quiet", settings.quiet, "no progress, only the result")->group(group);
  app.add_option("--seed", settings.seed, "seed of everything random")->capture_default_str()->group(group);
  app.add_option("--threads", settings.threads, "threads; 0: all cores")->check(CLI::Range(0, 4096))->capture_default_str()->group(group);
  app.add_option("--batch", settings.batch, "records per batch; 0: chosen for the network")->check(CLI::Range(0, 1 << 20))->capture_default_str()->group(group);
  app.add_option("--device", settings.device, "where networks run")->check(CLI::IsMember({"cpu", "cuda"}))->capture_default_str()->group(group);
  app.add_option("--memory", settings.memory_gib, "GiB that one tensor may take; 0: half of the machine's memory")->check(CLI::Range(0.0, 1e6))->group(group);
}

void on_interrupt(int) {
  static volatile std::sig_atomic_t presses = 0;
  if (presses > 0) ::_exit(130);  // a second Ctrl-C does not wait
  presses = presses + 1;
  request_interrupt();
}

void render(const Document& document, const Settings& settings) {
  if (settings.json == "-") {
    std::cout << to_json(document);
  } else {
    const bool terminal = is_terminal(STDOUT_FILENO);
    print(document, std::cout, {.colour = terminal && std::getenv("NO_COLOR") == nullptr, .width = terminal_width()});
    if (!settings.json.empty()) write_file(settings.json, to_json(document));
  }
  for (const Renderer& renderer : renderers()) {
    const std::string& file = settings.renderings.at(std::string(renderer.name));
    if (!file.empty()) write_file(file, renderer.render(document));
  }
  std::cout.flush();
  if (!std::cout) fail(Fault::io, "standard output: writing failed (disk full or closed pipe?)");
}

// What every result rests on, whatever the subcommand.
void add_common_provenance(Document& document, const CLI::App& command, const Settings& settings, double seconds) {
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
  const auto progress = make_terminal_progress(settings.quiet);
  Context context{settings, *progress};
  const auto start = std::chrono::steady_clock::now();
  Document document = command.run(context);
  document.command = sub.get_name();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  add_common_provenance(document, sub, settings, seconds);
  render(document, settings);
  if (!any_failed(document)) return 0;
  if (settings.json == "-") std::cerr << "assay: GATE FAILED, see \"gates\" in the result\n";
  return gate_failed;
}

int run(int argc, char** argv) {
  CLI::App root("Assay: white-box testing for deep-learning models.", "assay");
  root.set_version_flag("--version", fmt::format("assay {}", component_versions().front().second));
  root.require_subcommand(0, 1);
  root.footer("`assay SUBCOMMAND --help` shows flags and examples. A first result in minutes: assay demo");
  Settings settings;
  std::map<const CLI::App*, std::unique_ptr<Command>> made;
  std::vector<std::string> names;
  for (const CommandInfo& info : commands()) {
    CLI::App* sub = root.add_subcommand(std::string(info.name), std::string(info.summary));
    auto command = info.make();
    command->declare(*sub);
    declare_common(*sub, settings);
    sub->footer("Examples:\n" + std::string(info.examples));
    made.emplace(sub, std::move(command));
    names.emplace_back(info.name);
  }
  CLI::App* completion = root.add_subcommand("completion", "print a completion script for bash, zsh or fish");
  std::string shell = "bash";
  completion->add_option("shell", shell, "bash, zsh or fish")->check(CLI::IsMember({"bash", "zsh", "fish"}))->capture_default_str();
  completion->footer("Examples:\n  assay completion bash > /etc/bash_completion.d/assay\n  source <(assay completion zsh)");
  names.emplace_back("completion");
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
    std::cerr << "assay: " << error.what() << "\n";
    return assay::app::exit_code(error.fault());
  } catch (const std::bad_alloc&) {
    std::cerr << "assay: out of memory; use a smaller --batch\n";
    return assay::app::exit_code(assay::Fault::resources);
  } catch (const std::exception& error) {
    std::cerr << "assay: internal error, please report it: " << error.what() << "\n";
    return assay::app::exit_code(assay::Fault::internal);
  }
}

#include "apps/assay/frame.h"

#include <fmt/format.h>

#include <chrono>
#include <ctime>

#include <assay/error.h>
#include <assay/question.h>
#include <assay/session.h>
#include "apps/assay/flag_names.h"
#include "assay/support/memory.h"
#include "assay/support/text.h"

namespace assay::app {
namespace {

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

}  // namespace

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
  app.add_flag("--force", settings.force, "replace a state or profile that holds something else")
      ->group(group);
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
                 "GiB that reading a file, or one tensor, may take; 0: half of the machine's memory")
      ->check(CLI::Range(0.0, 1e6))
      ->default_str("")
      ->group(group);
}

void give_values(CLI::Option& option, std::vector<std::string> values, const std::string& place) {
  const bool is_flag = option.get_expected_max() == 0;
  if (is_flag && values == std::vector<std::string>{"false"}) return;
  if (is_flag && values != std::vector<std::string>{"true"})
    fail(Fault::usage, "{}: '{}' is a switch: true or false", place, option.get_name());
  // A list for a flag that takes one text is joined as it would be typed: m = [6, 8] is -m 6,8.
  if (option.get_expected_max() == 1 && values.size() > 1) values = {joined(values, ",")};
  try {
    for (const std::string& value : values) option.add_result(value);
    option.run_callback();
  } catch (const CLI::Error& error) {
    fail(Fault::usage, "{}: {}", place, error.what());
  }
}

report::Document answer(const CLI::App& sub, Command& command, const Settings& settings, Progress& progress) {
  keep_freed_memory();
  set_memory_limit(static_cast<std::uint64_t>(settings.memory_gib * 1024.0 * 1024.0 * 1024.0));
  check_outputs(command.outputs(), sub, settings);
  Context context{settings, progress};
  const auto start = std::chrono::steady_clock::now();
  report::Document document = command.run(context);
  document.command = sub.get_name();
  for (std::string& notice : document.notices) notice = with_flags(std::move(notice));
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  add_common_provenance(document, sub, settings, seconds);
  return document;
}

}  // namespace assay::app

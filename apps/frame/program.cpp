#include "apps/frame/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "apps/frame/help.h"
#include "apps/frame/wording.h"
#include "assay/support/machine.h"
#include "assay/support/ranks/ranks.h"
#include "assay/support/text/parse.h"
#include "assay/support/text/text.h"

namespace assay::frame {
namespace {

// Provenance of every result of any subcommand.
void add_common_provenance(report::Document& document, const Program& program, const CLI::App& command,
                           const Context& context, double seconds) {
  const Settings& settings = context.settings;
  // A run is the same whether it is watched or not, and a recorded command is one that ends.
  EffectiveOptions effective = context.effective;
  if (const CLI::Option* watch = command.get_option_no_throw("--watch")) leave_out({watch}, effective);
  for (const auto& [rendering, file] : settings.renderings)
    if (is_unused(document, command, rendering)) leave_out({command.get_option("--" + rendering)}, effective);
  document.provenance.emplace_back("options", recorded_options(command, effective));
  if (const std::string file = file_of_option(command, "model"); !file.empty()) {
    document.provenance.emplace_back("model_file", file);
    std::ranges::move(program.about_model(file), std::back_inserter(document.provenance));
  }
  for (const char* name : {"test", "data", "train"}) {
    const std::string file = file_of_option(command, name);
    if (file.empty()) continue;
    document.provenance.emplace_back("data_file", file);
    break;
  }
  document.provenance.emplace_back("seed", static_cast<std::int64_t>(settings.seed));
  for (const auto& [name, version] : program.versions) document.provenance.emplace_back(name, version);
  document.provenance.emplace_back("finished", utc_now());
  document.provenance.emplace_back("seconds", seconds);
}

// Readers of the headline alone are told as well.
void name_warnings(report::Document& document) {
  if (document.warnings.empty()) return;
  std::vector<std::string> ids;
  for (const report::Warning& warning : document.warnings) {
    if (std::ranges::find(ids, warning.id) == ids.end()) ids.push_back(warning.id);
  }
  document.headline += fmt::format(" [doubtful: {}]", joined(ids));
}

// An empty or blank value is mostly a variable that is not set, and whatever reads a text that ends at its
// first NUL would read another one.
std::string no_value_at_all(const std::string& text) {
  if (text.find('\0') != std::string::npos) return "the value holds a NUL character";
  return text.find_first_not_of(" \t\r\n\v\f") == std::string::npos ? "the value is empty" : "";
}

std::string no_seed(const std::string& text) {
  if (number_of<std::int64_t>(text).value_or(-1) >= 0) return "";
  return fmt::format("'{}' is not a whole number from 0 to {}", text,
                     std::numeric_limits<std::int64_t>::max());
}

// Whether anything that the command writes is replaced with --force only.
bool may_guard(const Declared& declared) {
  return declared.taken.contains(Shared::force) ||
         std::ranges::any_of(declared.written, [](const WrittenFlag& flag) { return flag.written.guarded; });
}

// Whether this run writes such a thing.
bool guards(const Declared& declared, const Settings& settings) {
  const bool result = !settings.json.empty() && settings.json != "-";
  return (result && declared.taken.contains(Shared::force)) ||
         std::ranges::any_of(declared.written, [](const WrittenFlag& flag) {
           return flag.written.guarded && !flag.value->empty() && (!flag.written.when || flag.written.when());
         });
}

void refuse_idle(const CLI::App& sub, const Declared& declared, const Settings& settings) {
  const auto is_refused = [&](const CLI::Option* option) {
    // Help does not show the default of --memory, by which it could be told.
    const bool by_default = flag_of(*option) == "--memory" && settings.memory_gib == 0;
    return is_idle(*option) && !by_default;
  };
  refuse_without_effect(sub.get_options(is_refused), fmt::format("on `assay {}`", sub.get_name()));
  if (!guards(declared, settings))
    refuse_without_effect({sub.get_option("--force")}, "where nothing is written that it could replace");
}

// Flags that only some commands heed.
void declare_shared(const Flags& flags, Settings& settings, const Declared& declared) {
  const auto shared = [&](Shared flag, CLI::Option* option) {
    if (!declared.taken.contains(flag)) mark_as_idle(*option);
  };
  CLI::Option* const force = flags.of_the_run().add(
      "--force", settings.force, "replace a state, profile or result that holds something else");
  if (!may_guard(declared)) mark_as_idle(*force);
  shared(Shared::seed,
         flags.add("--seed", settings.seed, "seed of everything random", CLI::Validator(no_seed, "")));
  shared(Shared::threads,
         flags.add("--threads", settings.threads, "threads; 0: all cores", CLI::Range(0, 4096)));
  shared(Shared::batch, flags.add("--batch", settings.batch, "records per batch; 0: chosen for the network",
                                  CLI::Range(0, 1 << 20)));
  shared(Shared::device, flags.add("--device", settings.device,
                                   "where networks run: cpu; cuda or cuda:N with the module of libtorch"));
  shared(Shared::engine, flags.add("--engine", settings.engine,
                                   "what runs networks on the processor; auto: the fastest for each part",
                                   CLI::IsMember({"auto", "channels", "lanes", "torch", "reference"})));
  shared(Shared::memory,
         flags
             .add("--memory", settings.memory_gib,
                  "GiB that reading a file, or one tensor, may take; 0: half of the machine's memory",
                  CLI::Range(0.0, 1e6))
             ->default_str(""));
}

}  // namespace

Posed::Posed(const CommandInfo& info)
    : flags(std::string(info.summary), std::string(info.name)), command(info.make()) {
  flags.option_defaults()->always_capture_default();
  command->declare_on(flags);
  own = flags.get_options().size();
  declare_common(flags, settings, command->declared());
}

void declare_common(CLI::App& app, Settings& settings, const Declared& declared) {
  Flags flags(app, common_group);
  const Flags start = flags.of_the_program(), outputs = start.in_group(outputs_group);
  if (app.get_help_ptr() != nullptr) mark_as_of_the_program(*app.get_help_ptr());
  start.add_output("--json FILE", settings.json,
                   "write the result document to FILE ('-': standard output, instead of tables)");
  for (const report::Renderer& renderer : report::renderers()) {
    const std::string kind = renderer.render_files ? "FOLDER" : "FILE";
    outputs.add_output(
        fmt::format("--{} {}{}", renderer.name, kind, renderer.render_files ? "" : renderer.extension),
        settings.renderings[renderer.name], fmt::format("write the {} to {}", renderer.summary, kind));
  }
  outputs.of_the_run()
      .add("--format NAME", settings.format, "form of standard output; csv: the first table alone",
           CLI::IsMember({"text", "json", "csv", "markdown"}))
      ->default_str("");
  start.of_the_run().add(
      "--config FILE", settings.config,
      "read flags from FILE (default: ./assay.toml, else [tool.assay] of ./pyproject.toml)");
  start.of_the_run()
      .add_code("--plugin FILE.so", settings.plugins,
                "load FILE, a shared library that adds criteria, attacks, operators, ... (docs/plugins.md)")
      ->allow_extra_args(false);
  start.of_the_run().add(
      "--trust", settings.trust,
      "let an assay.toml of the current folder load plug-ins, run programs and write outside the folder");
  start.of_the_run().add("-q,--quiet", settings.quiet, "no progress, only the result");
  start.of_the_run().add("-v,--verbose", settings.verbose,
                         "all tables, such as those of single records, and what the result rests on");
  start.of_the_run().add("--strict", settings.strict, "end with exit code 9 if the result has warnings");
  declare_shared(flags, settings, declared);
  for (CLI::Option* option : app.get_options()) {
    if (option->get_expected_max() > 0) option->check(CLI::Validator(no_value_at_all, ""));
  }
}

report::Document answer(const Program& program, const CLI::App& sub, Command& command,
                        const Settings& settings, Progress& progress) {
  refuse_idle(sub, command.declared(), settings);
  program.prepare(settings);
  if (ranks().first()) check_outputs(command.outputs(), command.inputs(settings), sub, settings);
  Context context{settings, progress};
  const auto start = std::chrono::steady_clock::now();
  report::Document document = command.run(context);
  ranks().leave_to_first();
  document.warnings.insert(document.warnings.begin(), context.warnings.begin(), context.warnings.end());
  document.command = sub.get_name();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  add_common_provenance(document, program, sub, context, seconds);
  put_flags(document);
  name_warnings(document);
  return document;
}

}  // namespace assay::frame

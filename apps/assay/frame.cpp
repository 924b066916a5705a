#include "apps/assay/frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <limits>

#include <assay/extend/question.h>
#include <assay/session.h>
#include "apps/assay/flag_names.h"
#include "apps/assay/help.h"
#include "assay/engine/waiting.h"
#include "assay/support/machine.h"
#include "assay/support/memory.h"
#include "assay/support/parse.h"
#include "assay/support/ranks.h"
#include "assay/support/text.h"

namespace assay::app {
namespace {

// What every result rests on, whatever the subcommand.
void add_common_provenance(report::Document& document, const CLI::App& command, const Context& context,
                           double seconds) {
  const Settings& settings = context.settings;
  document.provenance.emplace_back("options", recorded_options(command, context.effective));
  if (const std::string file = file_of_option(command, "model"); !file.empty())
    document.provenance.emplace_back("model_file", file);
  for (const char* name : {"test", "data", "train"}) {
    const std::string file = file_of_option(command, name);
    if (file.empty()) continue;
    document.provenance.emplace_back("data_file", file);
    break;
  }
  document.provenance.emplace_back("seed", static_cast<std::int64_t>(settings.seed));
  for (const auto& [name, version] : component_versions()) document.provenance.emplace_back(name, version);
  document.provenance.emplace_back("finished", utc_now());
  document.provenance.emplace_back("seconds", seconds);
}

// Whoever reads the headline alone is told, too.
void name_warnings(report::Document& document) {
  for (report::Warning& warning : document.warnings) {
    warning.text = with_flags(std::move(warning.text));
    warning.cause = with_flags(std::move(warning.cause));
  }
  if (document.warnings.empty()) return;
  std::vector<std::string> ids;
  for (const report::Warning& warning : document.warnings) {
    if (std::ranges::find(ids, warning.id) == ids.end()) ids.push_back(warning.id);
  }
  document.headline += fmt::format(" [doubtful: {}]", joined(ids));
}

// An empty value is mostly a variable that is not set, and a comparison with NaN is never true: a gate would
// be open.
std::string no_value_at_all(const std::string& text) {
  if (text.empty()) return "the value is empty";
  std::string word = text.substr(text[0] == '-' || text[0] == '+' ? 1 : 0);
  std::ranges::transform(word, word.begin(), [](unsigned char c) { return std::tolower(c); });
  return word == "nan" || word == "inf" || word == "infinity" ? fmt::format("'{}' is no number", text) : "";
}

std::string no_seed(const std::string& text) {
  if (number_of<std::int64_t>(text).value_or(-1) >= 0) return "";
  return fmt::format("'{}' is no whole number from 0 to {}", text, std::numeric_limits<std::int64_t>::max());
}

}  // namespace

void declare_common(CLI::App& app, Settings& settings) {
  const std::string group = common_group;
  app.add_option("--json", settings.json,
                 "write the result document to FILE ('-': standard output, instead of tables)")
      ->type_name("FILE")
      ->group(group);
  for (const report::Renderer& renderer : report::renderers()) {
    const std::string name(renderer.name);
    app.add_option(
           "--" + renderer.name, settings.renderings[renderer.name],
           fmt::format("write the {} to {}", renderer.summary, renderer.render_files ? "FOLDER" : "FILE"))
        ->type_name(renderer.render_files ? "FOLDER" : "FILE" + renderer.extension)
        ->group(outputs_group);
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
  app.add_flag("--force", settings.force, "replace a state, profile or result that holds something else")
      ->group(group);
  app.add_flag("--strict", settings.strict, "end with exit code 9 where the result has warnings")
      ->group(group);
  app.add_option("--seed", settings.seed, "seed of everything random")
      ->check(CLI::Validator(no_seed, ""))
      ->group(group);
  app.add_option("--threads", settings.threads, "threads; 0: all cores")
      ->check(CLI::Range(0, 4096))
      ->group(group);
  app.add_option("--batch", settings.batch, "records per batch; 0: chosen for the network")
      ->check(CLI::Range(0, 1 << 20))
      ->group(group);
  app.add_option("--device", settings.device, "where networks run")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->group(group);
  app.add_option("--engine", settings.engine,
                 "what runs networks on the processor; auto: the quickest, part by part")
      ->check(CLI::IsMember({"auto", "lanes", "onednn", "libtorch"}))
      ->group(group);
  app.add_option("--memory", settings.memory_gib,
                 "GiB that reading a file, or one tensor, may take; 0: half of the machine's memory")
      ->check(CLI::Range(0.0, 1e6))
      ->default_str("")
      ->group(group);
  for (CLI::Option* option : app.get_options()) {
    if (option->get_expected_max() > 0) option->check(CLI::Validator(no_value_at_all, ""));
  }
}

std::string fallback_of(const CLI::Option& option) {
  const std::string text = option.get_default_str();
  return text == "[]" || text == "{}" ? "" : text;
}

std::string message_of(const CLI::Error& error) {
  const std::string text = error.what();
  const std::size_t range = text.find(" not in range "),
                    bound = text.find(" to ", std::min(range, text.size()));
  const bool open = bound != std::string::npos && text.size() - bound > 300;
  if (!open) return text;
  // A 0 is refused where only more will do.
  constexpr std::string_view name = "Value ";
  const std::size_t value = text.rfind(name, range);
  const bool zero =
      value != std::string::npos && std::strtod(text.c_str() + value + name.size(), nullptr) == 0;
  return fmt::format("{} is no number {}", text.substr(0, range), zero ? "above 0" : "from 0 on");
}

std::vector<std::string> words_of(const CLI::Option& option) {
  // "TEXT:{mean,max}", as against "UINT:INT in [1 - 200]".
  const std::string whole = option.get_type_name();
  const std::size_t begin = whole.find(":{");
  if (begin == std::string::npos) return {};
  return parts_of(whole.substr(begin + 2, whole.find('}', begin) - begin - 2), ",");
}

report::Document answer(const CLI::App& sub, Command& command, const Settings& settings, Progress& progress) {
  keep_freed_memory();
  if (machine_is_busy()) wait_briefly();
  set_memory_limit(static_cast<std::uint64_t>(settings.memory_gib * 1024.0 * 1024.0 * 1024.0));
  if (ranks().first()) check_outputs(command.outputs(), sub, settings);
  Context context{settings, progress};
  const auto start = std::chrono::steady_clock::now();
  report::Document document = command.run(context);
  ranks().leave_to_first();
  document.command = sub.get_name();
  document.headline = with_flags(std::move(document.headline));
  for (std::string& notice : document.notices) notice = with_flags(std::move(notice));
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  add_common_provenance(document, sub, context, seconds);
  name_warnings(document);
  return document;
}

}  // namespace assay::app

#include "apps/frame/outputs.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "apps/frame/command.h"
#include "apps/frame/flags.h"
#include "assay/support/files/file.h"
#include "assay/support/text/parse.h"

namespace assay::frame {
namespace {

// With what every command can write.
std::vector<Output> with_renderings(std::vector<Output> outputs, const Settings& settings) {
  if (settings.json != "-") outputs.push_back({"--json", settings.json});
  for (const auto& [name, file] : settings.renderings) {
    const bool folder = report::renderers().find(name).render_files != nullptr;
    outputs.push_back({"--" + name,
                       file,
                       folder ? Output::Kind::folder : Output::Kind::file,
                       {name == "csv" ? "*.csv" : "*"}});
  }
  std::erase_if(outputs, [](const Output& output) { return output.path.empty(); });
  return outputs;
}

bool names_files(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  return std::ranges::any_of(std::array{"FILE", "SPEC", "COMMAND"},
                             [&](const char* word) { return type.find(word) != std::string::npos; });
}

// Names in the options that are not outputs. A folder counts as a whole where it is what the option is about.
void add_inputs(const CLI::App& command, const std::vector<Output>& outputs, std::vector<NamedPath>& inputs) {
  for (const CLI::Option* option : command.get_options()) {
    const bool written = std::ranges::find(outputs, flag_of(*option), &Output::name) != outputs.end();
    if (written || !names_files(*option)) continue;
    for (const std::string& text : option->results()) {
      const std::string about = text.substr(0, text.find_first_of(",["));
      for (const std::filesystem::path& path : paths_in(text)) {
        std::error_code code;
        if (path == about || path == text || !std::filesystem::is_directory(path, code))
          inputs.emplace_back(path, flag_of(*option));
      }
    }
  }
}

}  // namespace

void check_outputs(const std::vector<Output>& outputs, const std::vector<NamedPath>& inputs,
                   const CLI::App& command, const Settings& settings) {
  const std::vector<Output> written = with_renderings(outputs, settings);
  std::vector<NamedPath> read = inputs;
  add_inputs(command, written, read);
  read.emplace_back(settings.config, "--config");
  assay::check_outputs(written, read);
}

std::vector<std::filesystem::path> paths_read(const std::vector<NamedPath>& inputs, const CLI::App& command,
                                              const Settings& settings) {
  std::vector<NamedPath> read = inputs;
  add_inputs(command, {}, read);
  std::vector<std::filesystem::path> paths;
  if (!settings.config.empty()) paths.emplace_back(settings.config);
  for (const auto& [path, name] : read) {
    const CLI::Option* const option = command.get_option_no_throw(name);
    const bool counted = std::ranges::find(paths, path) != paths.end();
    if (!counted && !path.empty() && (option == nullptr || !is_written(*option))) paths.push_back(path);
  }
  return paths;
}

std::vector<std::filesystem::path> paths_written(const std::vector<Output>& outputs,
                                                 const Settings& settings) {
  std::vector<std::filesystem::path> paths;
  for (const Output& output : with_renderings(outputs, settings)) paths.emplace_back(output.path);
  return paths;
}

void check_result_replaced(const std::string& model_hash, const Settings& settings) {
  if (settings.json == "-" || settings.force) return;
  assay::check_replaced(settings.json, "a result of this network", [&] {
    const report::Document found = report::read_document(read_file(settings.json), settings.json);
    return std::ranges::none_of(found.provenance, [&](const auto& entry) {
      const auto* hash = std::get_if<std::string>(&entry.second);
      return entry.first == "model_hash" && hash != nullptr && *hash != model_hash;
    });
  });
}

}  // namespace assay::frame

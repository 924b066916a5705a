#include "apps/frame/outputs.h"

#include <algorithm>

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
    outputs.push_back({"--" + name, file, folder ? Output::Kind::folder : Output::Kind::file});
  }
  std::erase_if(outputs, [](const Output& output) { return output.path.empty(); });
  return outputs;
}

// What the options name that are no outputs.
std::vector<NamedPath> inputs_of(const CLI::App& command, const std::vector<Output>& outputs,
                                 const Settings& settings) {
  std::vector<NamedPath> inputs;
  for (const CLI::Option* option : command.get_options()) {
    const std::string flag = flag_of(*option);
    const bool written = std::ranges::find(outputs, flag, &Output::name) != outputs.end();
    const std::string type = option->get_type_name();
    if (written || (type.find("FILE") == std::string::npos && type.find("SPEC") == std::string::npos))
      continue;
    for (const std::string& text : option->results()) {
      for (std::filesystem::path& path : paths_in(text)) inputs.emplace_back(std::move(path), flag);
    }
  }
  inputs.emplace_back(settings.config, "--config");
  return inputs;
}

}  // namespace

void check_outputs(const std::vector<Output>& declared, const CLI::App& command, const Settings& settings) {
  const std::vector<Output> outputs = with_renderings(declared, settings);
  assay::check_outputs(outputs, inputs_of(command, outputs, settings));
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

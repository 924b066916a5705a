#include "apps/assay/outputs.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include <assay/error.h>
#include "apps/assay/command.h"
#include "assay/support/file.h"
#include "assay/support/journal.h"

namespace assay::app {
namespace {

namespace fs = std::filesystem;

using Identity = std::pair<dev_t, ino_t>;

// Of a file that is there, not of pipes, devices and folders.
std::optional<Identity> identity_of(const fs::path& path) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) return std::nullopt;
  return Identity{about.st_dev, about.st_ino};
}

// What every command can write.
std::vector<Output> with_renderings(std::vector<Output> outputs, const Settings& settings) {
  if (settings.json != "-") outputs.push_back({"--json", settings.json});
  for (const auto& [name, file] : settings.renderings) {
    const bool folder = report::renderers().find(name).render_files != nullptr;
    outputs.push_back({"--" + name, file, folder ? Output::Kind::folder : Output::Kind::file});
  }
  std::erase_if(outputs, [](const Output& output) { return output.path.empty(); });
  return outputs;
}

// Files that the text of an option may name: itself, or the parts of a data spec.
std::vector<fs::path> files_in(const std::string& text) {
  std::vector<fs::path> files{text};
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find_first_of(",[]=", begin), text.size());
    files.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  // A network's files may be several.
  files.push_back(fs::path(text).replace_extension(".json"));
  files.emplace_back(text + ".data");
  return files;
}

// The files that the options which are no outputs name, with those options.
std::map<Identity, std::string> inputs_of(const CLI::App& command, const std::vector<Output>& outputs,
                                          const Settings& settings) {
  std::map<Identity, std::string> inputs;
  for (const CLI::Option* option : command.get_options()) {
    const std::string flag =
        option->get_lnames().empty() ? option->get_name() : "--" + option->get_lnames()[0];
    const bool written =
        std::ranges::any_of(outputs, [&](const Output& output) { return output.flag == flag; });
    const std::string type = option->get_type_name();
    if (written || (type.find("FILE") == std::string::npos && type.find("SPEC") == std::string::npos))
      continue;
    for (const std::string& text : option->results()) {
      for (const fs::path& file : files_in(text)) {
        if (const auto identity = identity_of(file)) inputs.emplace(*identity, flag);
      }
    }
  }
  if (const auto identity = identity_of(settings.config)) inputs.emplace(*identity, "--config");
  return inputs;
}

// Two texts that name one place give one path.
fs::path place_of(const fs::path& path) {
  std::error_code code;
  const fs::path place = written_place(path);
  const fs::path whole = fs::weakly_canonical(fs::absolute(place, code), code);
  return code ? place : whole;
}

// A terminal or /dev/null takes what several outputs write.
bool takes_several(const fs::path& path) {
  struct stat about {};
  return ::stat(path.c_str(), &about) == 0 && S_ISCHR(about.st_mode);
}

}  // namespace

void check_outputs(const std::vector<Output>& declared, const CLI::App& command, const Settings& settings) {
  const std::vector<Output> outputs = with_renderings(declared, settings);
  const std::map<Identity, std::string> inputs = inputs_of(command, outputs, settings);
  std::map<fs::path, std::string> places;
  for (const Output& output : outputs) {
    if (output.kind == Output::Kind::folder) {
      require_writable_folder(output.path);
      continue;
    }
    if (output.kind == Output::Kind::journal) Journal::require_place(output.path);
    require_writable(output.path);
    const auto identity = identity_of(output.path);
    const auto input = identity ? inputs.find(*identity) : inputs.end();
    if (input != inputs.end() && !output.goes_on) {
      fail(Fault::usage, "{} would overwrite {}, which {} reads; name another file", output.flag, output.path,
           input->second);
    }
    const auto [earlier, fresh] = places.emplace(place_of(output.path), output.flag);
    if (!fresh && !takes_several(output.path))
      fail(Fault::usage, "{} and {} would both write {}; name two files", earlier->second, output.flag,
           output.path);
  }
}

void check_replaced(const std::string& path, std::string_view what, const Settings& settings,
                    const std::function<bool()>& belongs) {
  std::error_code code;
  if (settings.force || !fs::is_regular_file(path, code) || fs::file_size(path, code) == 0) return;
  bool fits = false;
  try {
    fits = belongs();
  } catch (const Error&) {
    // Then it is no such file.
  }
  if (!fits)
    fail(Fault::mismatch, "{} holds something else than {}; name another file, or replace it with --force",
         path, what);
}

void check_result_replaced(const std::string& model_hash, const Settings& settings) {
  if (settings.json == "-") return;
  check_replaced(settings.json, "a result of this network", settings, [&] {
    const report::Document found = report::read_document(read_file(settings.json), settings.json);
    return std::ranges::none_of(found.provenance, [&](const auto& entry) {
      const auto* hash = std::get_if<std::string>(&entry.second);
      return entry.first == "model_hash" && hash != nullptr && *hash != model_hash;
    });
  });
}

}  // namespace assay::app

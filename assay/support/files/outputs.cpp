#include "assay/support/files/outputs.h"

#include <sys/stat.h>

#include <map>
#include <optional>

#include <assay/error.h>
#include "assay/support/files/file.h"
#include "assay/support/files/input_file.h"
#include "assay/support/files/journal.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

using Identity = std::pair<dev_t, ino_t>;

// Of a file that is there, not of pipes, devices and folders.
std::optional<Identity> identity_of(const fs::path& path) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) return std::nullopt;
  return Identity{about.st_dev, about.st_ino};
}

// Two texts that name one place give one path.
fs::path place_of(const fs::path& path) {
  std::error_code code;
  const fs::path place = written_place(path);
  const fs::path whole = fs::weakly_canonical(fs::absolute(place, code), code);
  return code ? place : whole;
}

// A file goes into a folder that is there, or into one that this run makes.
void require_folder_of(const Output& output, const std::vector<Output>& outputs) {
  const fs::path folder = written_place(output.path).parent_path();
  std::error_code code;
  if (folder.empty() || fs::exists(folder, code) || code) return;
  const std::string place = place_of(folder).string();
  for (const Output& made : outputs) {
    if (made.kind != Output::Kind::folder || made.path.empty()) continue;
    const std::string top = place_of(made.path).string();
    if (place == top || place.starts_with(top + "/")) return;
  }
  fail(Fault::io, "{}: there is no folder {}; make it first, or name another file for {}", output.path,
       folder.string(), output.name);
}

// A terminal or /dev/null takes what several outputs write.
bool takes_several(const fs::path& path) {
  struct stat about {};
  return ::stat(path.c_str(), &about) == 0 && S_ISCHR(about.st_mode);
}

}  // namespace

void check_outputs(const std::vector<Output>& outputs, const std::vector<NamedPath>& inputs) {
  std::map<Identity, std::string> read;
  for (const auto& [path, name] : inputs) {
    if (const auto identity = identity_of(path)) read.emplace(*identity, name);
  }
  std::map<fs::path, std::string> places;
  for (const Output& output : outputs) {
    if (output.path.empty()) continue;
    if (output.kind == Output::Kind::folder) {
      require_writable_folder(output.path);
      continue;
    }
    require_folder_of(output, outputs);
    if (output.kind == Output::Kind::journal) Journal::require_place(output.path);
    require_writable(output.path);
    if (output.goes_on) require_kept(output.name, output.path);
    const auto identity = identity_of(output.path);
    const auto input = identity ? read.find(*identity) : read.end();
    if (input != read.end() && !output.goes_on) {
      fail(Fault::usage, "{} would overwrite {}, which {} reads; name another file", output.name, output.path,
           input->second);
    }
    const auto [earlier, fresh] = places.emplace(place_of(output.path), output.name);
    if (!fresh && !takes_several(output.path))
      fail(Fault::usage, "{} and {} would both write {}; name two files", earlier->second, output.name,
           output.path);
  }
}

void check_replaced(const fs::path& path, std::string_view what, const std::function<bool()>& belongs) {
  std::error_code code;
  if (!fs::is_regular_file(path, code) || fs::file_size(path, code) == 0) return;
  bool fits = false;
  try {
    fits = belongs();
  } catch (const Error& error) {
    if (error.fault() == Fault::interrupted) throw;
    // Then it is no such file.
  }
  if (!fits)
    fail(Fault::mismatch, "{} holds something else than {}; name another file, or have it replaced",
         path.string(), what);
}

}  // namespace assay

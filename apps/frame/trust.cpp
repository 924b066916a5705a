#include "apps/frame/trust.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include <assay/error.h>
#include "apps/frame/flags.h"
#include "assay/support/files/file.h"
#include "assay/support/files/toml_file.h"

namespace assay::frame {
namespace {

namespace fs = std::filesystem;

fs::path folder_in(const char* variable) {
  const char* const value = std::getenv(variable);
  const fs::path folder = value == nullptr ? "" : value;
  return folder.is_absolute() ? folder : fs::path();
}

// ~/study in the home folder.
fs::path named_folder(const std::string& text) {
  return text.starts_with("~/") ? folder_in("HOME") / text.substr(2) : fs::path(text);
}

bool is_in_current_folder(const std::string& path) {
  std::error_code code;
  const fs::path here = fs::canonical(".", code),
                 place = fs::weakly_canonical(fs::absolute(written_place(path)), code);
  return !code && std::mismatch(here.begin(), here.end(), place.begin(), place.end()).first == here.end();
}

// Standard output, pipes and devices that are there hold nothing that could be lost.
bool holds_nothing(const std::string& path) {
  std::error_code code;
  const fs::file_status status = fs::status(path, code);
  return path == "-" || fs::is_character_file(status) || fs::is_fifo(status);
}

[[noreturn]] void refuse(const std::string& place, const std::string& what) {
  const std::string own = user_config().string();
  fail(Fault::usage,
       "{}: {}, and this file was found in the current folder, not named; if you trust it, give --trust, "
       "name it with --config{}",
       place, what, own.empty() ? "" : fmt::format(", or list the folder as trusted in {}", own));
}

}  // namespace

fs::path user_config() {
  fs::path folder = folder_in("XDG_CONFIG_HOME");
  if (folder.empty() && !folder_in("HOME").empty()) folder = folder_in("HOME") / ".config";
  return folder.empty() ? folder : folder / "assay" / "config.toml";
}

bool is_trusted(const fs::path& folder) {
  const fs::path file = user_config();
  std::error_code code;
  if (file.empty() || !fs::exists(file, code)) return false;
  bool found = false;
  for (const auto& [key, node] : read_toml(file)) {
    if (key.str() != "trusted")
      fail(Fault::usage, "{}: '{}' does not belong there; it lists folders: trusted = [\"/home/me/study\"]",
           place_in(file, node), key.str());
    for (const std::string& text : texts_of(file, node)) {
      if (!named_folder(text).is_absolute())
        fail(Fault::usage, "{}: '{}' is not an absolute path of a folder", place_in(file, node), text);
      found = found || fs::equivalent(named_folder(text), folder, code);
    }
  }
  return found;
}

void refuse_untrusted(const CLI::Option& option, const std::string& value, const std::string& place) {
  if (runs_code(option)) refuse(place, fmt::format("{} runs code", flag_of(option)));
  if (is_written(option) && !holds_nothing(value) && !is_in_current_folder(value))
    refuse(place, fmt::format("{} writes {}, which is outside the folder", flag_of(option), value));
}

void refuse_untrusted(const Configured& configured) {
  for (const auto& [option, place] : configured) {
    for (const std::string& value : option->results()) refuse_untrusted(*option, value, place);
  }
}

}  // namespace assay::frame

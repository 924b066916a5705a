#include "apps/frame/stamps.h"

#include <sys/stat.h>

#include <algorithm>

namespace assay::frame {
namespace {

namespace fs = std::filesystem;

std::optional<Stamp> stamp_of(const fs::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return {};
  return Stamp{status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_size, status.st_ino};
}

bool lies_in(const fs::path& file, const fs::path& place) {
  return std::mismatch(place.begin(), place.end(), file.begin(), file.end()).first == place.end();
}

bool is_left_out(const fs::path& file, const std::vector<fs::path>& left_out) {
  std::error_code code;
  const fs::path whole = fs::weakly_canonical(file, code);
  return std::ranges::any_of(left_out, [&](const fs::path& place) { return lies_in(whole, place); });
}

// Files that vanish meanwhile are those of the next look.
void add_folder(const fs::path& folder, const std::vector<fs::path>& left_out, Stamps& stamps) {
  std::error_code code;
  fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied, code);
  for (; !code && entry != fs::recursive_directory_iterator(); entry.increment(code)) {
    std::error_code gone;
    if (!entry->is_directory(gone) && !is_left_out(entry->path(), left_out))
      stamps[entry->path()] = stamp_of(entry->path());
  }
}

}  // namespace

Stamps stamps_of(const std::vector<fs::path>& paths, const std::vector<fs::path>& left_out) {
  Stamps stamps;
  for (const fs::path& path : paths) {
    std::error_code code;
    if (is_left_out(path, left_out)) continue;
    if (fs::is_directory(path, code))
      add_folder(path, left_out, stamps);
    else
      stamps[path] = stamp_of(path);
  }
  return stamps;
}

std::vector<std::string> changed(const Stamps& before, const Stamps& after) {
  std::vector<std::string> names;
  for (const auto& [file, stamp] : before) {
    const auto now = after.find(file);
    if (stamp != (now == after.end() ? std::nullopt : now->second)) names.push_back(file.string());
  }
  for (const auto& [file, stamp] : after) {
    if (stamp && !before.contains(file)) names.push_back(file.string());
  }
  return names;
}

}  // namespace assay::frame

#include "tests/structure/arrows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

namespace assay::structure {
namespace {

const std::string face = "include/assay/";
const std::string extending = "extend";  // the folder of the face for those who extend the library

std::vector<std::string> parts_of(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" `"), end = text.find_last_not_of(" `");
  return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

// Of internal files: "assay/model/onnx/read.cpp" is in model, "apps/assay/commands/cover.cpp" in apps/assay.
std::string folder_of_path(const std::string& path) {
  const std::vector<std::string> parts = parts_of(path, '/');
  if (parts.front() == "apps") return parts.size() > 2 ? "apps/" + parts[1] : "";
  return parts.front() == "assay" && parts.size() > 2 && parts[1] != extending ? parts[1] : "";
}

// Folder by name of public header.
class Face {
 public:
  explicit Face(const std::vector<Source>& sources) {
    std::map<std::string, std::set<std::string>> holders;  // of sources by their names
    for (const Source& source : sources) {
      const std::string folder = folder_of_path(source.path);
      folders_.insert(folder);
      // Directly in a folder of the library: model/keras/layer.cpp is not where <assay/layer.h> is
      // implemented.
      if (parts_of(source.path, '/').size() == 3 && !folder.starts_with("apps/"))
        holders[source.path.substr(source.path.rfind('/') + 1)].insert(folder);
    }
    for (const Source& source : sources) {
      if (!source.path.starts_with(face)) continue;
      const std::string file = parts_of(source.path, '/').back(), name = file.substr(0, file.rfind('.'));
      const std::set<std::string>& of_source = holders[name + ".cpp"];
      if (folders_.contains(name))
        owners_[name] = name;
      else if (of_source.size() == 1)
        owners_[name] = *of_source.begin();
    }
  }

  // Of any file of ours and of what an #include line says; empty: nobody's.
  std::string folder_of(const std::string& path) const {
    const std::vector<std::string> parts = parts_of(path, '/');
    const bool is_public = path.starts_with(face) || (parts.front() == "assay" && parts.size() == 2) ||
                           (parts.front() == "assay" && parts[1] == extending);
    if (!is_public) return folder_of_path(path);
    const auto owner = owners_.find(parts.back().substr(0, parts.back().rfind('.')));
    return owner == owners_.end() ? "" : owner->second;
  }

 private:
  std::set<std::string> folders_;
  std::map<std::string, std::string> owners_;
};

}  // namespace

Arrows arrows_of(const std::vector<Source>& sources) {
  const Face owners(sources);
  Arrows arrows;
  for (const Source& source : sources) {
    const std::string from = owners.folder_of(source.path);
    if (from.empty()) continue;
    std::set<std::string>& targets = arrows[from];
    for (const std::string& include : includes_of(source.text)) {
      const std::string to = owners.folder_of(include);
      if (!to.empty() && to != from) targets.insert(to);
    }
  }
  return arrows;
}

std::vector<Row> table_of(const std::string& page) {
  std::vector<Row> rows;
  bool inside = false;
  for (const std::string& line : parts_of(page, '\n')) {
    if (line.starts_with("| folder | may include |")) {
      inside = true;
    } else if (inside && !line.starts_with("|")) {
      break;
    } else if (inside && !line.starts_with("|---")) {
      const std::vector<std::string> cells = parts_of(line, '|');
      Row row{.folder = trimmed(cells.at(1)), .may_include = {}};
      for (const std::string& name : parts_of(cells.at(2), ','))
        if (!trimmed(name).empty()) row.may_include.insert(trimmed(name));
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

std::vector<std::string> disagreements(const Arrows& arrows, const std::vector<Row>& table) {
  std::vector<std::string> found;
  std::set<std::string> above;
  for (const Row& row : table) {
    for (const std::string& name : row.may_include)
      if (!above.contains(name))
        found.push_back(
            fmt::format("{} -> {}: the table has no {} above {}", row.folder, name, name, row.folder));
    above.insert(row.folder);
    const auto real = arrows.find(row.folder);
    if (real == arrows.end())
      found.push_back(fmt::format("{} has a row and no sources", row.folder));
    else if (real->second != row.may_include) {
      found.push_back(fmt::format("{} includes \"{}\", its row says \"{}\"", row.folder,
                                  fmt::join(real->second, ", "), fmt::join(row.may_include, ", ")));
    }
  }
  for (const auto& [folder, targets] : arrows)
    if (!above.contains(folder))
      found.push_back(fmt::format("{} has no row; it includes \"{}\"", folder, fmt::join(targets, ", ")));
  return found;
}

std::vector<std::string> internal_includes(const std::vector<Source>& sources) {
  std::vector<std::string> found;
  for (const Source& source : sources) {
    if (!source.path.starts_with(face)) continue;
    for (const std::string& include : includes_of(source.text))
      if (!folder_of_path(include).empty()) found.push_back(source.path + " includes " + include);
  }
  return found;
}

}  // namespace assay::structure

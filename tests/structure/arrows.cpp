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

bool is_public(const std::string& path) {
  const std::vector<std::string> parts = parts_of(path, '/');
  return path.starts_with(face) ||
         (parts.front() == "assay" && (parts.size() == 2 || (parts.size() == 3 && parts[1] == extending)));
}

// "extend/rule.h" of "assay/extend/rule.h", as includes name it, or of "include/assay/extend/rule.h".
std::string public_name(const std::string& path) {
  return path.substr(path.starts_with(face) ? face.size() : std::string("assay/").size());
}

// Of any file of ours and of what an #include line says; empty: of none.
std::string folder_of(const std::string& path, const Owners& owners) {
  if (!is_public(path)) return folder_of_path(path);
  const auto owner = owners.find(public_name(path));
  return owner == owners.end() ? "" : owner->second;
}

}  // namespace

Arrows arrows_of(const std::vector<Source>& sources, const Owners& owners) {
  Arrows arrows;
  for (const Source& source : sources) {
    const std::string from = folder_of(source.path, owners);
    if (from.empty()) continue;
    std::set<std::string>& targets = arrows[from];
    for (const std::string& include : includes_of(source.text)) {
      const std::string to = folder_of(include, owners);
      if (!to.empty() && to != from) targets.insert(to);
    }
  }
  return arrows;
}

Arrows inner_arrows_of(const std::vector<Source>& sources) {
  Arrows arrows;
  for (const Source& source : sources) {
    if (folder_of_path(source.path).empty()) continue;
    const std::vector<std::string> from = parts_of(source.path, '/');
    for (const std::string& include : includes_of(source.text)) {
      const std::vector<std::string> to = parts_of(include, '/');
      const auto [of_from, of_to] = std::ranges::mismatch(from, to);
      const auto common = of_from - from.begin();
      if (common < 2 || common + 1 >= std::ssize(from) || common + 1 >= std::ssize(to)) continue;
      const std::string inside = fmt::format("{}/", fmt::join(from.begin() + 1, of_from, "/"));
      arrows[inside + *of_from].insert(inside + *of_to);
      arrows[inside + *of_to];
    }
  }
  return arrows;
}

std::vector<Row> table_of(const std::string& page, const std::string& heading) {
  std::vector<Row> rows;
  bool inside = false;
  for (const std::string& line : parts_of(page, '\n')) {
    if (line.starts_with("| " + heading + " | may include |")) {
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

Owners owners_of(const std::string& page) {
  Owners owners;
  std::string folder;
  bool inside = false;
  for (const std::string& line : parts_of(page, '\n')) {
    if (line.starts_with("| header")) {
      inside = true;
      folder = line.find("`extend/`") == std::string::npos ? "" : extending + "/";
    } else if (!line.starts_with("|")) {
      inside = false;
    } else if (inside && !line.starts_with("|---")) {
      const std::vector<std::string> cells = parts_of(line, '|');
      for (const std::string& name : parts_of(cells.at(1), ','))
        owners[folder + trimmed(name)] = trimmed(cells.at(3));
    }
  }
  return owners;
}

std::vector<std::string> ownership_faults(const std::vector<Source>& sources, const Owners& owners) {
  std::set<std::string> headers, folders;
  for (const Source& source : sources) {
    if (is_public(source.path)) headers.insert(public_name(source.path));
    folders.insert(folder_of_path(source.path));
  }
  std::vector<std::string> found;
  for (const std::string& header : headers)
    if (!owners.contains(header))
      found.push_back(fmt::format("<assay/{}> has no row that says from where it is", header));
  for (const auto& [header, folder] : owners) {
    if (!headers.contains(header))
      found.push_back(fmt::format("<assay/{}> has a row and does not exist", header));
    if (!folders.contains(folder))
      found.push_back(fmt::format("<assay/{}> is from {}, which has no sources", header, folder));
  }
  return found;
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

#include "assay/data/name_index.h"

#include <filesystem>

namespace assay::inline data {

bool NameIndex::add(const std::string& name, std::size_t entry) {
  const auto [stem, first] = stems_.emplace(std::filesystem::path(name).stem().string(), entry);
  if (!first) stem->second = std::nullopt;
  return names_.emplace(name, entry).second;
}

std::optional<std::size_t> NameIndex::find(const std::string& id) const {
  const std::filesystem::path path(id);
  for (const std::string& key : {id, path.filename().string(), path.stem().string()}) {
    if (const auto name = names_.find(key); name != names_.end()) return name->second;
    if (const auto stem = stems_.find(key); stem != stems_.end() && stem->second) return stem->second;
  }
  return std::nullopt;
}

}  // namespace assay::inline data

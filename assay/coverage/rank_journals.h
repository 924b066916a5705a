#pragma once

// Journals of coverage that several ranks measure: each rank has a file next to that of the first. When the
// run is started again, with any number of ranks, the first takes over all of them.

#include <filesystem>
#include <string>
#include <vector>

#include "assay/support/files/journal.h"

namespace assay::coverage {

// FILE.journal.rank-3
inline std::filesystem::path journal_of_rank(const std::filesystem::path& journal, std::size_t rank) {
  return rank == 0 ? journal : std::filesystem::path(journal.string() + ".rank-" + std::to_string(rank));
}

// Those of ranks other than the first that are there.
inline std::vector<std::filesystem::path> rank_journals(const std::filesystem::path& journal) {
  std::vector<std::filesystem::path> found;
  std::error_code code;
  const std::string start = journal.filename().string() + ".rank-";
  const std::filesystem::path folder = journal.has_parent_path() ? journal.parent_path() : ".";
  for (const auto& entry : std::filesystem::directory_iterator(folder, code)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(start) && name.find_first_not_of("0123456789", start.size()) == std::string::npos)
      found.push_back(entry.path());
  }
  return found;
}

// Once nothing has to be repeated. Throws as Journal::remove().
inline void remove_journals(const std::filesystem::path& journal) {
  for (const std::filesystem::path& other : rank_journals(journal)) Journal::remove(other);
  Journal::remove(journal);
}

}  // namespace assay::coverage

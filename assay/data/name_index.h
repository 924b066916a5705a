#pragma once

// Which entry of a table or an annotation file is a record's.

#include <cstddef>
#include <map>
#include <optional>
#include <string>

namespace assay::inline data {

// Entries are named by path, file name or stem, and so are records. A stem stands for an entry only where no
// other has it; whole names come first.
class NameIndex {
 public:
  // False where an entry has that name already.
  bool add(const std::string& name, std::size_t entry);
  // Of a record by its id. O(log entries).
  std::optional<std::size_t> find(const std::string& id) const;

 private:
  std::map<std::string, std::size_t> names_;
  std::map<std::string, std::optional<std::size_t>> stems_;  // nothing: several have it
};

}  // namespace assay::inline data

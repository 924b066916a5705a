#pragma once

// Reasons to doubt figures that commands look for (docs/warnings.md), so that a reader knows of those that
// were not found as well.

#include <string>
#include <vector>

namespace assay::report {

struct WarningKind {
  std::string id;                          // "same-data"
  std::string found_when;                  // "the test set is the training set, by its content hash"
  std::vector<std::string> looked_for_by;  // commands; none: by every one that runs a network
};

const std::vector<WarningKind>& warning_kinds();

// Whether a command looks for it.
bool looks_for(const std::string& command, const WarningKind& kind);

}  // namespace assay::report

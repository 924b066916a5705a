#pragma once

// Steps and requirements of an evidence pack in assay.toml: [[evidence.step]] and [[evidence.requirement]]
// (docs/evidence.md).

#include <filesystem>
#include <set>
#include <string>
#include <utility>

#include "assay/evidence/study.h"

namespace assay::app {

struct StudyFile {
  evidence::Study study;  // without title
  // Keys that the file gives a command in the table of its name: {"evaluate", "data"}.
  std::set<std::pair<std::string, std::string>> given;
};

// Throws Error{usage} with file and line for keys that are not known and values of the wrong type.
StudyFile read_study(const std::filesystem::path& file);

}  // namespace assay::app

#pragma once

// Steps, requirements and approvals of an evidence pack in assay.toml: [[evidence.step]],
// [[evidence.requirement]] and [[approval]] (docs/evidence.md).

#include <filesystem>
#include <set>
#include <string>
#include <utility>

#include "assay/evidence/study.h"

namespace assay::evidence {

// Keys that a configuration file gives a command in the table of its name: {"evaluate", "data"}.
using GivenKeys = std::set<std::pair<std::string, std::string>>;

struct StudyFile {
  Study study;  // without title
  GivenKeys given;
};

// Throws Error{usage} with file and line for keys that are not known and values of the wrong type.
StudyFile read_study(const std::filesystem::path& file);

}  // namespace assay::evidence

#pragma once

// What activations cause: clean and corrupted runs, heads taken out.

#include <string>

#include <assay/patching.h>
#include <assay/report.h>
#include "assay/answers/accuracy.h"
#include "assay/answers/setting.h"
#include "assay/report/conditions.h"

namespace assay::answers {

struct PatchingQuestion {
  DatasetPtr corrupted = {};  // null: nothing is patched
  inspection::PatchOptions patching = {};
  std::string ablate = {};  // "zero" or "mean"; empty: no head is taken out
  inspection::AblationOptions ablation = {};
  std::size_t top = 20;     // strongest sites in a table
  std::string folder = {};  // for maps; empty: none
  DeclaredAccuracy accuracy = {};
  report::Conditions conditions = {};
};

// REQUIRES corrupted records or `ablate`.
report::Document patching(const Session& session, const DatasetPtr& clean, const PatchingQuestion& question,
                          const Setting& setting, Progress& progress);

}  // namespace assay::answers

#pragma once

// The catalogue of criteria. Adding one: a file beside idc.cpp, a line in catalogue.cpp, a test, a page in docs/algorithms.

#include <memory>
#include <span>
#include <string>

#include "assay/coverage/criterion.h"
#include "assay/coverage/profile.h"

namespace assay {

struct CriterionInfo {
  std::string name, summary, definition, paper;
  // A fresh criterion for a layer's first `m` important neurons.
  std::unique_ptr<Criterion> (*make)(const LayerProfile& profile, std::size_t m);
};

std::span<const CriterionInfo> criteria();
// Throws Error{usage} with the nearest name.
const CriterionInfo& find_criterion(const std::string& name);

// One function per criterion, defined in the file of that name.
CriterionInfo idc_criterion();

}  // namespace assay

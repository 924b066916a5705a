#pragma once

#include <span>
#include <string>

#include "assay/evidence/manifest.h"
#include "assay/evidence/study.h"

namespace assay::evidence {

// Network and data sets as CycloneDX 1.6 (ECMA-424) JSON: a component of type machine-learning-model with its
// model card, one of type data for each data set, SHA-256 of their files, and the program that measured.
std::string bill_of_materials(const Manifest& manifest, std::span<const StepResult> results);

}  // namespace assay::evidence

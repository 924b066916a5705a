#pragma once

// The catalogue of constraints. Adding one: a file in constraints/, a line here and in constraints.cpp, a test, a section in
// docs/algorithms/exploration.md.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "assay/explore/constraint.h"
#include "assay/support/spec.h"

namespace assay {

struct ConstraintInfo {
  std::string name, summary;   // "light", one line
  std::string definition;      // what it does, exactly
  std::string limits;
  std::string paper;
  std::vector<SpecOption> options;
  std::unique_ptr<Constraint> (*make)(const SpecOptions& options) = nullptr;
};

std::span<const ConstraintInfo> constraints();
// Throws Error{usage} with the nearest name.
const ConstraintInfo& find_constraint(const std::string& name);
// All of these together, applied in their order; none: everything within the valid range is allowed. Throws Error{usage} for
// options that do not exist or make no sense.
std::unique_ptr<Constraint> make_constraint(std::span<const Spec> specs);

// One function per constraint, defined in the file of that name.
ConstraintInfo light_constraint();
ConstraintInfo occl_constraint();
ConstraintInfo blackout_constraint();
ConstraintInfo linf_constraint();
ConstraintInfo l2_constraint();
ConstraintInfo contrast_constraint();
ConstraintInfo blur_constraint();
ConstraintInfo additive_constraint();
ConstraintInfo features_constraint();
ConstraintInfo mask_constraint();

}  // namespace assay

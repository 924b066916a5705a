#pragma once

// The catalogue of mutation operators. Adding one: a file beside its siblings, a line in catalogue.cpp, a test, a paragraph
// in docs/algorithms/mutation-operators.md.

#include <span>
#include <string>
#include <vector>

#include "assay/mutation/operator.h"

namespace assay {

std::span<const OperatorInfo> mutation_operators();
// Throws Error{usage} with the nearest name.
const OperatorInfo& find_mutation_operator(const std::string& name);
// The options given, checked, with defaults for the others. Throws Error{usage}.
SpecOptions mutation_options(const Spec& spec);

// Operators with the options a paper uses.
struct MutationPreset {
  std::string name, summary;
  std::vector<std::string> operators;  // specs
  std::size_t per_operator = 50;
  bool whole_network = false;
};
std::span<const MutationPreset> mutation_presets();
// Throws Error{usage} with the nearest name.
const MutationPreset& find_mutation_preset(const std::string& name);

// One function per operator, defined in the file of that name.
OperatorInfo gf_operator();
OperatorInfo ws_operator();
OperatorInfo neb_operator();
OperatorInfo nai_operator();
OperatorInfo ns_operator();
OperatorInfo ld_operator();
OperatorInfo lam_operator();
OperatorInfo afrm_operator();
OperatorInfo wi_operator();
OperatorInfo stuck_operator();
OperatorInfo bitflip_operator();
OperatorInfo fp16_operator();
OperatorInfo bf16_operator();
OperatorInfo int8_operator();

}  // namespace assay

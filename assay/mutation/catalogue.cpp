#include "assay/mutation/catalogue.h"

#include "assay/support/error.h"
#include "assay/support/text.h"

namespace assay {

std::span<const OperatorInfo> mutation_operators() {
  static const OperatorInfo all[] = {
      gf_operator(), ws_operator(), neb_operator(), nai_operator(), ns_operator(), ld_operator(), lam_operator(), afrm_operator(),
      wi_operator(), stuck_operator(), bitflip_operator(), fp16_operator(), bf16_operator(), int8_operator(),
  };
  return all;
}

const OperatorInfo& find_mutation_operator(const std::string& name) {
  std::vector<std::string> names;
  for (const OperatorInfo& info : mutation_operators()) {
    if (info.name == name) return info;
    names.push_back(info.name);
  }
  fail(Fault::usage, "no mutation operator is named '{}'{}; there are {} (`assay operators` explains them)", name, did_you_mean(name, names), joined(names));
}

SpecOptions mutation_options(const Spec& spec) { return SpecOptions("mutation operator", spec, find_mutation_operator(spec.name).options); }

}  // namespace assay

// Mutation operators with the options of a paper.

#include "assay/mutation/catalogue.h"
#include "assay/support/error.h"
#include "assay/support/text.h"

namespace assay {

std::span<const MutationPreset> mutation_presets() {
  static const MutationPreset all[] = {
      {.name = "deepmutation",
       .summary = "Ma et al., ISSRE 2018: the eight model-level operators, 1 % of the weights or neurons of the whole network, 50 mutants each",
       .operators = {"gf[ratio=0.01]", "ws[ratio=0.01]", "neb[ratio=0.01]", "nai[ratio=0.01]", "ns[ratio=0.01]", "ld", "lam", "afrm"},
       .whole_network = true},
      {.name = "default",
       .summary = "the eight operators of DeepMutation, 50 mutants each, every mutant within one layer",
       .operators = {"gf", "ws", "neb", "nai", "ns", "ld", "lam", "afrm"}},
      {.name = "hardware",
       .summary = "faults of number formats and memory: bit flips, stuck neurons, reduced precision",
       .operators = {"bitflip[bits=exponent]", "bitflip[bits=mantissa]", "bitflip[bits=sign]", "stuck", "fp16", "bf16", "int8"}},
      {.name = "all",
       .summary = "every operator with its defaults",
       .operators = {"gf", "ws", "neb", "nai", "ns", "ld", "lam", "afrm", "wi", "stuck", "bitflip", "fp16", "bf16", "int8"}},
  };
  return all;
}

const MutationPreset& find_mutation_preset(const std::string& name) {
  std::vector<std::string> names;
  for (const MutationPreset& preset : mutation_presets()) {
    if (preset.name == name) return preset;
    names.push_back(preset.name);
  }
  fail(Fault::usage, "no preset is named '{}'{}; there are {}", name, did_you_mean(name, names), joined(names));
}

}  // namespace assay

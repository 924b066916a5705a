// Mutation operators with the options of a paper.

#include <assay/mutation_operator.h>

namespace assay::mutation {

Catalogue<MutationPreset>& presets() {
  static Catalogue<MutationPreset> all(
      {"preset"},
      {{{"deepmutation",
         "Ma et al., ISSRE 2018: the eight model-level operators, 1 % of the weights or neurons of the whole "
         "network, 50 mutants each",
         {"gf[ratio=0.01]", "ws[ratio=0.01]", "neb[ratio=0.01]", "nai[ratio=0.01]", "ns[ratio=0.01]", "ld",
          "lam", "afrm"}},
        50,
        true},
       {{"default",
         "the eight operators of DeepMutation, 50 mutants each, every mutant within one layer",
         {"gf", "ws", "neb", "nai", "ns", "ld", "lam", "afrm"}}},
       {{"hardware",
         "faults of number formats and memory: bit flips, stuck neurons, reduced precision",
         {"bitflip[bits=exponent]", "bitflip[bits=mantissa]", "bitflip[bits=sign]", "stuck", "fp16", "bf16",
          "int8"}}},
       {{"all",
         "every operator with its defaults",
         {"gf", "ws", "neb", "nai", "ns", "ld", "lam", "afrm", "wi", "stuck", "bitflip", "fp16", "bf16",
          "int8"}}}});
  return all;
}

}  // namespace assay::mutation

// Mutation operators with the options of a paper.

#include <assay/extend/mutation_operator.h>

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
       {{"deepmutation-source",
         "Ma et al., ISSRE 2018: the source-level operators, 1 % of the training data, 10 mutants each over "
         "all classes and 10 each in one class, at most 20 of each operator of the program",
         {"dr[ratio=0.01]", "dr[classes=random,ratio=0.01]", "le[ratio=0.01]",
          "le[classes=random,ratio=0.01]", "dm[ratio=0.01]", "dm[classes=random,ratio=0.01]",
          "df[ratio=0.01]", "df[classes=random,ratio=0.01]", "np[ratio=0.01]",
          "np[classes=random,ratio=0.01]", "lr", "las", "afrs"}},
        10,
        false,
        {{"lr", 20}, {"las", 20}, {"afrs", 20}}},
       {{"deepcrime",
         "Humbatova et al., ISSTA 2021: its operators, searched for the mildest change that is killed or "
         "tried with all values, and judged over repeated trainings",
         {"le[classes=frequent]",
          "dm",
          "unbalance",
          "overlap",
          "np[sigma=ratio]",
          "epochs",
          "batch-size",
          "learning-rate",
          "disable-batching",
          "activation",
          "afrs",
          "add-activation",
          "initialiser",
          "optimiser",
          "remove-validation",
          "clip-gradient",
          "add-bias",
          "remove-bias",
          "loss",
          "dropout",
          "add-regularisation",
          "regularisation",
          "remove-regularisation",
          "patience"}},
        1,
        false,
        {},
        {5, 10, 20}},
       {{"default",
         "the eight operators of DeepMutation, 50 mutants each, every mutant within one layer",
         {"gf", "ws", "neb", "nai", "ns", "ld", "lam", "afrm"}}},
       {{"hardware",
         "faults of number formats and memory: bit flips, stuck neurons, reduced precision",
         {"bitflip[bits=exponent]", "bitflip[bits=mantissa]", "bitflip[bits=sign]", "stuck", "fp16", "bf16",
          "int8"}}},
       {{"transformer",
         "faults of attention, norms, embeddings and positions, and of how language models are stored",
         {"head", "head[kind=swap]", "skip", "gain", "mask", "positions", "embedding", "lowrank", "int8",
          "int4", "bitflip[bits=exponent]"}}},
       {{"all",
         "every operator with its defaults",
         {"gf", "ws", "neb", "nai", "ns", "ld", "lam", "afrm", "wi", "stuck", "bitflip", "fp16", "bf16",
          "int8"}}}});
  return all;
}

}  // namespace assay::mutation

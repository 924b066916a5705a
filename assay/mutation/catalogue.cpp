#include <assay/extend/mutation_operator.h>

namespace assay::mutation {

// One line for each: NAME_operator() is defined in the file of that name.
#define ASSAY_MUTATION_OPERATORS(X) \
  X(gf)                             \
  X(ws)                             \
  X(neb)                            \
  X(nai)                            \
  X(ns)                             \
  X(ld)                             \
  X(lam)                            \
  X(afrm)                           \
  X(wi)                             \
  X(stuck)                          \
  X(bitflip)                        \
  X(int8flip)                       \
  X(fp16)                           \
  X(bf16)                           \
  X(int8)                           \
  X(int4)                           \
  X(lowrank)                        \
  X(head)                           \
  X(skip)                           \
  X(gain)                           \
  X(mask)                           \
  X(positions)                      \
  X(embedding)                      \
  X(dr)                             \
  X(le)                             \
  X(dm)                             \
  X(df)                             \
  X(np)                             \
  X(unbalance)                      \
  X(overlap)                        \
  X(corruption)                     \
  X(backdoor)                       \
  X(lr)                             \
  X(las)                            \
  X(afrs)                           \
  X(activation)                     \
  X(add_activation)                 \
  X(remove_bias)                    \
  X(add_bias)                       \
  X(dropout)                        \
  X(initialiser)                    \
  X(add_regularisation)             \
  X(regularisation)                 \
  X(remove_regularisation)          \
  X(epochs)                         \
  X(batch_size)                     \
  X(learning_rate)                  \
  X(optimiser)                      \
  X(loss)                           \
  X(momentum)                       \
  X(disable_batching)               \
  X(no_shuffling)                   \
  X(clip_gradient)                  \
  X(patience)                       \
  X(remove_validation)

#define DECLARE(name) OperatorInfo name##_operator();
ASSAY_MUTATION_OPERATORS(DECLARE)
#undef DECLARE
#define LIST(name) name##_operator(),

Catalogue<OperatorInfo>& operators() {
  static Catalogue<OperatorInfo> all({"mutation operator", "`assay operators` explains them"},
                                     {ASSAY_MUTATION_OPERATORS(LIST)});
  return all;
}
#undef LIST

const OperatorInfo& info_of(const OperatorChoice& choice) {
  return choice.object() ? *choice.object() : operators().find(choice.spec().name);
}

SpecOptions options_of(const OperatorChoice& choice) {
  return SpecOptions("mutation operator", choice.spec(), info_of(choice).options);
}

}  // namespace assay::mutation

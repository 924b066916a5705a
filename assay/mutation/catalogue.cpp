#include <assay/mutation_operator.h>

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
  X(int8)

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

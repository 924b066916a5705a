// Activation function removal before training (Ma et al., DeepMutation, ISSRE 2018;
// remove_activation_function of DeepCrime).

#include <assay/extend/mutation_operator.h>
#include "assay/mutation/operators/family.h"

namespace assay::mutation {

OperatorInfo afrs_operator() {
  return {.name = "afrs",
          .title = "activation function removal before training",
          .summary = "a layer is trained without its activation function",
          .definition =
              "the change of afrm, made before training: the layer gives its pre-activation instead of its "
              "activation",
          .limits =
              "one mutant per layer; not a final softmax or sigmoid, and not the functions inside recurrent "
              "cells",
          .paper =
              "Ma et al., DeepMutation, ISSRE 2018; Humbatova et al., DeepCrime, ISSTA 2021 "
              "(remove_activation_function)",
          .level = OperatorInfo::Level::structure,
          .program = before_training(afrm_operator())};
}

}  // namespace assay::mutation

// The same order in every epoch.

#include <assay/extend/mutation_operator.h>
#include "assay/mutation/operators/program/program_options.h"

namespace assay::mutation {

OperatorInfo no_shuffling_operator() {
  return {.name = "no-shuffling",
          .title = "shuffling off",
          .summary = "training takes the records in their order, in every epoch",
          .definition = "the recipe no longer shuffles the training records before each epoch",
          .limits = "one mutant; how much it matters depends on the order of the data",
          .paper =
              "Bengio, Practical Recommendations for Gradient-Based Training of Deep Architectures, 2012 "
              "(order of the examples)",
          .level = OperatorInfo::Level::recipe,
          .program = recipe_fault(
              [](const Program& program, const SpecOptions&) -> std::string {
                return program.recipe.shuffle ? "" : "the recipe does not shuffle";
              },
              [](const ProgramSite&, Program& program) -> std::string {
                program.recipe.shuffle = false;
                return "records are not shuffled";
              })};
}

}  // namespace assay::mutation

// Another optimiser (change_optimisation_function of Humbatova et al., DeepCrime, ISSTA 2021).

#include <assay/extend/mutation_operator.h>
#include <assay/extend/optimisers.h>
#include "assay/mutation/operators/program/program_options.h"

namespace assay::mutation {

OperatorInfo optimiser_operator() {
  return {
      .name = "optimiser",
      .title = "optimiser changed",
      .summary = "training uses another optimiser",
      .definition =
          "the recipe's optimiser becomes `to` with the options and the learning rate that Keras 2 gives it "
          "by default: sgd, rmsprop, adagrad, adadelta, adam, adamax or nadam; decay and clipping stay",
      .limits = "the same optimiser with other options does not count as a mutant",
      .paper = "Humbatova et al., DeepCrime, ISSTA 2021 (change_optimisation_function)",
      .level = OperatorInfo::Level::recipe,
      .options = {to_option("the optimiser")},
      .program = word_fault(
          {.all = [] { return training::optimisers().names(); },
           .now =
               [](const Program& program) { return parse_spec("optimiser", program.recipe.optimiser).name; },
           .fits = nullptr,
           .put =
               [](Program& program, const std::string& word) {
                 program.recipe.optimiser = word;
                 program.recipe.learning_rate.reset();
               }})};
}

}  // namespace assay::mutation

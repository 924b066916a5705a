// No validation data (remove_validation_set of Humbatova et al., DeepCrime, ISSTA 2021).

#include <assay/extend/mutation_operator.h>
#include "assay/mutation/operators/program/program_options.h"

namespace assay::mutation {

OperatorInfo remove_validation_operator() {
  return {
      .name = "remove-validation",
      .title = "validation set removed",
      .summary = "training has no validation data",
      .definition =
          "validation data are left out, and with them what rests on them: early stopping and the choice of "
          "the best epoch; records of a validation share are trained on",
      .limits =
          "one mutant, for programs with validation data; nothing changes but through early stopping "
          "and the epoch kept",
      .paper = "Humbatova et al., DeepCrime, ISSTA 2021 (remove_validation_set)",
      .level = OperatorInfo::Level::recipe,
      .program = recipe_fault(
          [](const Program& program, const SpecOptions&) -> std::string {
            return program.validation || program.recipe.validation_share > 0 ? ""
                                                                             : "there are no validation data";
          },
          [](const ProgramSite&, Program& program) -> std::string {
            const bool stopped = program.recipe.patience.has_value();
            program.validation.reset();
            program.recipe.validation_share = 0;
            program.recipe.patience.reset();
            program.recipe.min_delta = 0;
            return stopped ? "no validation data and no early stopping" : "no validation data";
          })};
}

}  // namespace assay::mutation

// All records in one step (disable_batching of Humbatova et al., DeepCrime, ISSTA 2021).

#include <fmt/format.h>

#include <assay/extend/mutation_operator.h>
#include "assay/mutation/operators/program/program_options.h"

namespace assay::mutation {

OperatorInfo disable_batching_operator() {
  return {.name = "disable-batching",
          .title = "batching disabled",
          .summary = "an epoch is one step over all records",
          .definition = "the recipe's batch becomes the number of training records",
          .limits = "one mutant; memory grows with the records",
          .paper = "Humbatova et al., DeepCrime, ISSTA 2021 (disable_batching)",
          .level = OperatorInfo::Level::recipe,
          .program = recipe_fault(
              [](const Program& program, const SpecOptions&) -> std::string {
                return program.recipe.batch >= program.training->size() ? "an epoch is one step already" : "";
              },
              [](const ProgramSite&, Program& program) {
                const std::size_t before = program.recipe.batch;
                program.recipe.batch = program.training->size();
                return fmt::format("all {} records per step instead of {}", program.recipe.batch, before);
              })};
}

}  // namespace assay::mutation

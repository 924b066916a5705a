// No penalty on weights (remove_weights_regularisation of Humbatova et al., DeepCrime, ISSTA 2021).

#include <fmt/format.h>

#include <assay/extend/mutation_operator.h>
#include "assay/mutation/operators/program/recipe_layers.h"

namespace assay::mutation {

OperatorInfo remove_regularisation_operator() {
  return {.name = "remove-regularisation",
          .title = "weights regularisation removed",
          .summary = "training no longer penalises the weights of a layer",
          .definition =
              "what the recipe has for this layer's kernel is left out; other layers keep what they have",
          .limits = "one mutant per layer with regularisation; weight decay stays",
          .paper = "Humbatova et al., DeepCrime, ISSTA 2021 (remove_weights_regularisation)",
          .level = OperatorInfo::Level::structure,
          .program = {
              .places =
                  [](const Program& program, const Subject&, const SpecOptions&) {
                    return kernel_places(program.graph, [&](const std::string& layer) -> std::string {
                      return regularisers_of(program.recipe, layer).empty() ? "it has no regularisation" : "";
                    });
                  },
              .apply =
                  [](const ProgramSite& site, Program& program) {
                    const std::string before = penalties_text(regularisers_of(program.recipe, site.place));
                    program.recipe.regularisation =
                        regularisation_without(program.recipe, program.graph, site.place);
                    return ProgramChange{1, fmt::format("{} has no {}", site.place, before)};
                  }}};
}

}  // namespace assay::mutation

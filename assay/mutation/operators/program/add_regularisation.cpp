// A penalty on weights where there is none (add_weights_regularisation of Humbatova et al., DeepCrime, ISSTA
// 2021).

#include <fmt/format.h>

#include <assay/extend/mutation_operator.h>
#include <assay/extend/optimisers.h>
#include "assay/mutation/operators/program/program_options.h"
#include "assay/mutation/operators/program/recipe_layers.h"

namespace assay::mutation {

OperatorInfo add_regularisation_operator() {
  return {
      .name = "add-regularisation",
      .title = "weights regularisation added",
      .summary = "training penalises the weights of a layer",
      .definition =
          "the recipe gets the regulariser `to` (l1, l2 or l1-l2, each with Keras's amount of 0.01) for this "
          "layer's kernel",
      .limits = "for layers without regularisation; weight decay is another matter",
      .paper = "Humbatova et al., DeepCrime, ISSTA 2021 (add_weights_regularisation)",
      .level = OperatorInfo::Level::structure,
      .options = {to_option("the regulariser")},
      .program = {.places =
                      [](const Program& program, const Subject&, const SpecOptions& options) {
                        check_word(options, training::regularisers().names());
                        return kernel_places(program.graph, [&](const std::string& layer) -> std::string {
                          return regularisers_of(program.recipe, layer).empty() ? ""
                                                                                : "it has a regularisation";
                        });
                      },
                  .apply =
                      [](const ProgramSite& site, Program& program) {
                        const std::vector<std::string> all = training::regularisers().names();
                        const std::string to = chosen_word(site, all, all);
                        program.recipe.regularisation =
                            regularisation_with(program.recipe.regularisation, to, site.place);
                        return ProgramChange{1, fmt::format("{} has {}", site.place, to)};
                      },
                  .option = "to",
                  .values = [](const Program&, const Subject&,
                               const std::string&) { return training::regularisers().names(); }}};
}

}  // namespace assay::mutation

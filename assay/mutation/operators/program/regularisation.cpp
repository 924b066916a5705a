// Another penalty on weights (change_weights_regularisation of Humbatova et al., DeepCrime, ISSTA 2021).

#include <fmt/format.h>

#include <assay/extend/mutation_operator.h>
#include <assay/extend/optimisers.h>
#include "assay/mutation/operators/program/program_options.h"
#include "assay/mutation/operators/program/recipe_layers.h"

namespace assay::mutation {
namespace {

std::vector<std::string> other_regularisers(const training::Recipe& recipe, const std::string& layer) {
  std::vector<std::string> names = training::regularisers().names();
  const std::vector<Spec> now = regularisers_of(recipe, layer);
  return now.size() == 1 ? without(std::move(names), now.front().name) : names;
}

}  // namespace

OperatorInfo regularisation_operator() {
  return {.name = "regularisation",
          .title = "weights regularisation changed",
          .summary = "training penalises the weights of a layer differently",
          .definition =
              "instead of what the recipe has for this layer's kernel it has the regulariser `to` (l1, l2 or "
              "l1-l2, each with Keras's amount of 0.01); other layers keep what they have",
          .limits =
              "for layers with regularisation; the same kind with another amount does not count as a mutant",
          .paper = "Humbatova et al., DeepCrime, ISSTA 2021 (change_weights_regularisation)",
          .level = OperatorInfo::Level::structure,
          .options = {to_option("the regulariser")},
          .program = {
              .places =
                  [](const Program& program, const Subject&, const SpecOptions& options) {
                    check_word(options, training::regularisers().names());
                    return kernel_places(program.graph, [&](const std::string& layer) -> std::string {
                      const std::vector<Spec> now = regularisers_of(program.recipe, layer);
                      if (now.empty()) return "it has no regularisation";
                      return now.size() == 1 && now.front().name == options.text("to") ? "it has it already"
                                                                                       : "";
                    });
                  },
              .apply =
                  [](const ProgramSite& site, Program& program) {
                    const std::string to = chosen_word(site, training::regularisers().names(),
                                                       other_regularisers(program.recipe, site.place));
                    const std::string before = penalties_text(regularisers_of(program.recipe, site.place));
                    program.recipe.regularisation = regularisation_with(
                        regularisation_without(program.recipe, program.graph, site.place), to, site.place);
                    return ProgramChange{1, fmt::format("{} has {} instead of {}", site.place, to, before)};
                  },
              .option = "to",
              .values = [](const Program& program, const Subject&,
                           const std::string& place) { return other_regularisers(program.recipe, place); }}};
}

}  // namespace assay::mutation

// Other fresh weights (change_weights_initialisation of Humbatova et al., DeepCrime, ISSTA 2021).

#include <fmt/format.h>

#include <algorithm>

#include <assay/extend/mutation_operator.h>
#include <assay/extend/optimisers.h>
#include "assay/mutation/operators/program/program_options.h"
#include "assay/mutation/operators/program/recipe_layers.h"
#include "assay/training/recipe_parts.h"

namespace assay::mutation {
namespace {

std::vector<std::string> all_initialisers() { return training::initialisers().names(); }

// Name of what the kernel of a layer begins with.
std::string initialiser_of(const training::Recipe& recipe, const std::string& layer) {
  std::string name = "glorot-uniform";
  for (const training::InitialiserPart& part : training::initialiser_parts(recipe.initialiser)) {
    const std::vector<std::string> layers = part.layers();
    if (part.info == nullptr) {
      name = part.name == "keras" ? "glorot-uniform" : part.name;
    } else if (layers.empty() || std::ranges::count(layers, layer) > 0) {
      name = part.name;
    }
  }
  return name;
}

bool is_matrix(const Graph& graph, const std::string& layer) {
  const std::vector<training::Weight> weights = training::find_weights(graph);
  return std::ranges::all_of(training::kernels_of(graph, weights, {layer}), [&](std::size_t kernel) {
    return graph.constant(weights[kernel].value).shape().size() == 2;
  });
}

std::vector<std::string> other_initialisers(const Program& program, const std::string& layer) {
  std::vector<std::string> names = without(all_initialisers(), initialiser_of(program.recipe, layer));
  if (!is_matrix(program.graph, layer)) std::erase(names, "identity");
  return names;
}

}  // namespace

OperatorInfo initialiser_operator() {
  return {
      .name = "initialiser",
      .title = "initialiser changed",
      .summary = "the kernel of a layer begins with other weights",
      .definition =
          "the recipe's initialiser of this layer's kernel becomes `to`, with its defaults: zeros, ones, "
          "constant "
          "(0), random-normal, random-uniform, truncated-normal, glorot-, he- and lecun-uniform and -normal, "
          "orthogonal or identity, as Keras 2 defines them",
      .limits = "identity is for matrices only; biases and recurrent kernels begin as before",
      .paper = "Humbatova et al., DeepCrime, ISSTA 2021 (change_weights_initialisation)",
      .level = OperatorInfo::Level::structure,
      .options = {to_option("the initialiser")},
      .program = {
          .places =
              [](const Program& program, const Subject&, const SpecOptions& options) {
                check_word(options, all_initialisers());
                return kernel_places(program.graph, [&](const std::string& layer) -> std::string {
                  const std::string& to = options.text("to");
                  if (to == initialiser_of(program.recipe, layer)) return "it begins so already";
                  return to == "identity" && !is_matrix(program.graph, layer) ? "its kernel is not a matrix"
                                                                              : "";
                });
              },
          .apply =
              [](const ProgramSite& site, Program& program) {
                const std::string before = initialiser_of(program.recipe, site.place),
                                  to = chosen_word(site, all_initialisers(),
                                                   other_initialisers(program, site.place));
                program.recipe.initialiser.append(",").append(Spec{to, {{"layer", site.place}}}.text());
                return ProgramChange{1,
                                     fmt::format("{} begins with {} instead of {}", site.place, to, before)};
              },
          .option = "to",
          .values = [](const Program& program, const Subject&,
                       const std::string& place) { return other_initialisers(program, place); }}};
}

}  // namespace assay::mutation

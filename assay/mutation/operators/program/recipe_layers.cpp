#include "assay/mutation/operators/program/recipe_layers.h"

#include <algorithm>

#include <assay/extend/optimisers.h>
#include "assay/support/text/text.h"
#include "assay/training/recipe_parts.h"

namespace assay::mutation {
namespace {

std::vector<Spec> regulariser_specs(const training::Recipe& recipe) {
  std::vector<Spec> specs;
  if (recipe.regularisation.empty()) return specs;
  for (const std::string& text : split_specs(recipe.regularisation))
    specs.push_back(parse_spec("regulariser", text));
  return specs;
}

// Layers that a spec names; all of `layers` when it names none.
std::vector<std::string> layers_meant(const Spec& spec, const std::vector<std::string>& layers) {
  const training::RegulariserInfo& info = training::regularisers().find(spec.name);
  std::vector<std::string> named = SpecOptions("regulariser", spec, info.options).words("layer");
  return named.empty() ? layers : named;
}

}  // namespace

std::vector<Place> kernel_places(const Graph& graph,
                                 const std::function<std::string(const std::string& layer)>& refusal) {
  std::vector<Place> places;
  for (const std::string& layer : training::kernel_layers(graph)) {
    const bool nameable = layer.find_first_of("+,[]=") == std::string::npos;
    places.push_back({layer, nameable ? refusal(layer) : "its name cannot be used in a recipe"});
  }
  if (places.empty()) places.push_back({"network", "it has no layer with a kernel"});
  return places;
}

std::vector<Spec> regularisers_of(const training::Recipe& recipe, const std::string& layer) {
  std::vector<Spec> all = regulariser_specs(recipe);
  std::erase_if(
      all, [&](const Spec& spec) { return std::ranges::count(layers_meant(spec, {layer}), layer) == 0; });
  for (Spec& spec : all) spec.options.erase("layer");
  return all;
}

std::string regularisation_without(const training::Recipe& recipe, const Graph& graph,
                                   const std::string& layer) {
  const std::vector<std::string> layers = training::kernel_layers(graph);
  std::vector<std::string> left;
  for (Spec spec : regulariser_specs(recipe)) {
    std::vector<std::string> meant = layers_meant(spec, layers);
    std::erase(meant, layer);
    if (meant.empty()) continue;
    spec.options["layer"] = joined(meant, "+");
    left.push_back(spec.text());
  }
  return joined(left, ",");
}

std::string regularisation_with(const std::string& regularisation, const std::string& name,
                                const std::string& layer) {
  return regularisation + (regularisation.empty() ? "" : ",") + Spec{name, {{"layer", layer}}}.text();
}

std::string penalties_text(const std::vector<Spec>& regularisers) {
  std::vector<std::string> texts;
  for (const Spec& spec : regularisers) texts.push_back(spec.text());
  return joined(texts, " + ");
}

}  // namespace assay::mutation

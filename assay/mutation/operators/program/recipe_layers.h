#pragma once

// The parts of a recipe about single layers.

#include <string>
#include <vector>

#include <assay/extend/mutation_operator.h>

namespace assay::mutation {

// One place a layer with a kernel, by `refusal(layer)`.
std::vector<Place> kernel_places(const Graph& graph,
                                 const std::function<std::string(const std::string& layer)>& refusal);

// Regularisers that concern the kernel of this layer, in the recipe's order.
std::vector<Spec> regularisers_of(const training::Recipe& recipe, const std::string& layer);
// The recipe's regularisation with nothing for this layer and everything as it was for the others.
std::string regularisation_without(const training::Recipe& recipe, const Graph& graph,
                                   const std::string& layer);
// The same with a regulariser for this layer, with its defaults.
std::string regularisation_with(const std::string& regularisation, const std::string& name,
                                const std::string& layer);
// "l2[amount=0.01]", several joined by +.
std::string penalties_text(const std::vector<Spec>& regularisers);

}  // namespace assay::mutation

#pragma once

// Drawing mutants of a network: which there are (docs/mutation.md).

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <assay/extend/mutation_operator.h>

namespace assay::mutation {

struct DrawOptions {
  std::vector<OperatorChoice> operators;
  std::size_t per_operator = 50;                   // at most, for each entry of `operators`
  std::map<std::string, std::size_t> counts = {};  // the same for operators of these names
  std::vector<std::string> layers;                 // that may be mutated; empty: all
  // The only neurons that are changed, ascending, by names of layers, which replace `layers`. Empty: all.
  // Operators that change a layer as a whole do not apply.
  std::map<std::string, std::vector<std::size_t>> units = {};
  // false: the sites of a mutant lie in one layer, drawn with layers weighted by their weights (weight level)
  // or neurons (neuron level). true: over all layers together, as DeepMutation does; layer-level operators
  // are not concerned.
  bool whole_network = false;
  std::uint64_t seed = 0;

  std::size_t most(const std::string& op) const {
    const auto count = counts.find(op);
    return count == counts.end() ? per_operator : count->second;
  }
};

struct NotApplicable {
  Spec op;
  std::string layer;
  std::string reason;
};

struct Drawn {
  std::vector<Mutant> mutants;                // in the order of operators
  std::vector<NotApplicable> not_applicable;  // layers that an operator cannot act on
};

// Every mutant changes something, and no two of an operator make the same change; an operator gives less than
// `per_operator` where there are no more or they are not found in a bounded number of draws. The mutants of
// one operator do not depend on which others are drawn. Throws Error{usage} for operators, options and layers
// that do not exist. Cost per mutant: that of the layer it changes.
Drawn draw_mutants(const Subject& subject, const DrawOptions& options);

}  // namespace assay::mutation

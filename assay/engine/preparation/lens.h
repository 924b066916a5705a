#pragma once

#include <span>
#include <vector>

#include <assay/session.h>
#include "assay/model/named_nodes.h"

namespace assay::inline engine {

// By value: what is computed from these, them included, but for what is only computed through `cut`.
std::vector<bool> computed_from_any(const Graph& graph, std::span<const ValueId> values, ValueId cut);

// The decision that the network would come to if it went on from `early` as it does from `late`: the nodes
// between `late` and the decision once more, under other names. Of a residual stream this is the logit lens.
// REQUIRES layers of the same shape. Throws Error{usage} where the decision does not come from `late` alone.
ValueId decision_from(const Session& session, NamedNodes& nodes, ValueId early, const Layer& late);

// Layers of the kind and shape of `late` that it is computed from, and itself: the sums of a residual stream.
std::vector<Layer> stream_before(const Session& session, const Layer& late);

}  // namespace assay::inline engine

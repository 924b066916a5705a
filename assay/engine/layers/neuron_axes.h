#pragma once

// Which axes of each value are neurons: channels, units, hidden dimensions. Decided where operators make it
// plain and carried along through the rest.

#include <vector>

#include "assay/engine/shape_inference.h"

namespace assay::inline engine {

// One entry per graph value; empty for values that do not depend on the batch.
std::vector<std::vector<int>> find_neuron_axes(const Graph& graph, const Constants& constants,
                                               std::span<const ValueInfo> infos);

}  // namespace assay::inline engine

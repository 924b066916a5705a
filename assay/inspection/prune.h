#pragma once

// Networks without some of their units.

#include <cstddef>
#include <string>
#include <vector>

#include <assay/session.h>

namespace assay::inspection {

// The network without these units of a convolution or dense layer: their weights are gone, and so are those
// by which later layers read them. Throws Error{usage} for units that there are not or when none would stay,
// and Error{unsupported} naming the node that ties the units to others (a sum of two layers, an output).
Graph without_units(const Session& session, const Layer& layer, const std::vector<std::size_t>& units);

// The network with the activations of these units set to 0, whatever the layer. Nothing gets smaller.
Graph with_units_masked(const Session& session, const Layer& layer, const std::vector<std::size_t>& units);

}  // namespace assay::inspection

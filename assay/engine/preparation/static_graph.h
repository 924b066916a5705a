#pragma once

// The graph in the form for back ends: everything that is constant for this network is a constant.

#include "assay/engine/constants.h"
#include "assay/engine/shape_inference.h"

namespace assay::inline engine {

// The same computation with folded values as constants, and with the target shapes of Reshape nodes that
// shape arithmetic computes from the batch size written out. Value ids stay valid; further constants are
// appended. Values that only served the arithmetic are gone: their producer is -1.
Graph make_static(const Graph& graph, const Constants& constants, std::span<const ValueInfo> infos);

}  // namespace assay::inline engine

#pragma once

// Numbers that a network computes from the shapes of its values, as exporters write them. Most are the same
// for every batch, so their readers can read constants.

#include <map>
#include <span>

#include <assay/tensor.h>
#include "assay/engine/shape_inference.h"

namespace assay::inline engine {

// Small values that follow from shapes alone and depend neither on how many records there are, found by
// computing them for numbers of records that are far apart, nor on what records hold.
Tensors numbers_of_shapes(const Graph& graph, const Constants& constants, std::span<const ValueInfo> infos);

}  // namespace assay::inline engine

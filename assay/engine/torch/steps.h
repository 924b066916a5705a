#pragma once

// Nodes as the module reads them.

#include <optional>
#include <span>

#include "assay/engine/backend.h"
#include "assay/engine/torch/module.h"

namespace assay::torch_module {

// Without slots. Nothing where an attribute is of a kind that no operator of the module reads.
std::optional<Step> step_of(const Graph& graph, const Node& node, const ShapeOf& shape_of);

// `inputs`: values that come with every run.
ModulePlan plan_of(const SegmentRequest& request, std::span<const ValueId> inputs);

}  // namespace assay::torch_module

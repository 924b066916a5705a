#pragma once

// Runs a plan node by node with the libtorch kernels.

#include <functional>
#include <span>
#include <vector>

#include "assay/engine/kernel.h"
#include "assay/engine/plan.h"
#include "assay/engine/tensor.h"

namespace assay {

// Sees every value that a node has just computed, and may put another tensor in its place.
using OnValue = std::function<void(ValueId, Tensor&)>;

// `values` (one entry per graph value) holds what is given; computed values are added and released as planned, so
// that afterwards the wanted values are there. Constants are taken from `constants` where `values` has nothing.
// `device`: where computation happens; a node's inputs are brought there first.
void execute(const Graph& graph, const Plan& plan, std::span<const Tensor> constants, std::vector<Tensor>& values,
             KernelContext& context, c10::Device device, const OnValue& on_value = {});

}  // namespace assay

#pragma once

// Backwards through one node by automatic differentiation: for rules without a direct formula.

#include <span>
#include <vector>

#include <assay/tensor.h>

namespace assay::relevance {

// For every input position in `positions`: the sum over outputs o of (d output_o / d input)^T cotangents[o],
// at `inputs`. Undefined cotangents count as zero. An input that the outputs do not depend on gets zeros.
// Runs the node once.
std::vector<Array> vector_jacobian(const Node& node, std::span<const Array> inputs,
                                   std::span<const std::size_t> positions, std::span<const Array> cotangents);

// The same for one input and output 0.
Array vector_jacobian(const Node& node, std::span<const Array> inputs, std::size_t position,
                      const Array& cotangent);

}  // namespace assay::relevance

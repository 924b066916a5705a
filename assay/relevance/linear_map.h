#pragma once

// The linear operations that rules work with, made from operators.

#include <memory>
#include <vector>

#include <assay/extend/rule.h>
#include <assay/graph.h>

namespace assay::relevance {

// x W for a matrix W [inputs, outputs] over the last axis of x.
std::shared_ptr<const LinearOperation> matrix_product();
// The Conv node's convolution. Copies the node.
std::shared_ptr<const LinearOperation> convolution(const Node& node);
// x * w, broadcast.
std::shared_ptr<const LinearOperation> scaling();
// Any node that is linear in input `input` for fixed input `weight`; `others` are its remaining inputs,
// undefined at those two positions and where a bias is left out. By automatic differentiation.
std::shared_ptr<const LinearOperation> linear_node(const Node& node, std::size_t input, std::size_t weight,
                                                   std::vector<Array> others);

}  // namespace assay::relevance

#pragma once

// How one operator is computed with arrays: the reference that runs everything, with gradients.
// Adding an operator: a function in one of the family files in engine/operators/, one line in
// engine/operators/catalogue.cpp, one in model/operator_traits.cpp, a test, a row in docs/operators.md.

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <assay/array_math.h>
#include <assay/extend/random.h>
#include <assay/graph.h>
#include <assay/tensor.h>

namespace assay::inline engine {

// Context of a kernel apart from its inputs.
struct KernelContext {
  bool training = false;  // dropout drops, batch normalisation uses the batch's statistics
  Rng* random = nullptr;  // for dropout in training; never null when `training`
  // In training, BatchNormalization reports updated running statistics through this (mean, variance ids).
  std::function<void(ValueId, const Array&)> update_constant;
};

// `inputs` are as in Node::inputs, undefined arrays where an optional input is absent. Returns one array
// per Node::outputs entry (undefined where the node does not name it). Gradients go
// back to its floating-point inputs wherever the mathematics allow. Throws Error{unsupported} naming node and
// attribute for forms it cannot do.
using Kernel = std::vector<Array> (*)(const Node& node, std::span<const Array> inputs,
                                      KernelContext& context);

struct KernelInfo {
  std::string_view op;
  Kernel run;
};

// All operators, sorted by name.
std::span<const KernelInfo> kernels();
// The operator's kernel, or nullptr.
Kernel find_kernel(std::string_view op);

// Runs one node; every failure becomes an Error naming the node and the input shapes.
std::vector<Array> run_node(const Node& node, std::span<const Array> inputs, KernelContext& context);

}  // namespace assay::inline engine

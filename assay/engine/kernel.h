#pragma once

// How one operator is computed with libtorch: the reference that runs everything, everywhere, with gradients.
// Adding an operator: a function in one of the family files in engine/kernels/, one line in
// engine/kernels/catalogue.cpp, one in model/operator_traits.cpp, a test, a row in docs/operators.md.

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <assay/extend/random.h>
#include <assay/tensor.h>

namespace assay {

// What a kernel may know beside its inputs.
struct KernelContext {
  bool training = false;  // dropout drops, batch normalisation uses the batch's statistics
  Rng* random = nullptr;  // for dropout in training; never null when `training`
  // In training, BatchNormalization reports updated running statistics through this (mean, variance ids).
  std::function<void(ValueId, const Tensor&)> update_constant;
};

// `inputs` are as in Node::inputs, undefined tensors where an optional input is absent. Returns one tensor
// per Node::outputs entry (undefined where the node does not name it). Must be differentiable by autograd in
// its floating-point inputs wherever the mathematics are. Throws Error{unsupported} naming node and attribute
// for forms it cannot do.
using Kernel = std::vector<Tensor> (*)(const Node& node, std::span<const Tensor> inputs,
                                       KernelContext& context);

struct KernelInfo {
  std::string_view op;
  Kernel run;
};

// All operators, sorted by name.
std::span<const KernelInfo> kernels();
// The operator's kernel, or nullptr.
Kernel find_kernel(std::string_view op);

// Runs one node; every failure inside libtorch becomes an Error naming the node and the input shapes.
std::vector<Tensor> run_node(const Node& node, std::span<const Tensor> inputs, KernelContext& context);

}  // namespace assay

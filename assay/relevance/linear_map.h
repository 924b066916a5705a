#pragma once

// The linear part of a layer, z = W x + b, as rules see it: forward and transposed, with the weights as they
// are or changed. A rule that is written with these two reads like its formula and works for every linear
// operator.

#include <functional>
#include <memory>
#include <string>

#include <assay/tensor.h>

namespace assay::relevance {

// How an operator applies weights; knows strides, groups, transposition, not the weights themselves.
class LinearOperation {
 public:
  virtual ~LinearOperation() = default;
  // W x, without bias.
  virtual Tensor apply(const Tensor& input, const Tensor& weight) const = 0;
  // W^T y with the shape of `input`, whose values do not matter.
  virtual Tensor transpose(const Tensor& output, const Tensor& weight, const Tensor& input) const = 0;
};

// Cheap to copy.
struct LinearMap {
  std::shared_ptr<const LinearOperation> operation;
  Tensor weight;
  Tensor bias;  // broadcasts over the output; undefined when there is none

  Tensor forward(const Tensor& input) const { return operation->apply(input, weight); }
  Tensor pull_back(const Tensor& output, const Tensor& input) const {
    return operation->transpose(output, weight, input);
  }
  // forward() plus bias, if there is one.
  Tensor forward_with_bias(const Tensor& input) const;
  // The map with another weight and bias: `change` of these, element by element.
  LinearMap with(const std::function<Tensor(const Tensor&)>& change) const;
};

// Operations.
// --------------------------------------------------------------------------------------------------------

// x W for a matrix W [inputs, outputs] over the last axis of x.
std::shared_ptr<const LinearOperation> matrix_product();
// The Conv node's convolution. Copies the node.
std::shared_ptr<const LinearOperation> convolution(const Node& node);
// x * w, broadcast.
std::shared_ptr<const LinearOperation> scaling();
// Any node that is linear in input `input` for fixed input `weight`; `others` are its remaining inputs,
// undefined at those two positions and where a bias is left out. By automatic differentiation.
std::shared_ptr<const LinearOperation> linear_node(const Node& node, std::size_t input, std::size_t weight,
                                                   std::vector<Tensor> others);

}  // namespace assay::relevance

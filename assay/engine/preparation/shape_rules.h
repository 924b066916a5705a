#pragma once

// Shapes of results from shapes of operands, without computing: how most networks' values are known before
// anything runs.

#include <optional>
#include <span>

#include <assay/tensor.h>

namespace assay::inline engine {

// A node's operands as far as shapes follow from them: no pointer where one is absent, values where it is
// constant.
struct OperandShape {
  const Shape* shape = nullptr;
  bool single = false;  // float32
  const Array* constant = nullptr;
};

// The shape of the node's only result, float32 as its operands, as its kernel gives it in inference. Nothing
// where no rule is known for the operator, or the node is not as it should be: its kernel then tells, or says
// what is wrong.
std::optional<Shape> result_shape(const Node& node, std::span<const OperandShape> operands);

}  // namespace assay::inline engine

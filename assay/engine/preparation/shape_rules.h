#pragma once

// Shapes of results from shapes of operands, without computing: how most networks' values are known before
// anything runs.

#include <span>
#include <vector>

#include <assay/tensor.h>

namespace assay::inline engine {

// A node's operands as far as shapes follow from them: no pointer where one is absent, values where it is
// constant.
struct OperandShape {
  const Shape* shape = nullptr;
  DType type = DType::float32;
  const Array* constant = nullptr;
};

struct ResultForm {
  Shape shape;
  DType type = DType::float32;
  friend bool operator==(const ResultForm&, const ResultForm&) = default;
};

// The node's results as its kernel gives them in inference, one for each output. None where no rule is known
// for the operator and these types, or the node is not as it should be: its kernel then tells, or says what
// is wrong.
std::vector<ResultForm> result_forms(const Node& node, std::span<const OperandShape> operands);

}  // namespace assay::inline engine

// Matrix products.

#include "assay/engine/operators/parts/support.h"

namespace assay::operators {

Outputs matmul(const Call& call) { return {array::matmul(call.input(0), call.input(1))}; }

Outputs gemm(const Call& call) {
  const auto side = [&](std::size_t i, std::string_view transposed) {
    const Array& matrix = call.input(i);
    if (matrix.rank() != 2) fail(Fault::model, "input {} has {} axes; a matrix is needed", i, matrix.rank());
    return call.node.integer(transposed, 0) != 0 ? matrix.t() : matrix;
  };
  const Array a = side(0, "transA"), b = side(1, "transB");
  const float alpha = call.node.real("alpha", 1), beta = call.node.real("beta", 1);
  const auto times = [](const Array& x, float factor) {
    return factor == 1 ? x : (x * factor).to(x.dtype());
  };
  if (call.has(2) && alpha == 1 && beta != 0) return {array::addmm(times(call.input(2), beta), a, b)};
  const Array product = times(array::mm(a, b), alpha);
  return {call.has(2) && beta != 0 ? product + times(call.input(2), beta) : product};
}

Outputs einsum(const Call& call) {
  std::vector<Array> operands;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) operands.push_back(call.input(i));
  if (operands.empty()) fail(Fault::model, "an operand is missing");
  return {array::einsum(call.node.text("equation", ""), operands)};
}

}  // namespace assay::operators

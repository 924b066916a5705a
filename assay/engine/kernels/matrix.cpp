// Matrix products.

#include "assay/engine/kernels/parts/support.h"

namespace assay::operators {

Outputs matmul(const Call& call) { return {at::matmul(call.input(0), call.input(1))}; }

Outputs gemm(const Call& call) {
  const auto side = [&](std::size_t i, std::string_view transposed) {
    const Tensor& matrix = call.input(i);
    if (matrix.dim() != 2) fail(Fault::model, "input {} has {} axes; a matrix is needed", i, matrix.dim());
    return call.node.integer(transposed, 0) != 0 ? matrix.t() : matrix;
  };
  const Tensor a = side(0, "transA"), b = side(1, "transB");
  const float alpha = call.node.real("alpha", 1), beta = call.node.real("beta", 1);
  if (call.has(2)) return {at::addmm(call.input(2), a, b, beta, alpha)};
  const Tensor product = at::mm(a, b);
  return {alpha == 1 ? product : at::mul(product, alpha).to(product.scalar_type())};
}

Outputs einsum(const Call& call) {
  std::vector<Tensor> operands;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) operands.push_back(call.input(i));
  if (operands.empty()) fail(Fault::model, "there is no operand");
  return {at::einsum(call.node.text("equation", ""), operands)};
}

}  // namespace assay::operators

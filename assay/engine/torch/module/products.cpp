// Products of matrices.

#include "assay/engine/torch/module/operators.h"

namespace assay::torch_module {

Outputs matrix_product(const Call& call) { return {at::matmul(call.x(), call.x(1))}; }

// Records are the rows of the left side.
bool takes_gemm(const Form& form) {
  return form.integer("transA", 0) == 0 && form.rank() == 2 && !form.is_constant(0);
}

Outputs gemm(const Call& call) {
  const Tensor right = call.integer("transB", 0) != 0 ? call.x(1).t() : call.x(1);
  const float alpha = call.real("alpha", 1), beta = call.real("beta", 1);
  if (call.has(2)) return {at::addmm(call.x(2), call.x(), right, beta, alpha)};
  const Tensor product = at::mm(call.x(), right);
  return {alpha == 1 ? product : product * alpha};
}

// The first letter, that of the records, has to be that of the result as well; an ellipsis may stand for
// them.
bool takes_einsum(const Form& form) {
  const std::string equation = form.text("equation", "");
  const std::size_t arrow = equation.find("->");
  return arrow != std::string::npos && arrow + 2 < equation.size() && equation[0] == equation[arrow + 2] &&
         equation.find(' ') == std::string::npos;
}

Outputs einsum(const Call& call) {
  return {at::einsum(call.text("equation", ""), at::TensorList(call.all().data(), call.all().size()))};
}

}  // namespace assay::torch_module

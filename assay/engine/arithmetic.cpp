#include "assay/engine/arithmetic.h"

#include <algorithm>
#include <chrono>

#include <assay/extend/operator_traits.h>
#include "assay/engine/lanes/kernels.h"

namespace assay::inline engine {

double multiply_adds(const Graph& graph, const Node& node, const ShapeOf& shape_of) {
  const OperatorTraits* const traits = traits_of(node.op);
  if (traits == nullptr) return 0;
  const auto shape = [&](std::size_t input) -> const Shape& {
    static const Shape none;
    const ValueId id = node.inputs.at(input);
    if (id == no_value) return none;  // an optional operand that is left out
    return graph.is_constant(id) ? graph.constant(id).shape() : shape_of(id);
  };
  const auto count = [](const Shape& of) { return static_cast<double>(element_count(of)); };
  if (node.inputs.size() < 2 || shape(0).empty() || shape(1).empty()) return 0;
  const Shape &operand = shape(0), &weights = shape(1);
  if (traits->kind == OperatorKind::recurrent) {
    if (node.inputs.size() < 3) return 0;
    return count(operand) / operand.back() * (count(weights) + count(shape(2)));
  }
  if (node.outputs.empty() || node.outputs[0] == no_value) return 0;
  const Shape& made = shape_of(node.outputs[0]);
  if (made.empty()) return 0;
  if (traits->kind == OperatorKind::convolution)
    return count(weights) / weights[0] * count(node.op == "Conv" ? made : operand);
  if (node.op == "Gemm") return count(made) * count(operand) / made[0];
  if (node.op == "MatMul") return count(made) * operand.back();
  return 0;
}

double peak_multiply_adds() {
  constexpr std::int64_t rounds = 100'000;
  constexpr int turns = 20;
  double best = 0;
  for (int turn = 0; turn < turns; ++turn) {
    const auto start = std::chrono::steady_clock::now();
    const double made = lanes::multiply_in_registers(rounds);
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    best = std::max(best, made / took.count());
  }
  return best;
}

}  // namespace assay::inline engine

// Products of two computed matrices, as in attention.

#include <algorithm>

#include "assay/array/gemm.h"
#include "assay/engine/channels/operators.h"

namespace assay::channels {
namespace {

// The matrices of a product: all axes but the last two, those of one operand broadcast where they are 1.
class Product : public Operation {
 public:
  Product(Value left, Value right, Value result)
      : left_(std::move(left)), right_(std::move(right)), result_(std::move(result)) {}
  void run(const Memory& memory, std::int64_t records) const override {
    for (std::int64_t r = 0; r < records; ++r) {
      multiply(0, memory.at(left_) + r * left_.record, memory.at(right_) + r * right_.record,
               memory.at(result_) + r * result_.record);
    }
  }

 private:
  void multiply(std::size_t axis, float* left, float* right, float* result) const {
    const std::size_t rank = result_.shape.size();
    if (axis + 2 == rank) {
      array::gemm(result_.shape[rank - 2], result_.shape[rank - 1], left_.shape[rank - 1],
                  {left, left_.strides[rank - 2], left_.strides[rank - 1]},
                  {right, right_.strides[rank - 2], right_.strides[rank - 1]},
                  {result, result_.strides[rank - 2], 1}, false);
      return;
    }
    const auto step = [&](const Value& value) { return value.shape[axis] == 1 ? 0 : value.strides[axis]; };
    for (std::int64_t i = 0; i < result_.shape[axis]; ++i)
      multiply(axis + 1, left + i * step(left_), right + i * step(right_),
               result + i * result_.strides[axis]);
  }

  Value left_, right_, result_;
};

Value transposed(Value matrices) {
  const std::size_t rank = matrices.shape.size();
  std::swap(matrices.shape[rank - 2], matrices.shape[rank - 1]);
  std::swap(matrices.strides[rank - 2], matrices.strides[rank - 1]);
  return matrices;
}

// The gradient of an operand is a product as well.
void bring_back(Compiler& compiler, ValueId operand, const Value& left, const Value& right) {
  if (!compiler.carries_gradient(operand)) return;
  const std::size_t rank = left.shape.size();
  Shape shape(rank);
  for (std::size_t d = 0; d + 2 < rank; ++d) shape[d] = std::max(left.shape[d], right.shape[d]);
  shape[rank - 2] = left.shape[rank - 2];
  shape[rank - 1] = right.shape[rank - 1];
  const Value part = compiler.temporary(shape, plain_strides(shape));
  compiler.add(std::make_unique<Product>(left, right, part));
  compiler.contribute(operand, part);
}

}  // namespace

bool supports_product(const Graph& graph, const Node& node, const ShapeOf& shape_of) {
  if (graph.is_constant(node.inputs[1])) return supports_dense(graph, node, shape_of);
  if (graph.is_constant(node.inputs[0])) return false;
  const Shape &left = shape_of(node.inputs[0]), &right = shape_of(node.inputs[1]);
  return left.size() >= 3 && left.size() == right.size() && left.size() == shape_of(node.outputs[0]).size();
}

void compile_product(Compiler& compiler, const Node& node) {
  if (compiler.graph().is_constant(node.inputs[1])) return compile_dense(compiler, node);
  const Value left = compiler.value(node.inputs[0]), right = compiler.value(node.inputs[1]);
  const Shape shape = compiler.shape(node.outputs[0]);
  const Value result = compiler.fresh(shape, plain_strides(shape));
  compiler.add(std::make_unique<Product>(left, right, result));
  compiler.define(node.outputs[0], result);
  compiler.on_way_back(node.outputs[0], {left, right},
                       [=, &compiler, inputs = node.inputs](const Value& gradient) {
                         bring_back(compiler, inputs[0], gradient, transposed(right));
                         bring_back(compiler, inputs[1], transposed(left), gradient);
                       });
}

}  // namespace assay::channels

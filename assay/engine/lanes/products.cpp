// Products of two computed matrices, as in attention.

#include <algorithm>

#include "assay/engine/lanes/operators.h"

namespace assay::lanes {
namespace {

// The matrices of a product: all axes but the last two, those of one operand broadcast where they are 1.
class Product : public Operation {
 public:
  Product(std::size_t left, std::size_t right, std::size_t result, const Shape& left_shape,
          const Shape& right_shape, const Shape& result_shape)
      : Operation({left, right}, result),
        left_elements_(element_count(left_shape)),
        right_elements_(element_count(right_shape)) {
    const std::size_t rank = result_shape.size();
    const std::int64_t rows = result_shape[rank - 2], columns = result_shape[rank - 1],
                       inner = left_shape[rank - 1];
    const auto outer = [&](const Shape& shape) { return Shape(shape.begin(), shape.end() - 2); };
    const std::vector<std::int32_t> of_left = broadcast_elements(outer(left_shape), outer(result_shape)),
                                    of_right = broadcast_elements(outer(right_shape), outer(result_shape));
    const std::int64_t matrices = element_count(outer(result_shape));
    std::vector<ProductPlace> places;
    for (std::int64_t m = 0; m < matrices; ++m) {
      const auto of = [&](const std::vector<std::int32_t>& list, std::int64_t size) {
        const std::int64_t number = list.empty() ? m : list[m];
        return static_cast<std::int32_t>(number * size * width);
      };
      places.push_back({of(of_left, rows * inner), of(of_right, inner * columns), of({}, rows * columns)});
    }
    const auto transposed = [&](auto one, auto other, auto to) {
      std::vector<ProductPlace> all;
      for (const ProductPlace& place : places) all.push_back({place.*one, place.*other, place.*to});
      return all;
    };
    using P = ProductPlace;
    forward_ = {.places = places,
                .rows = rows,
                .inner = inner,
                .columns = columns,
                .left_row = inner * width,
                .left_inner = width,
                .right_inner = columns * width,
                .right_column = width,
                .result_row = columns * width,
                .result_column = width};
    // gradient of left = gradient of result * right, transposed
    by_left_ = {.places = transposed(&P::result, &P::right, &P::left),
                .rows = rows,
                .inner = columns,
                .columns = inner,
                .left_row = columns * width,
                .left_inner = width,
                .right_inner = width,
                .right_column = columns * width,
                .result_row = inner * width,
                .result_column = width};
    // gradient of right = left, transposed, * gradient of result
    by_right_ = {.places = transposed(&P::left, &P::result, &P::right),
                 .rows = inner,
                 .inner = rows,
                 .columns = columns,
                 .left_row = width,
                 .left_inner = inner * width,
                 .right_inner = columns * width,
                 .right_column = width,
                 .result_row = columns * width,
                 .result_column = width};
  }

  void forward(const BatchBlock& block) const override {
    multiply(forward_, block.value(operand(0)), block.value(operand(1)), false, block.value(result()));
  }
  void backward(const BatchBlock& block, std::span<const GradientState> gradients) const override {
    const float* const gradient = block.gradient(result());
    if (gradients[0] != GradientState::unwanted) {
      if (gradients[0] == GradientState::first) fill(left_elements_, 0, block.gradient(operand(0)));
      multiply(by_left_, gradient, block.value(operand(1)), true, block.gradient(operand(0)));
    }
    if (gradients[1] != GradientState::unwanted) {
      if (gradients[1] == GradientState::first) fill(right_elements_, 0, block.gradient(operand(1)));
      multiply(by_right_, block.value(operand(0)), gradient, true, block.gradient(operand(1)));
    }
  }

 private:
  ProductMap forward_, by_left_, by_right_;
  std::int64_t left_elements_, right_elements_;
};

bool supports_product(const Graph& graph, const Node& node, const ShapeOf& shape_of) {
  if (std::ranges::any_of(node.inputs, [&](ValueId in) { return graph.is_constant(in); })) return false;
  const Shape &left = shape_of(node.inputs[0]), &right = shape_of(node.inputs[1]);
  // Else the records of one would meet another axis of the other.
  return left.size() >= 3 && left.size() == right.size() && left.size() == shape_of(node.outputs[0]).size();
}

void compile_product(Compiler& compiler, const Node& node) {
  const int left = compiler.slot(node.inputs[0]), right = compiler.slot(node.inputs[1]);
  compiler.add(std::make_unique<Product>(left, right, compiler.define(node.outputs[0]),
                                         compiler.shape(node.inputs[0]), compiler.shape(node.inputs[1]),
                                         compiler.shape(node.outputs[0])));
}

}  // namespace

bool supports_matmul(const Graph& graph, const Node& node, const ShapeOf& shape_of) {
  return graph.is_constant(node.inputs[1]) ? supports_dense(graph, node, shape_of)
                                           : supports_product(graph, node, shape_of);
}

void compile_matmul(Compiler& compiler, const Node& node) {
  (compiler.graph().is_constant(node.inputs[1]) ? compile_dense : compile_product)(compiler, node);
}

}  // namespace assay::lanes

#include "assay/model/onnx/shapes.h"

#include <algorithm>
#include <utility>

#include <assay/extend/operator_traits.h>

namespace assay::onnx_format {
namespace {

using KnownShape = std::optional<Shape>;

constexpr std::int64_t most_shape_elements = std::int64_t{1} << 31;  // more are not counted

// The shape that both are broadcast to.
Shape broadcast(Shape a, Shape b) {
  if (a.size() < b.size()) std::swap(a, b);
  for (std::size_t i = 0; i < b.size(); ++i) {
    std::int64_t& dim = a[a.size() - b.size() + i];
    dim = dim == 1 ? b[i] : b[i] == 1 ? dim : std::max(dim, b[i]);
  }
  return a;
}

Shape after_gemm(const Node& node, const KnownShape& left, const KnownShape& right) {
  const auto side = [&](const KnownShape& factor, const char* transposed, std::size_t axis) {
    const bool swapped = node.integer(transposed, 0) != 0;
    return factor && factor->size() == 2 ? (*factor)[swapped ? 1 - axis : axis] : -1;
  };
  return {side(left, "transA", 0), side(right, "transB", 1)};
}

KnownShape after_matmul(const KnownShape& left, const KnownShape& right) {
  if (!left || !right || left->size() < 2 || right->size() < 2) return {};
  Shape shape = broadcast({left->begin(), left->end() - 2}, {right->begin(), right->end() - 2});
  shape.push_back(*(left->end() - 2));
  shape.push_back(right->back());
  return shape;
}

Shape after_flatten(const Node& node, const KnownShape& x) {
  if (!x || x->empty() || node.integer("axis", 1) != 1) return {-1, -1};
  std::int64_t elements = 1;
  for (std::size_t i = 1; i < x->size(); ++i) {
    const std::int64_t dim = (*x)[i];
    elements = dim < 0 || elements < 0 || dim > most_shape_elements || elements * dim > most_shape_elements
                   ? -1
                   : elements * dim;
  }
  return {x->front(), elements};
}

KnownShape after_reshape(const Graph& graph, const Node& node, const KnownShape& x) {
  if (node.inputs.size() < 2 || !graph.is_constant(node.inputs[1])) return {};
  const Array& wanted = graph.constant(node.inputs[1]);
  if (wanted.dtype() != DType::int64) return {};
  Shape shape(wanted.as<std::int64_t>().begin(), wanted.as<std::int64_t>().end());
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 && node.integer("allowzero", 0) == 0)
      shape[i] = x && i < x->size() ? (*x)[i] : -1;  // as it was
  }
  return shape;
}

// The first result has the shape of the first operand.
bool keeps_shape(const OperatorTraits& traits) {
  using enum OperatorKind;
  return traits.kind == activation || traits.kind == function || traits.kind == normalisation ||
         traits.kind == pass_through || traits.kind == softmax;
}

KnownShape shape_after(const Graph& graph, const Node& node, const std::vector<KnownShape>& shapes) {
  const auto of_input = [&](std::size_t i) {
    const bool there = i < node.inputs.size() && node.inputs[i] != no_value;
    return there ? shapes[index_of(node.inputs[i])] : KnownShape();
  };
  KnownShape x = of_input(0);
  if (node.op == "Gemm") return after_gemm(node, x, of_input(1));
  if (node.op == "MatMul") return after_matmul(x, of_input(1));
  if (node.op == "Flatten") return after_flatten(node, x);
  if (node.op == "Reshape") return after_reshape(graph, node, x);
  const OperatorTraits* traits = traits_of(node.op);
  if (traits == nullptr) return {};
  if (traits->has(Trait::same_rank)) {
    if (!x || keeps_shape(*traits)) return x;
    return Shape(x->size(), -1);
  }
  if (!traits->has(Trait::broadcasts)) return {};
  KnownShape shape = x;
  for (std::size_t i = 1; i < node.inputs.size() && shape; ++i) {
    const KnownShape other = of_input(i);
    shape = other ? KnownShape(broadcast(*shape, *other)) : KnownShape();
  }
  return shape;
}

}  // namespace

std::vector<std::optional<Shape>> known_shapes(const Graph& graph) {
  std::vector<KnownShape> shapes;
  for (const Value& value : graph.values()) {
    if (value.constant)
      shapes.emplace_back(value.constant->shape());
    else
      shapes.push_back(value.shape.empty() ? KnownShape() : KnownShape(value.shape));
  }
  for (const Node& node : graph.nodes()) {
    if (node.outputs.empty() || node.outputs[0] == no_value) continue;
    KnownShape& known = shapes[index_of(node.outputs[0])];
    if (!known) known = shape_after(graph, node, shapes);
  }
  return shapes;
}

}  // namespace assay::onnx_format

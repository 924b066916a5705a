// Operators that only move elements: views, concatenation, transposition, slices, splits, padding, positions
// of an axis, choices between an operand and a number.

#include <algorithm>
#include <cstring>
#include <optional>

#include "assay/engine/lanes/movement.h"
#include "assay/engine/lanes/operators.h"

namespace assay::lanes {
namespace {

using Ints = std::vector<std::int64_t>;

// `count` elements from one place to another.
struct Run {
  std::int64_t from = 0, to = 0, count = 0;
};

class Move : public Operation {
 public:
  // By operand: what goes where, and how many elements the operand has. Elements of the result that nothing
  // goes to are `rest`.
  Move(std::vector<std::size_t> operands, std::size_t result, std::vector<std::vector<Run>> runs,
       Ints elements_in, std::int64_t elements_out, float rest = 0)
      : Operation(std::move(operands), result),
        runs_(std::move(runs)),
        elements_in_(std::move(elements_in)),
        elements_out_(elements_out),
        rest_(rest) {
    std::int64_t covered = 0;
    for (const auto& of_operand : runs_) {
      for (const Run& run : of_operand) covered += run.count;
    }
    partial_ = covered < elements_out_;
  }

  void forward(const BatchBlock& block) const override {
    float* const to = block.value(result());
    if (partial_) fill(elements_out_, rest_, to);
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      const float* const from = block.value(operand(i));
      for (const Run& run : runs_[i])
        std::memcpy(to + run.to * width, from + run.from * width, run.count * width * sizeof(float));
    }
  }

  void backward(const BatchBlock& block, std::span<const GradientState> gradients) const override {
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      if (gradients[i] == GradientState::unwanted) continue;
      float* const to = block.gradient(operand(i));
      if (gradients[i] == GradientState::first) fill(elements_in_[i], 0, to);
      for (const Run& run : runs_[i])
        add_to(run.count, block.gradient(result()) + run.to * width, to + run.from * width);
    }
  }

 private:
  std::vector<std::vector<Run>> runs_;
  Ints elements_in_;
  std::int64_t elements_out_;
  float rest_;
  bool partial_ = false;
};

// Neighbours that stay neighbours are moved together.
void append(std::vector<Run>& runs, std::int64_t from, std::int64_t to) {
  if (!runs.empty() && runs.back().from + runs.back().count == from &&
      runs.back().to + runs.back().count == to) {
    ++runs.back().count;
  } else {
    runs.push_back({from, to, 1});
  }
}

std::vector<Run> runs_of(const Shape& in, const Shape& out, const Route& route) {
  Ints strides(in.size(), 1);
  for (std::size_t d = in.size() - 1; d-- > 0;) strides[d] = strides[d + 1] * in[d + 1];
  std::vector<Run> runs;
  Ints at(out.size(), 0);
  for (std::int64_t to = 0, all = element_count(out); to < all; ++to) {
    std::int64_t from = route.fixed ? route.fixed->start * strides[route.fixed->axis] : 0;
    bool inside = true;
    for (std::size_t d = 0; d < out.size(); ++d) {
      const Course& course = route.courses[d];
      const std::int64_t x = course.place(at[d]);
      inside &= x >= 0 && x < in[course.axis];
      from += x * strides[course.axis];
    }
    if (inside) append(runs, from, to);
    for (std::size_t d = out.size(); d-- > 0 && ++at[d] == out[d];) at[d] = 0;
  }
  return runs;
}

bool integers_of(const Graph& graph, const Node& node, std::size_t input, Ints& values) {
  if (input >= node.inputs.size() || node.inputs[input] == no_value) return true;
  if (!graph.is_constant(node.inputs[input]) || graph.constant(node.inputs[input]).dtype() != DType::int64)
    return false;
  const auto found = graph.constant(node.inputs[input]).as<std::int64_t>();
  values.assign(found.begin(), found.end());
  return true;
}

}  // namespace

std::vector<Route> routes_of(const Graph& graph, const Node& node, const ShapeOf& shape_of) {
  const Shape &in = shape_of(node.inputs[0]), &out = shape_of(node.outputs[0]);
  const std::size_t rank = in.size();
  std::vector<Course> courses(out.size());
  for (std::size_t d = 0; d < courses.size(); ++d) courses[d].axis = d;
  const auto axis_of = [&](std::int64_t axis) {
    return static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis);
  };
  if (node.op == "Gather") {
    Ints at;
    const std::size_t axis = axis_of(node.integer("axis", 0));
    if (axis == 0 || !integers_of(graph, node, 1, at) || at.empty()) return {};
    for (std::int64_t& i : at) i += i < 0 ? in[axis] : 0;
    if (std::ranges::any_of(at, [&](std::int64_t i) { return i < 0 || i >= in[axis]; })) return {};
    if (out.size() == rank) {
      courses[axis].list = at;
      return {{courses}};
    }
    if (out.size() + 1 != rank) return {};
    for (std::size_t d = axis; d < courses.size(); ++d) courses[d].axis = d + 1;
    return {{courses, Course{.axis = axis, .start = at[0]}}};
  }
  if (out.size() != rank) return {};
  if (node.op == "Transpose") {
    const Ints order = node.integers("perm", {});
    if (order.size() != rank || order[0] != 0) return {};
    for (std::size_t d = 0; d < rank; ++d) courses[d].axis = order[d];
    return {{courses}};
  }
  if (node.op == "Pad") {
    Ints pads = node.integers("pads", {}), axes;
    if (!integers_of(graph, node, 1, pads) || node.text("mode", "constant") != "constant" ||
        pads.size() != 2 * rank)
      return {};
    if (node.inputs.size() > 3 && node.inputs[3] != no_value) return {};
    float rest = 0;
    if (node.inputs.size() > 2 && node.inputs[2] != no_value) {
      if (!is_float_constant(graph, node, 2) || graph.constant(node.inputs[2]).count() != 1) return {};
      rest = graph.constant(node.inputs[2]).as<float>()[0];
    }
    if (pads[0] != 0 || pads[rank] != 0) return {};
    for (std::size_t d = 0; d < rank; ++d) courses[d].start = -pads[d];
    return {{courses, {}, rest}};
  }
  if (node.op == "Slice") {
    Ints starts, ends, axes, steps;
    if (!integers_of(graph, node, 1, starts) || !integers_of(graph, node, 2, ends) ||
        !integers_of(graph, node, 3, axes) || !integers_of(graph, node, 4, steps))
      return {};
    for (std::size_t i = 0; i < starts.size(); ++i) {
      const std::size_t axis = axes.empty() ? i : axis_of(axes[i]);
      if (axis == 0) return {};
      const std::int64_t step = steps.empty() ? 1 : steps[i], size = in[axis];
      const std::int64_t start = starts[i] < 0 ? starts[i] + size : starts[i];
      courses[axis].start = std::clamp<std::int64_t>(start, 0, step < 0 ? size - 1 : size);
      courses[axis].step = step;
    }
    return {{courses}};
  }
  if (node.op == "Split") {
    const std::size_t axis = axis_of(node.integer("axis", 0));
    if (axis == 0) return {};
    std::vector<Route> all;
    std::int64_t start = 0;
    for (const ValueId id : node.outputs) {
      if (id == no_value || shape_of(id).size() != rank) return {};
      courses[axis].start = start;
      all.push_back({courses});
      start += shape_of(id)[axis];
    }
    return all;
  }
  return {};
}

bool supports_view(const Graph& graph, const Node& node, const ShapeOf& shape_of) {
  return !graph.is_constant(node.inputs[0]) && !drops(graph, node) &&
         element_count(shape_of(node.inputs[0])) == element_count(shape_of(node.outputs[0]));
}

void compile_view(Compiler& compiler, const Node& node) { compiler.alias(node.outputs[0], node.inputs[0]); }

bool supports_concat(const Graph& graph, const Node& node, const ShapeOf& shape_of) {
  const auto rank = std::ssize(shape_of(node.outputs[0]));
  const std::int64_t axis = node.integer("axis", 1);
  if (axis == 0 || axis == -rank) return false;
  return std::ranges::none_of(node.inputs, [&](ValueId in) { return graph.is_constant(in); });
}

void compile_concat(Compiler& compiler, const Node& node) {
  const Shape out = compiler.shape(node.outputs[0]);
  std::int64_t axis = node.integer("axis", 1);
  if (axis < 0) axis += std::ssize(out);
  std::int64_t outer = 1;
  for (std::size_t d = 0; d < static_cast<std::size_t>(axis); ++d) outer *= out[d];
  const std::int64_t row = element_count(out) / outer;
  std::vector<std::size_t> operands;
  std::vector<std::vector<Run>> runs;
  Ints elements;
  std::int64_t begin = 0;
  for (const ValueId id : node.inputs) {
    elements.push_back(element_count(compiler.shape(id)));
    const std::int64_t part = elements.back() / outer;
    operands.push_back(compiler.slot(id));
    auto& of_operand = runs.emplace_back();
    for (std::int64_t o = 0; o < outer; ++o) of_operand.push_back({o * part, o * row + begin, part});
    begin += part;
  }
  compiler.add(std::make_unique<Move>(std::move(operands), compiler.define(node.outputs[0]), std::move(runs),
                                      std::move(elements), element_count(out)));
}

bool supports_movement(const Graph& graph, const Node& node, const ShapeOf& shape_of) {
  return !graph.is_constant(node.inputs[0]) && !routes_of(graph, node, shape_of).empty();
}

void compile_movement(Compiler& compiler, const Node& node) {
  const ShapeOf shape_of = [&](ValueId id) -> const Shape& { return compiler.shape(id); };
  const std::vector<Route> routes = routes_of(compiler.graph(), node, shape_of);
  const Shape in = compiler.shape(node.inputs[0]);
  for (std::size_t o = 0; o < routes.size(); ++o) {
    const Shape out = compiler.shape(node.outputs[o]);
    const std::size_t operand = compiler.slot(node.inputs[0]);
    compiler.add(std::make_unique<Move>(std::vector<std::size_t>{operand}, compiler.define(node.outputs[o]),
                                        std::vector<std::vector<Run>>{runs_of(in, out, routes[o])},
                                        Ints{element_count(in)}, element_count(out), routes[o].rest));
  }
}

// Where a constant says which elements are those of a computed operand; the others are one number.
bool supports_choice(const Graph& graph, const Node& node, const ShapeOf& shape_of) {
  if (node.inputs.size() != 3 || !graph.is_constant(node.inputs[0])) return false;
  const Array& condition = graph.constant(node.inputs[0]);
  const Shape& result = shape_of(node.outputs[0]);
  if (condition.dtype() != DType::boolean || condition.shape().size() > result.size()) return false;
  if (condition.shape().size() == result.size() && condition.shape()[0] != 1) return false;
  const std::size_t number = graph.is_constant(node.inputs[1]) ? 1 : 2;
  const ValueId computed = node.inputs[3 - number];
  return is_float_constant(graph, node, number) && graph.constant(node.inputs[number]).count() == 1 &&
         !graph.is_constant(computed) && shape_of(computed).size() == result.size();
}

void compile_choice(Compiler& compiler, const Node& node) {
  const Graph& graph = compiler.graph();
  const std::size_t number = graph.is_constant(node.inputs[1]) ? 1 : 2;
  const ValueId computed = node.inputs[3 - number];
  const Array& condition = graph.constant(node.inputs[0]);
  const Shape result = compiler.shape(node.outputs[0]), operand = compiler.shape(computed);
  const std::vector<std::int32_t> truth = broadcast_elements(condition.shape(), result),
                                  from = broadcast_elements(operand, result);
  const auto at = [](const std::vector<std::int32_t>& list, std::int64_t i) {
    return list.empty() ? i : list[i];
  };
  std::vector<Run> runs;
  for (std::int64_t i = 0, all = element_count(result); i < all; ++i) {
    if (condition.elements<bool>()[at(truth, i)] == (number == 2)) append(runs, at(from, i), i);
  }
  const std::size_t slot = compiler.slot(computed);
  compiler.add(std::make_unique<Move>(std::vector<std::size_t>{slot}, compiler.define(node.outputs[0]),
                                      std::vector<std::vector<Run>>{std::move(runs)},
                                      Ints{element_count(operand)}, element_count(result),
                                      graph.constant(node.inputs[number]).as<float>()[0]));
}

}  // namespace assay::lanes

// Operators that only move elements: most of them only change how a value is looked at.

#include <algorithm>
#include <string>

#include "assay/engine/channels/operators.h"
#include "assay/engine/lanes/movement.h"

namespace assay::channels {
namespace {

// Strides under which a value has another shape where it lies; nothing if it has to be copied.
std::optional<Shape> strides_as(const Value& value, const Shape& shape) {
  Shape sizes, steps;  // axes of one element do not matter
  for (std::size_t d = 0; d < value.shape.size(); ++d) {
    if (value.shape[d] == 1) continue;
    sizes.push_back(value.shape[d]);
    steps.push_back(value.strides[d]);
  }
  Shape strides(shape.size(), 1);
  std::size_t from = 0, to = 0;
  while (from < sizes.size()) {
    // As many axes of both as hold the same number of elements.
    const std::size_t first_from = from, first_to = to;
    std::int64_t have = sizes[from++], want = shape[to++];
    while (have != want) {
      if (have < want)
        have *= sizes[from++];
      else
        want *= shape[to++];
    }
    for (std::size_t d = first_from; d + 1 < from; ++d) {
      if (steps[d] != sizes[d + 1] * steps[d + 1]) return std::nullopt;
    }
    std::int64_t step = steps[from - 1];
    for (std::size_t d = to; d-- > first_to;) {
      strides[d] = step;
      step *= shape[d];
    }
  }
  return strides;
}

// The same elements in another shape, copied where they have to be.
Value seen_as(Compiler& compiler, const Value& value, const Shape& shape) {
  std::optional<Shape> strides = strides_as(value, shape);
  Value seen = strides ? value : compiler.as(value, plain_strides(value.shape));
  seen.strides = strides ? *strides : plain_strides(shape);
  seen.shape = shape;
  return seen;
}

// What a route, which is a view, shows of a value. Axis 0 of a route is that of the batch, which stays.
Value seen_through(const lanes::Route& route, const Value& whole, const Shape& shape) {
  Value seen = whole;
  seen.shape = shape;
  seen.strides.assign(shape.size(), 1);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const lanes::Course& course = route.courses[d + 1];
    seen.strides[d] = course.step * whole.strides[course.axis - 1];
    seen.offset += course.start * whole.strides[course.axis - 1];
  }
  if (route.fixed) seen.offset += route.fixed->start * whole.strides[route.fixed->axis - 1];
  return seen;
}

// The way back through a route that shows every element once: how the operand lies in the result; nothing if
// it shows a part.
std::optional<Value> seen_backwards(const lanes::Route& route, const Value& part, const Shape& shape) {
  if (element_count(shape) != part.count()) return std::nullopt;
  Value seen = part;
  seen.shape = shape;
  seen.strides.assign(shape.size(), 1);
  for (std::size_t d = 0; d < part.shape.size(); ++d) {
    const lanes::Course& course = route.courses[d + 1];
    seen.strides[course.axis - 1] = course.step * part.strides[d];
    seen.offset -= course.start * course.step * part.strides[d];
  }
  return seen;
}

// Places outside of the operand, or that follow no step, are not views.
bool is_view(const lanes::Route& route, const Shape& in, const Shape& out) {
  for (std::size_t d = 0; d < out.size(); ++d) {
    const lanes::Course& course = route.courses[d];
    if (!course.list.empty()) return false;
    const std::int64_t last = course.place(out[d] - 1);
    if (course.start < 0 || course.start >= in[course.axis] || last < 0 || last >= in[course.axis])
      return false;
  }
  return true;
}

// A constant that is the same for all records.
class Repetition : public Operation {
 public:
  Repetition(std::vector<float> record, Value result)
      : record_(std::move(record)), result_(std::move(result)) {}
  void run(const Memory& memory, std::int64_t records) const override {
    for (std::int64_t r = 0; r < records; ++r)
      std::ranges::copy(record_, memory.at(result_) + r * result_.record);
  }

 private:
  std::vector<float> record_;
  Value result_;
};

// How often each axis repeats its positions where a Resize takes the nearest ones, a whole number of times
// larger; nothing where it does anything else.
std::optional<Shape> repeats_of(const Graph& graph, const Node& node, const ShapeOf& shape_of) {
  const std::string places = node.text("coordinate_transformation_mode", "half_pixel"),
                    nearest = node.text("nearest_mode", "round_prefer_floor");
  const bool from_corner = places == "asymmetric" && nearest == "floor",
             from_middle = places == "half_pixel" && nearest.starts_with("round_prefer");
  if (node.text("mode", "nearest") != "nearest" || !(from_corner || from_middle)) return std::nullopt;
  if (node.has("axes") || node.has("keep_aspect_ratio_policy")) return std::nullopt;
  const Shape &in = shape_of(node.inputs[0]), &out = shape_of(node.outputs[0]);
  const bool scaled = node.inputs.size() > 2 && node.inputs[2] != no_value;
  if (in.size() != out.size() || (scaled && !is_float_constant(graph, node, 2))) return std::nullopt;
  const std::vector<float> scales = scaled ? floats(graph.constant(node.inputs[2])) : std::vector<float>();
  Shape repeats;
  for (std::size_t d = 0; d < in.size(); ++d) {
    repeats.push_back(out[d] / in[d]);
    const bool whole = repeats[d] * in[d] == out[d],
               told = scales.empty() || scales.at(d) == static_cast<float>(repeats[d]);
    if (repeats[d] < 1 || !whole || !told) return std::nullopt;
  }
  return repeats[0] == 1 ? std::optional(Shape(repeats.begin() + 1, repeats.end())) : std::nullopt;
}

// Every axis as two: the positions, and those that repeat each. `repeated` where the value holds all of
// them; otherwise every repeat is at the same place.
Value with_repeats(const Value& value, const Shape& repeats, bool repeated) {
  Value seen = value;
  seen.shape.clear();
  seen.strides.clear();
  for (std::size_t d = 0; d < repeats.size(); ++d) {
    const std::int64_t step = value.strides[d];
    seen.shape.insert(seen.shape.end(),
                      {repeated ? value.shape[d] / repeats[d] : value.shape[d], repeats[d]});
    seen.strides.insert(seen.strides.end(), {repeated ? step * repeats[d] : step, repeated ? step : 0});
  }
  return seen;
}

// Whether channels lie side by side, which they do not in the plain order.
bool lies_channels_last(const Value& value) {
  return lies_as(value, channels_last_strides(value.shape)) && !lies_as(value, plain_strides(value.shape));
}

// Where the operand lies in its padded result, along a route that holds all of it.
Value inside(const lanes::Route& route, Value padded, const Shape& operand) {
  for (std::size_t d = 0; d < operand.size(); ++d)
    padded.offset -= route.courses[d + 1].start * padded.strides[d];
  padded.shape = operand;
  return padded;
}

std::size_t axis_of_concat(const Node& node, std::size_t rank) {
  const std::int64_t axis = node.integer("axis", 1);
  return axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis;
}

}  // namespace

// The batch axis is that of the constant, of size 1, or in front of it.
bool supports_repetition(const Graph& graph, const Node& node, const ShapeOf& shape_of) {
  if (!is_float_constant(graph, node, 0)) return false;
  const Shape &data = graph.constant(node.inputs[0]).shape(), &all = shape_of(node.outputs[0]);
  if (data.size() > all.size() || (data.size() == all.size() && data[0] != 1)) return false;
  for (std::size_t d = 0; d < data.size(); ++d) {
    const std::int64_t size = all[d + all.size() - data.size()];
    if (data[d] != 1 && data[d] != size) return false;
  }
  return true;
}

void compile_repetition(Compiler& compiler, const Node& node) {
  const Array& data = compiler.graph().constant(node.inputs[0]);
  const Shape shape = compiler.shape(node.outputs[0]);
  Shape axes = data.shape();
  if (axes.size() > shape.size()) axes.erase(axes.begin());
  const Shape steps = plain_strides(axes);
  Value from{.shape = shape, .strides = Shape(shape.size(), 0)};
  for (std::size_t d = 0; d < axes.size(); ++d)
    from.strides[d + shape.size() - axes.size()] = axes[d] == 1 ? 0 : steps[d];
  const Value result = compiler.fresh(shape, plain_strides(shape));
  std::vector<float> record(result.count());
  arrange(from, floats(data).data(), result, record.data());
  compiler.add(std::make_unique<Repetition>(std::move(record), result));
  compiler.define(node.outputs[0], result);
}

bool supports_view(const Graph& graph, const Node& node, const ShapeOf& shape_of) {
  return !graph.is_constant(node.inputs[0]) && !drops(graph, node) &&
         element_count(shape_of(node.inputs[0])) == element_count(shape_of(node.outputs[0]));
}

void compile_view(Compiler& compiler, const Node& node) {
  const Value seen = seen_as(compiler, compiler.value(node.inputs[0]), compiler.shape(node.outputs[0]));
  compiler.define(node.outputs[0], seen);
  compiler.on_way_back(node.outputs[0], {}, [&compiler, in = node.inputs[0]](const Value& gradient) {
    compiler.contribute(in, seen_as(compiler, gradient, compiler.shape(in)));
  });
}

bool supports_movement(const Graph& graph, const Node& node, const ShapeOf& shape_of) {
  if (graph.is_constant(node.inputs[0])) return false;
  const std::vector<lanes::Route> routes = lanes::routes_of(graph, node, shape_of);
  if (routes.empty()) return false;
  for (std::size_t o = 0; o < routes.size(); ++o) {
    if (!is_view(routes[o], shape_of(node.inputs[0]), shape_of(node.outputs[o]))) return false;
  }
  return true;
}

void compile_movement(Compiler& compiler, const Node& node) {
  const ShapeOf shape_of = [&](ValueId id) -> const Shape& { return compiler.whole_shape(id); };
  const std::vector<lanes::Route> routes = lanes::routes_of(compiler.graph(), node, shape_of);
  for (std::size_t o = 0; o < routes.size(); ++o) {
    const Shape shape = compiler.shape(node.outputs[o]);
    compiler.define(node.outputs[o], seen_through(routes[o], compiler.value(node.inputs[0]), shape));
    compiler.on_way_back(node.outputs[o], {},
                         [&compiler, shape, route = routes[o], in = node.inputs[0]](const Value& gradient) {
                           if (const auto turned = seen_backwards(route, gradient, compiler.shape(in)))
                             return compiler.contribute(in, *turned);
                           const Value whole = compiler.gradient_to_add_to(in);
                           compiler.add(accumulation(gradient, seen_through(route, whole, shape)));
                         });
  }
}

// With one number on any side; nothing is cut off.
bool supports_padding(const Graph& graph, const Node& node, const ShapeOf& shape_of) {
  if (graph.is_constant(node.inputs[0])) return false;
  const std::vector<lanes::Route> routes = lanes::routes_of(graph, node, shape_of);
  const Shape &in = shape_of(node.inputs[0]), &out = shape_of(node.outputs[0]);
  for (std::size_t d = 0; d < out.size() && !routes.empty(); ++d) {
    const lanes::Course& course = routes[0].courses[d];
    if (course.start > 0 || course.place(out[d] - 1) + 1 < in[d]) return false;
  }
  return !routes.empty();
}

void compile_padding(Compiler& compiler, const Node& node) {
  const ShapeOf shape_of = [&](ValueId id) -> const Shape& { return compiler.whole_shape(id); };
  const lanes::Route route = lanes::routes_of(compiler.graph(), node, shape_of)[0];
  const Value& operand = compiler.value(node.inputs[0]);
  const Shape shape = compiler.shape(node.outputs[0]);
  Value result = operand;
  if (shape != operand.shape) {
    result = compiler.fresh(
        shape, lies_channels_last(operand) ? channels_last_strides(shape) : plain_strides(shape));
    if (route.rest == 0)
      compiler.add(clearing(result));
    else
      compiler.add(std::make_unique<Repetition>(std::vector<float>(result.count(), route.rest), result));
    compiler.add(arrangement(operand, inside(route, result, operand.shape)));
  }
  compiler.define(node.outputs[0], result);
  compiler.on_way_back(node.outputs[0], {}, [&compiler, route, in = node.inputs[0]](const Value& gradient) {
    compiler.contribute(in, inside(route, gradient, compiler.shape(in)));
  });
}

bool supports_resize(const Graph& graph, const Node& node, const ShapeOf& shape_of) {
  return !graph.is_constant(node.inputs[0]) && repeats_of(graph, node, shape_of).has_value();
}

void compile_resize(Compiler& compiler, const Node& node) {
  const ShapeOf shape_of = [&](ValueId id) -> const Shape& { return compiler.whole_shape(id); };
  const Shape repeats = *repeats_of(compiler.graph(), node, shape_of),
              shape = compiler.shape(node.outputs[0]);
  const Value& operand = compiler.value(node.inputs[0]);
  const Value result = compiler.fresh(
      shape, lies_channels_last(operand) ? channels_last_strides(shape) : plain_strides(shape));
  compiler.add(arrangement(with_repeats(operand, repeats, false), with_repeats(result, repeats, true)));
  compiler.define(node.outputs[0], result);
  compiler.on_way_back(node.outputs[0], {}, [&compiler, repeats, in = node.inputs[0]](const Value& gradient) {
    const Value whole = compiler.gradient_to_add_to(in);
    compiler.add(accumulation(with_repeats(gradient, repeats, true), with_repeats(whole, repeats, false)));
  });
}

bool supports_concat(const Graph& graph, const Node& node, const ShapeOf& shape_of) {
  if (axis_of_concat(node, shape_of(node.outputs[0]).size()) == 0) return false;
  return std::ranges::none_of(node.inputs, [&](ValueId in) { return graph.is_constant(in); });
}

void compile_concat(Compiler& compiler, const Node& node) {
  const Shape shape = compiler.shape(node.outputs[0]);
  const std::size_t axis = axis_of_concat(node, shape.size() + 1) - 1;
  const bool last =
      std::ranges::any_of(node.inputs, [&](ValueId id) { return lies_channels_last(compiler.value(id)); });
  const Value result = compiler.fresh(shape, last ? channels_last_strides(shape) : plain_strides(shape));
  std::int64_t begin = 0;
  for (const ValueId id : node.inputs) {
    const Value& part = compiler.value(id);
    Value to = result;
    to.shape = part.shape;
    to.offset += begin * result.strides[axis];
    compiler.add(arrangement(part, to));
    begin += part.shape[axis];
  }
  compiler.define(node.outputs[0], result);
  compiler.on_way_back(node.outputs[0], {}, [&compiler, axis, inputs = node.inputs](const Value& gradient) {
    Value part = gradient;
    for (const ValueId id : inputs) {
      part.shape = compiler.shape(id);
      compiler.contribute(id, part);
      part.offset += part.shape[axis] * part.strides[axis];
    }
  });
}

}  // namespace assay::channels

// Dense layers, and what they share with convolutions.

#include "assay/engine/channels/linear.h"

#include <memory>
#include <utility>

#include "assay/array/transposed.h"

namespace assay::channels {
namespace {

// Where the rows of an operand begin that lies plainly.
std::vector<std::int32_t> dense_rows(const Compiler& compiler, const Value& operand) {
  const std::int64_t inputs = operand.shape.back();
  std::vector<std::int32_t> rows;
  for (std::int64_t r = 0, count = compiler.rows() * (operand.count() / inputs); r < count; ++r)
    rows.push_back(static_cast<std::int32_t>(r * inputs));
  return rows;
}

// Products of the last axis with weights [units][inputs]. All lie plainly.
void add_dense(Compiler& compiler, const Value& operand, const Value& result, const LaidWeights& weights,
               const std::vector<float>& bias, std::optional<Value> added, const Finish& finish) {
  const std::int64_t inputs = operand.shape.back(), units = result.shape.back();
  LinearMap map{dense_rows(compiler, operand), {}, units, units, inputs};
  const Run run{0, static_cast<std::int32_t>(inputs)};
  map.blocks = in_blocks(std::span(&run, 1));
  std::vector<FloatBlock> panels;
  panels.push_back(packed(units, inputs, weights, bias.data()));
  compiler.add(std::make_unique<Linear>(operand, result, std::move(map), std::move(panels), 0,
                                        std::move(added), finish));
}

std::optional<ByteLayer> bytes_of_dense(const Graph& graph, ValueId operand, std::int64_t units,
                                        std::int64_t inputs, const LaidWeights& weights) {
  return byte_layer_of(
      graph, operand, 1, units, inputs, [&](std::int64_t first, std::int64_t count, float* to) {
        const float* const from = weights.at + first * weights.unit_step;
        if (weights.input_step != 1)
          return array::write_transposed(inputs, count, weights.input_step, from, inputs, to);
        for (std::int64_t u = 0; u < count; ++u)
          std::copy_n(from + u * weights.unit_step, inputs, to + u * inputs);
      });
}
}  // namespace

std::int32_t offset_of(const Ints& place, const Ints& steps, const Value& picture) {
  std::int64_t at = 0;
  for (std::size_t d = 0; d < place.size(); ++d) at += place[d] * steps[d] * picture.strides[d + 1];
  return static_cast<std::int32_t>(at);
}
std::vector<std::int32_t> rows_of(const Value& operand, const Ints& steps, const Ints& positions,
                                  std::int64_t records) {
  std::vector<std::int32_t> rows;
  for (std::int64_t r = 0; r < records; ++r) {
    each_of(positions, [&](const Ints& place) {
      rows.push_back(static_cast<std::int32_t>(r * operand.record) + offset_of(place, steps, operand));
    });
  }
  return rows;
}

std::vector<Run> runs_of(std::span<const std::int32_t> taps, std::int64_t channels) {
  std::vector<Run> runs;
  const auto length = static_cast<std::int32_t>(channels);
  for (const std::int32_t tap : taps) {
    if (!runs.empty() && runs.back().offset + runs.back().length == tap)
      runs.back().length += length;
    else
      runs.push_back({tap, length});
  }
  return runs;
}
std::optional<Value> value_of(const std::optional<Added>& added) {
  return added ? std::optional(added->value) : std::nullopt;
}

Value before_finish(Compiler& compiler, const Folded& parts, const Value& result, const Value& gradient) {
  const Value given = parts.finish.function
                          ? through_function(compiler, *parts.finish.function, result, result, gradient)
                          : compiler.as(gradient, result.strides);
  if (parts.added) compiler.contribute(parts.added->id, given);
  return given;
}

void on_way_back(Compiler& compiler, const Folded& parts, const Value& result, Compiler::Step step) {
  std::vector<Value> kept;
  if (parts.finish.function) kept.push_back(result);
  compiler.on_way_back(parts.result, kept, std::move(step));
}

Folded folded(Compiler& compiler, const Node& node, const Shape& strides, bool sums) {
  const Graph& graph = compiler.graph();
  Folded parts;
  parts.result = node.outputs[0];
  bool channels = true;
  if (node.op == "Conv") {
    const Array& kernel = graph.constant(node.inputs[1]);
    parts.weights = floats(kernel);
    parts.bias.resize(kernel.shape()[0]);
    if (node.inputs.size() > 2 && node.inputs[2] != no_value)
      parts.bias = floats(graph.constant(node.inputs[2]));
  } else {
    parts.bias = dense_bias(graph, node);
    if (node.op == "MatMul") parts.result = compiler.absorber().added_bias(parts.result, parts.bias);
    // Of [N, units] alone the units of a layer are the channels of a normalisation, which changes weights.
    // Others stay where they are.
    const Node* const reader = compiler.absorber().sole_reader(parts.result);
    channels = compiler.shape(node.outputs[0]).size() == 1 && reader != nullptr &&
               reader->op == "BatchNormalization";
    if (channels || !stored_weights(graph, node)) parts.weights = dense_weights(graph, node);
  }
  if (channels) parts.result = compiler.absorber().normalisation(parts.result, parts.weights, parts.bias);
  if (sums) parts.result = compiler.absorb_sum(parts.result, strides, parts.added);
  parts.result = compiler.absorb_function(parts.result, parts.finish);
  return parts;
}
bool supports_dense(const Graph& graph, const Node& node, const ShapeOf& shape_of) {
  const Shape& input = shape_of(node.inputs[0]);
  if (graph.is_constant(node.inputs[0]) || !is_float_constant(graph, node, 1)) return false;
  if (graph.constant(node.inputs[1]).shape().size() != 2 || input.size() < 2) return false;
  if (node.op == "Gemm") {
    if (node.integer("transA", 0) != 0) return false;
    const bool has_bias = node.inputs.size() > 2 && node.inputs[2] != no_value;
    if (has_bias && !is_float_constant(graph, node, 2)) return false;
  }
  return has_bias_of_units(graph, node);
}

void compile_dense(Compiler& compiler, const Node& node) {
  const Value operand = compiler.plainly(node.inputs[0]);
  const Shape shape = compiler.shape(node.outputs[0]), strides = plain_strides(shape);
  Folded parts = folded(compiler, node, strides, true);
  const std::int64_t inputs = operand.shape.back(), units = shape.back();
  const Value result = compiler.fresh(shape, strides);
  const auto own = std::make_shared<const std::vector<float>>(std::move(parts.weights));
  const LaidWeights weights =
      own->empty() ? *stored_weights(compiler.graph(), node) : LaidWeights{own->data(), inputs, 1};
  if (auto bytes = bytes_of_dense(compiler.graph(), node.inputs[0], units, inputs, weights))
    compiler.add(
        byte_products(compiler, operand, result, *std::move(bytes),
                      {dense_rows(compiler, operand), {{0, static_cast<std::int32_t>(inputs)}}, inputs},
                      parts.bias, value_of(parts.added), parts.finish));
  else
    add_dense(compiler, operand, result, weights, parts.bias, value_of(parts.added), parts.finish);
  compiler.define(parts.result, result);
  if (!compiler.carries_gradient(parts.result)) return;
  // `own` keeps what `weights` points to.
  on_way_back(compiler, parts, result,
              [=, &compiler, kept = own, in = node.inputs[0]](const Value& gradient) {
                const Value given = before_finish(compiler, parts, result, gradient);
                if (!compiler.carries_gradient(in)) return;
                const LaidWeights back{weights.at, weights.input_step, weights.unit_step};
                const Value part = compiler.temporary(operand.shape, operand.strides);
                add_dense(compiler, given, part, back, std::vector<float>(inputs),
                          compiler.take_gradient(in, operand.strides), {});
                compiler.contribute(in, part);
              });
}
}  // namespace assay::channels

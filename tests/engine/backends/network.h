#pragma once

// Networks whose values come from the reference kernels, the second opinion on what back ends compute.

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <assay/array_math.h>
#include <assay/extend/random.h>
#include <assay/model.h>
#include "assay/engine/backend.h"
#include "assay/engine/operators/kernel.h"
#include "assay/engine/torch/backend.h"

namespace assay::test {

using Ints = std::vector<std::int64_t>;

// Those of the processor, and libtorch where its module is, on a device that everything is copied to.
inline std::vector<const Backend*> tested_backends() {
  std::vector<const Backend*> all(backends().begin(), backends().end());
  if (has_torch_module()) all.push_back(&torch_backend("torch:cpu"));
  return all;
}

// A graph under construction whose values are computed at once by the reference kernels, the second opinion.
class Network {
 public:
  explicit Network(const Backend& backend, Shape input_shape, std::int64_t rows = 7, std::uint64_t seed = 1)
      : backend_(backend), rng_(seed) {
    Shape declared = input_shape;
    declared.insert(declared.begin(), -1);
    input_shape.insert(input_shape.begin(), rows);
    input = build_.input("input", DType::float32, declared);
    set(input, random(input_shape));
  }

  ValueId constant(Shape shape, double scale = 0.5, double shift = 0) {
    const Array tensor = random(shape) * scale + shift;
    const ValueId id = build_.constant("", tensor);
    values_[id] = tensor;
    return id;
  }
  ValueId integers(Ints values) {
    return hold(Array::of<std::int64_t>({static_cast<std::int64_t>(values.size())}, values));
  }
  // One number, without axes.
  ValueId whole(std::int64_t value) { return hold(Array::of<std::int64_t>({}, std::vector{value})); }
  // The same of 8 bits: a zero point.
  ValueId byte(int value, DType type) {
    return hold(Array::of<std::int64_t>({}, std::vector<std::int64_t>{value}).to(type));
  }
  // Each unit's are multiples, from -128 to 127, of a scale of its own.
  ValueId multiples(const Shape& shape, std::size_t unit_axis = 0) {
    Shape by_unit(shape.size(), 1);
    by_unit[unit_axis] = shape[unit_axis];
    const Array whole = array::clamp((random(shape) * 50).round(), -128, 127);
    return hold(whole * (random(by_unit).abs() + 0.1) * 0.01);
  }
  // Some are true, some are not.
  ValueId truths(Shape shape) { return hold(random(shape) > 0); }
  ValueId add(const std::string& op, std::vector<ValueId> inputs,
              std::map<std::string, Attribute> attributes = {}) {
    const ValueId id = build_.add(op, op + std::to_string(count_++), inputs, attributes);
    compute(build_.nodes().back());
    return id;
  }
  // A node with so many results.
  std::vector<ValueId> add_several(const std::string& op, std::vector<ValueId> inputs, std::size_t results,
                                   std::map<std::string, Attribute> attributes = {}) {
    std::vector<ValueId> outputs;
    for (std::size_t o = 0; o < results; ++o) outputs.push_back(build_.value(op + std::to_string(count_++)));
    build_.node({.name = op + std::to_string(count_++),
                 .op = op,
                 .inputs = std::move(inputs),
                 .outputs = outputs,
                 .attributes = std::move(attributes)});
    compute(build_.nodes().back());
    return outputs;
  }

  // Runs the whole graph as one segment and compares every kept value, every tap, and the gradients with
  // respect to the input and to all constants that can be trainable, where the back end has them, with the
  // kernels' values.
  void expect_agreement(std::vector<ValueId> keep, std::vector<ReducedValue> taps = {}, int threads = 2) {
    build_.set_outputs(keep);
    const Graph graph = build_.build();
    SegmentRequest request{
        .graph = &graph, .nodes = {}, .shape_of = shape_of(), .keep = keep, .taps = taps, .threads = threads};
    for (const NodeId n : graph.node_ids()) {
      const Node& node = graph.node(n);
      ASSERT_TRUE(backend_.supports(graph, node, shape_of())) << node.describe();
      EXPECT_GE(backend_.cost(graph, node, shape_of()), 0);
      request.nodes.push_back(n);
    }
    const auto segment = backend_.compile(request);
    expect_values(*segment, keep, taps);
    if (backend_.differentiates()) expect_gradients(graph, *segment, keep);
    const std::vector<ValueId> all = learnable(graph);
    if (all.empty()) return;
    expect_learning(graph, request, all);
    for (const ValueId id : all) expect_learning(graph, request, {id});
  }

  // Few different numbers in the records, so that windows have several maxima.
  void round_input() { set(input, values_.at(input).round()); }
  // Numbers above 1 become NaN.
  void spoil_input() {
    const Array& was = values_.at(input);
    set(input, array::where(was > 1, std::numeric_limits<double>::quiet_NaN(), was));
  }

  bool supported(ValueId output) {
    build_.set_outputs({output});
    const Graph graph = build_.build();
    return backend_.supports(graph, graph.nodes().back(), shape_of());
  }

  const Array& value(ValueId id) const { return values_.at(id); }
  ValueId input = no_value;

 private:
  ValueId hold(const Array& array) {
    const ValueId id = build_.constant("", array);
    values_[id] = array;
    return id;
  }
  // The same, compiled with other values of constants than those that come with the runs.
  void expect_learning(const Graph& graph, SegmentRequest request, const std::vector<ValueId>& trainable) {
    GraphBuilder edit(graph);
    for (const ValueId id : trainable) edit.replace_constant(id, random(values_.at(id).shape()));
    const Graph other = edit.build();
    request.graph = &other;
    request.trainable = trainable;
    const auto segment = backend_.compile(request);
    EXPECT_EQ(segment->inputs().size(), 1 + trainable.size());
    expect_values(*segment, request.keep, request.taps);
    expect_gradients(graph, *segment, request.keep);
  }

  void expect_values(const Segment& segment, const std::vector<ValueId>& keep,
                     const std::vector<ReducedValue>& taps) {
    const std::int64_t rows = values_.at(input).size(0);
    std::vector<std::vector<float>> matrices;
    std::vector<float*> pointers;
    for (const ReducedValue& tap : taps) {
      matrices.emplace_back(static_cast<std::size_t>(rows * tap.columns(values_.at(tap.value).shape())));
      pointers.push_back(matrices.back().data());
    }
    Tensors results;
    segment.run(given(segment), results, pointers);
    for (const ValueId id : keep) expect_near(results.at(id), values_.at(id));
    for (std::size_t t = 0; t < taps.size(); ++t) {
      Array expected = values_.at(taps[t].value);
      if (taps[t].whole) expected = expected.flatten(1).unsqueeze(1);
      if (expected.rank() > 2) {
        expected =
            expected.movedim(static_cast<std::int64_t>(taps[t].whole ? 1 : taps[t].axis), 1).flatten(2);
        expected = taps[t].reduction == Reduction::mean  ? expected.mean(2)
                   : taps[t].reduction == Reduction::max ? expected.amax(2)
                                                         : expected.amin(2);
      }
      expect_near(Array::around(pointers[t], DType::float32, expected.shape()), expected);
    }
  }

  // Of the sum of all kept values, each element times a number of its own.
  void expect_gradients(const Graph& graph, const Segment& segment, const std::vector<ValueId>& keep) {
    const array::Recording recorded(true);
    std::map<ValueId, Array> values = values_;
    std::vector<Array> leaves;
    for (const ValueId id : segment.inputs()) {
      leaves.push_back(values_.at(id).detach().clone().requires_grad_());
      values[id] = leaves.back();
    }
    KernelContext context;
    for (const Node& node : graph.nodes()) {
      std::vector<Array> tensors;
      for (const ValueId in : node.inputs) tensors.push_back(in == no_value ? Array() : values.at(in));
      const std::vector<Array> results = run_node(node, tensors, context);
      for (std::size_t o = 0; o < node.outputs.size(); ++o) {
        if (node.outputs[o] != no_value) values[node.outputs[o]] = results[o];
      }
    }
    std::vector<Array> factors;
    Array sum = array::zeros({});
    for (const ValueId id : keep) {
      factors.push_back(random(values.at(id).shape()));
      sum = sum + (values.at(id) * factors.back()).sum();
    }
    const std::vector<Array> expected = array::gradients(std::span(&sum, 1), leaves),
                             found = segment.gradients(given(segment), factors, segment.inputs());
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) expect_near(found[i], expected[i]);
    if (segment.inputs().size() == 1) expect_record_gradients(segment, keep, factors, expected[0]);
  }

  // Of the same sum and of its opposite, each a number of every record that reads the values from the last to
  // the first.
  void expect_record_gradients(const Segment& segment, std::vector<ValueId> read, std::vector<Array> factors,
                               const Array& expected) {
    std::ranges::reverse(read);
    std::ranges::reverse(factors);
    for (Array& of_value : factors) of_value = of_value.flatten(1);
    const Array all = array::cat(factors, 1);
    const auto size = static_cast<std::size_t>(all.size(1));
    const RecordGradients found = segment.gradients(
        given(segment),
        {.read = read,
         .numbers = 2,
         .gradients =
             [&](std::size_t record, std::span<const float> elements, std::span<float> gradients) {
               ASSERT_EQ(elements.size(), size);
               ASSERT_EQ(gradients.size(), 2 * size);
               const float* const of_record = all.elements<float>() + record * size;
               for (std::size_t i = 0; i < size; ++i) {
                 gradients[i] += of_record[i];
                 gradients[size + i] -= of_record[i];
               }
             }},
        std::span(&input, 1));
    expect_near(found.value, values_.at(read[0]));
    ASSERT_EQ(found.gradients.size(), 2U);
    expect_near(found.gradients[0].at(input), expected);
    expect_near(found.gradients[1].at(input), -expected);
  }

  Tensors given(const Segment& segment) const {
    Tensors tensors;
    for (const ValueId id : segment.inputs()) tensors.emplace(id, values_.at(id));
    return tensors;
  }

  // Constants that all their readers can train.
  std::vector<ValueId> learnable(const Graph& graph) const {
    std::map<ValueId, bool> found;
    for (const Node& node : graph.nodes()) {
      for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        const ValueId id = node.inputs[i];
        if (id == no_value || !graph.is_constant(id) || graph.constant(id).dtype() != DType::float32)
          continue;
        const bool trains = backend_.trains(graph, node, i);
        found[id] = trains && (!found.contains(id) || found[id]);
      }
    }
    std::vector<ValueId> ids;
    for (const auto& [id, trains] : found) {
      if (trains) ids.push_back(id);
    }
    return ids;
  }

  void compute(const Node& node) {
    std::vector<Array> tensors;
    for (const ValueId in : node.inputs) tensors.push_back(in == no_value ? Array() : values_.at(in));
    KernelContext context;
    const std::vector<Array> results = run_node(node, tensors, context);
    for (std::size_t o = 0; o < node.outputs.size(); ++o) set(node.outputs[o], results.at(o));
  }
  Array random(const Shape& shape) {
    std::vector<float> numbers(static_cast<std::size_t>(element_count(shape)));
    for (float& v : numbers) v = static_cast<float>(rng_.normal());
    return Array::of<float>(shape, numbers);
  }
  void set(ValueId id, const Array& tensor) {
    values_[id] = tensor;
    Shape shape = tensor.shape();
    if (!shape.empty()) shape[0] = 1;
    shapes_[id] = shape;
  }
  ShapeOf shape_of() const {
    return [this](ValueId id) -> const Shape& {
      static const Shape none;
      const auto it = shapes_.find(id);
      return it == shapes_.end() ? none : it->second;
    };
  }
  static void expect_near(const Array& actual, const Array& expected) {
    ASSERT_EQ(actual.shape(), expected.shape());
    const float scale = std::max(1.0F, expected.abs().max().item<float>());
    EXPECT_LE((actual - expected).abs().max().item<float>(), 2e-5F * scale);
  }

  const Backend& backend_;
  GraphBuilder build_{"network"};
  Rng rng_;
  int count_ = 0;
  std::map<ValueId, Array> values_;
  std::map<ValueId, Shape> shapes_;
};

}  // namespace assay::test

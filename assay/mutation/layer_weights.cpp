#include "assay/mutation/layer_weights.h"

#include <fmt/format.h>

#include <algorithm>

#include <assay/extend/operator_traits.h>

namespace assay::mutation {
namespace {

ValueId input_of(const Node& node, std::size_t i) {
  return i < node.inputs.size() ? node.inputs[i] : no_value;
}

const Shape& shape_of(const Graph& graph, ValueId id) { return graph.constant(id).shape(); }

std::int64_t product(const Shape& shape, std::size_t from) {
  std::int64_t count = 1;
  for (std::size_t i = from; i < shape.size(); ++i) count *= shape[i];
  return count;
}

NeuronLayout vector_of(std::int64_t neurons) {
  return {.outer = 1, .before = 1, .inner = neurons, .after = 1};
}

NeuronLayout convolution_layout(const Node& node, const Shape& shape) {
  if (node.op == "Conv") return {.outer = shape[0], .before = 1, .inner = 1, .after = product(shape, 1)};
  const std::int64_t groups = std::max<std::int64_t>(1, node.integer("group", 1));
  return {.outer = groups, .before = shape[0] / groups, .inner = shape[1], .after = product(shape, 2)};
}

// Of a matrix to the right or to the left of the activations; nothing for stacks of matrices and other
// products.
std::optional<NeuronLayout> dense_layout(const Node& node, const Shape& shape, bool in_front) {
  if (node.op == "Einsum" || shape.size() != 2) return std::nullopt;
  const bool transposed = node.op == "Gemm" && node.integer(in_front ? "transA" : "transB", 0) != 0;
  if (transposed != in_front)
    return NeuronLayout{.outer = shape[0], .before = 1, .inner = 1, .after = shape[1]};
  return NeuronLayout{.outer = 1, .before = shape[0], .inner = shape[1], .after = 1};
}

std::int64_t gates_of(const Node& node) { return node.op == "LSTM" ? 4 : node.op == "GRU" ? 3 : 1; }

// `parts` vectors or matrices of H rows per direction.
NeuronLayout recurrent_layout(std::int64_t directions, std::int64_t parts, std::int64_t hidden,
                              std::int64_t after) {
  return {.outer = directions, .before = parts, .inner = hidden, .after = after};
}

// A float32 constant that reaches an input of a node transposed or in another shape, as exporters leave it:
// `node` and `input` are those that read the constant itself, `shape` is the one that arrives.
struct Held {
  ValueId constant;
  NodeId node;
  std::size_t input;
  Shape shape;
  bool transposed;
};

bool swaps_matrix(const Node& node) {
  const auto order = node.integers("perm", {1, 0});
  return node.op == "Transpose" && order == std::vector<std::int64_t>{1, 0};
}

// With one number -1 for what is left.
std::optional<Shape> reshaped(const Graph& graph, const Node& node, std::int64_t count) {
  const ValueId id = input_of(node, 1);
  if (!graph.is_constant(id) || graph.constant(id).dtype() != DType::int64) return std::nullopt;
  const auto wanted = graph.constant(id).as<std::int64_t>();
  Shape shape(wanted.begin(), wanted.end());
  std::int64_t others = 1;
  for (const std::int64_t size : shape) others *= size < 0 ? 1 : size;
  if (others < 1 || count % others != 0) return std::nullopt;
  std::ranges::replace_if(
      shape, [](std::int64_t size) { return size < 0; }, count / others);
  return shape;
}

std::optional<Held> held_weights(const Graph& graph, NodeId node, std::size_t input) {
  std::vector<const Node*> way;  // from the reader to the constant
  ValueId id = input_of(graph.node(node), input);
  while (id != no_value && !graph.is_constant(id)) {
    const NodeId maker = graph.producer(id);
    if (maker == no_node) return std::nullopt;
    const Node& step = graph.node(maker);
    const bool turns = step.op == "Transpose" || step.op == "Reshape",
               once = graph.consumers(id).size() == 1 &&
                      std::ranges::find(graph.outputs(), id) == graph.outputs().end();
    if (!turns || !once) return std::nullopt;
    node = maker;
    input = 0;
    way.push_back(&step);
    id = input_of(step, 0);
  }
  if (id == no_value || graph.constant(id).dtype() != DType::float32) return std::nullopt;
  Held held{id, node, input, graph.constant(id).shape(), false};
  for (auto step = way.rbegin(); step != way.rend(); ++step) {
    if (held.shape.size() == 2 && swaps_matrix(**step)) {
      std::swap(held.shape[0], held.shape[1]);
      held.transposed = !held.transposed;
      continue;
    }
    const auto shape = (*step)->op == "Reshape" && !held.transposed
                           ? reshaped(graph, **step, graph.constant(id).count())
                           : std::nullopt;
    if (!shape) return std::nullopt;
    held.shape = *shape;
  }
  return held;
}

// That of the transposed matrix.
NeuronLayout transposed_layout(const NeuronLayout& layout) {
  if (layout.outer == 1) return {.outer = layout.inner, .before = 1, .inner = 1, .after = layout.before};
  return {.outer = 1, .before = layout.after, .inner = layout.outer, .after = 1};
}

class Finder {
 public:
  Finder(const Graph& graph, SubjectLayer& layer)
      : graph_(graph), layer_(layer), index_(layer.layer.node), node_(graph.node(index_)) {}

  std::string find() {
    std::string reason = is_recurrent(node_.op)     ? recurrent()
                         : is_convolution(node_.op) ? convolution()
                                                    : dense();
    if (!reason.empty()) return reason;
    for (const LayerWeights& weights : layer_.weights) layer_.weight_count += weights.count;
    for (const LayerWeights& bias : layer_.biases) layer_.bias_count += bias.count;
    return {};
  }

 private:
  std::optional<LayerWeights> at(std::size_t input, std::optional<NeuronLayout> layout) const {
    return weights_at(graph_, index_, input, layout, layer_.layer.neurons);
  }
  std::string no_constant(ValueId id) const {
    if (graph_.is_constant(id))
      return fmt::format("its weights are {}, not float32", to_string(graph_.constant(id).dtype()));
    const NodeId producer = graph_.producer(id);
    const std::string by =
        producer == no_node ? "given as an input" : "computed by " + graph_.node(producer).describe();
    return "its weights are " + by;
  }
  void add_bias(std::size_t input, NeuronLayout layout) {
    if (auto bias = at(input, layout)) layer_.biases.push_back(std::move(*bias));
  }

  std::string convolution() {
    layer_.input = node_.inputs[0];
    const auto held = held_weights(graph_, index_, 1);
    if (!held || held->transposed) return no_constant(input_of(node_, 1));
    if (held->shape.size() < 2) return "its kernel has less than 2 axes";
    layer_.weights.push_back(*weights_at(graph_, held->node, held->input,
                                         convolution_layout(node_, held->shape), layer_.layer.neurons));
    add_bias(2, vector_of(layer_.layer.neurons));
    return {};
  }

  std::string dense() {
    std::size_t data = 0, matrix = 1;
    const bool in_front = held_weights(graph_, index_, 0).has_value();
    if (in_front) std::swap(data, matrix);
    layer_.input = input_of(node_, data);
    const ValueId weights = input_of(node_, matrix);
    if (weights == no_value || node_.inputs.size() > 3) return "it is a product of several operands";
    const auto held = held_weights(graph_, index_, matrix);
    if (!held) {
      const bool computed = weights != no_value && !graph_.is_constant(weights);
      return computed && depends_on_input(weights) ? "it is a product of two activations and has no weights"
                                                   : no_constant(weights);
    }
    auto layout = dense_layout(node_, held->shape, in_front);
    if (layout && held->transposed) layout = transposed_layout(*layout);
    layer_.weights.push_back(*weights_at(graph_, held->node, held->input, layout, layer_.layer.neurons));
    if (node_.op == "Gemm") add_bias(2, vector_of(layer_.layer.neurons));
    return {};
  }

  bool depends_on_input(ValueId id) const {
    std::vector<ValueId> open{id};
    std::vector<bool> seen(graph_.values().size());
    while (!open.empty()) {
      const ValueId next = open.back();
      open.pop_back();
      if (next == no_value || seen[index_of(next)]) continue;
      seen[index_of(next)] = true;
      if (std::ranges::find(graph_.inputs(), next) != graph_.inputs().end()) return true;
      const NodeId producer = graph_.producer(next);
      if (producer == no_node) continue;
      const Node& node = graph_.node(producer);
      open.insert(open.end(), node.inputs.begin(), node.inputs.end());
    }
    return false;
  }

  std::string recurrent() {
    layer_.input = node_.inputs[0];
    for (const std::size_t i : {1U, 2U}) {
      const ValueId id = input_of(node_, i);
      if (!graph_.is_constant(id) || graph_.constant(id).dtype() != DType::float32) return no_constant(id);
      if (shape_of(graph_, id).size() != 3) return "its weights do not have 3 axes";
    }
    const std::int64_t gates = gates_of(node_);
    const Shape& shape = shape_of(graph_, node_.inputs[2]);
    const std::int64_t directions = shape[0], hidden = shape[2];
    layer_.weights.push_back(
        *at(1, recurrent_layout(directions, gates, hidden, shape_of(graph_, node_.inputs[1])[2])));
    layer_.weights.push_back(*at(2, recurrent_layout(directions, gates, hidden, hidden)));
    if (const NodeId padding = padding_of_bias(graph_, node_); padding != no_node) {
      if (auto bias = weights_at(graph_, padding, 0, recurrent_layout(directions, gates, hidden, 1),
                                 layer_.layer.neurons))
        layer_.biases.push_back(std::move(*bias));
    } else {
      add_bias(3, recurrent_layout(directions, 2 * gates, hidden, 1));
    }
    add_bias(7, recurrent_layout(directions, 3, hidden, 1));
    const auto read = std::ranges::count_if(node_.outputs, [&](ValueId id) {
      return id != no_value && (!graph_.consumers(id).empty() ||
                                std::ranges::find(graph_.outputs(), id) != graph_.outputs().end());
    });
    layer_.several_outputs = read > 1;
    return {};
  }

  const Graph& graph_;
  SubjectLayer& layer_;
  NodeId index_;
  const Node& node_;
};

}  // namespace

std::string find_layer_weights(const Graph& graph, SubjectLayer& layer) {
  return Finder(graph, layer).find();
}

NodeId padding_of_bias(const Graph& graph, const Node& node) {
  if (!is_recurrent(node.op) || input_of(node, 3) == no_value) return no_node;
  const NodeId producer = graph.producer(node.inputs[3]);
  return producer != no_node && graph.node(producer).op == "Pad" ? producer : no_node;
}

std::optional<LayerWeights> weights_at(const Graph& graph, NodeId node, std::size_t input,
                                       std::optional<NeuronLayout> layout, std::int64_t neurons) {
  const ValueId id = input_of(graph.node(node), input);
  if (!graph.is_constant(id) || graph.constant(id).dtype() != DType::float32) return std::nullopt;
  const std::int64_t count = graph.constant(id).count();
  if (layout && (layout->neurons() != neurons || layout->count() != count)) layout.reset();
  return LayerWeights{.constant = id, .node = node, .input = input, .count = count, .layout = layout};
}

}  // namespace assay::mutation

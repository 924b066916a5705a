#include <assay/extend/mutation_subject.h>

#include <algorithm>
#include <cmath>

#include <assay/error.h>
#include <assay/extend/operator_traits.h>
#include "assay/model/backwards.h"
#include "assay/mutation/layer_weights.h"
#include "assay/support/text/text.h"

namespace assay::mutation {
namespace {

// The nodes between layer.node and the producer of layer.value, both included.
std::vector<NodeId> nodes_of(const Graph& graph, const Layer& layer) {
  const NodeId last = graph.producer(layer.value);
  std::vector<bool> after(graph.values().size()), before(graph.values().size());
  const auto mark = [](std::vector<bool>& marks, std::span<const ValueId> ids) {
    for (const ValueId id : ids) {
      if (id != no_value) marks[index_of(id)] = true;
    }
  };
  const auto meets = [](const std::vector<bool>& marks, std::span<const ValueId> ids) {
    return std::ranges::any_of(ids, [&](ValueId id) { return id != no_value && marks[index_of(id)]; });
  };
  std::vector<NodeId> reached, nodes;
  for (const NodeId n : graph.node_ids()) {
    if (n < layer.node) continue;
    if (n > last) break;
    if (n != layer.node && !meets(after, graph.node(n).inputs)) continue;
    mark(after, graph.node(n).outputs);
    reached.push_back(n);
  }
  before[index_of(layer.value)] = true;
  for (const NodeId n : backwards(reached)) {
    if (!meets(before, graph.node(n).outputs)) continue;
    mark(before, graph.node(n).inputs);
    nodes.push_back(n);
  }
  std::ranges::reverse(nodes);
  return nodes;
}

// The input of `node` other than `data`, for nodes of two operands.
std::size_t other_input(const Node& node, ValueId data) { return node.inputs[0] == data ? 1 : 0; }

bool is_affine(const Graph& graph, const Node& node, ValueId data) {
  if (node.op == "BatchNormalization") return node.inputs[0] == data;
  return has_trait(node.op, Trait::affine) && node.inputs.size() == 2 &&
         graph.is_constant(node.inputs[other_input(node, data)]);
}

// Follows the affine nodes after the linear part to what the activation function is applied to.
ValueId preactivation_of(const Graph& graph, const Layer& layer) {
  ValueId at_value = layer.linear_value;
  while (at_value != layer.value) {
    const auto readers = graph.consumers(at_value);
    if (readers.size() != 1) return at_value;
    const Node& reader = graph.node(readers[0]);
    if (!is_affine(graph, reader, at_value) && !is_pass_through(reader.op)) return at_value;
    at_value = reader.outputs[0];
  }
  return at_value;
}

// True when a constant of this shape holds one number per neuron along the only neuron axis of a value of
// `rank` axes.
bool along_neurons(const Shape& shape, const Layer& layer, std::size_t rank) {
  if (layer.neuron_axes.size() != 1 || shape.size() > rank) return false;
  const std::size_t shift = rank - shape.size();
  const std::size_t axis = layer.neuron_axes[0];
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const bool neuron = i + shift == axis;
    if (shape[i] != (neuron ? layer.neurons : 1)) return false;
  }
  return layer.neurons == 1 || axis >= shift;
}

// Biases added by separate nodes between the operator and its linear value. False when one has another shape
// than one number per neuron.
bool add_separate_biases(const Graph& graph, SubjectLayer& layer, std::size_t rank) {
  bool all = true;
  ValueId value = no_value;
  for (const NodeId n : layer.nodes) {
    const Node& node = graph.node(n);
    if (n != layer.layer.node) {
      if (value == layer.layer.linear_value || node.op != "Add") break;
      const std::size_t input = other_input(node, value);
      auto bias = weights_at(graph, n, input,
                             NeuronLayout{.outer = 1, .before = 1, .inner = layer.layer.neurons, .after = 1},
                             layer.layer.neurons);
      if (bias && !along_neurons(graph.constant(bias->constant).shape(), layer.layer, rank))
        bias->layout.reset();
      all = all && bias && bias->layout;
      if (bias) {
        layer.bias_count += bias->count;
        layer.biases.push_back(std::move(*bias));
      }
    }
    value = node.outputs[0];
  }
  return all;
}

bool has_layouts(std::span<const LayerWeights> all) {
  return std::ranges::all_of(all, [](const LayerWeights& weights) { return weights.layout.has_value(); });
}

// Gemm and Conv may have a bias that is not a constant, or not one number per neuron.
bool own_bias_known(const Graph& graph, const SubjectLayer& layer) {
  const Node& node = graph.node(layer.layer.node);
  const bool recurrent = is_recurrent(node.op);
  for (std::size_t i = 2; i < node.inputs.size(); ++i) {
    const bool state = recurrent && i >= 4 && i != 7;  // lengths and initial states
    if (node.inputs[i] == no_value || state) continue;
    const NodeId padding = i == 3 ? padding_of_bias(graph, node) : no_node;
    const auto known = [&](const LayerWeights& weights) {
      if (padding != no_node) return weights.node == padding;
      return weights.node == layer.layer.node && weights.input == i;
    };
    if (std::ranges::none_of(layer.biases, known) && std::ranges::none_of(layer.weights, known)) return false;
  }
  return true;
}

void find_negatable(const Graph& graph, SubjectLayer& layer, bool separate_known) {
  const bool recurrent = is_recurrent(graph.node(layer.layer.node).op);
  if (recurrent || layer.preactivation == layer.layer.linear_value) {
    if (!separate_known || !own_bias_known(graph, layer) || !has_layouts(layer.weights) ||
        !has_layouts(layer.biases))
      return;
    layer.negatable = layer.weights;
    layer.negatable.insert(layer.negatable.end(), layer.biases.begin(), layer.biases.end());
    return;
  }
  const NodeId producer = graph.producer(layer.preactivation);
  if (graph.node(producer).op != "BatchNormalization") return;
  const NeuronLayout layout{.outer = 1, .before = 1, .inner = layer.layer.neurons, .after = 1};
  const auto scale = weights_at(graph, producer, 1, layout, layer.layer.neurons);
  const auto shift = weights_at(graph, producer, 2, layout, layer.layer.neurons);
  if (scale && shift && scale->layout && shift->layout) layer.negatable = {*scale, *shift};
}

double deviation_of(const Graph& graph, const SubjectLayer& layer) {
  double sum = 0, squares = 0;
  for (const LayerWeights& weights : layer.weights) {
    for (const float w : graph.constant(weights.constant).as<float>()) sum += w;
  }
  const double count = layer.weight_count;
  const double mean = sum / count;
  for (const LayerWeights& weights : layer.weights) {
    for (const float w : graph.constant(weights.constant).as<float>()) squares += (w - mean) * (w - mean);
  }
  return std::sqrt(squares / count);
}

// For each value whether one of the nodes depends on it.
std::vector<bool> feeds(const Graph& graph, const std::vector<bool>& nodes) {
  std::vector<bool> feeds(graph.values().size());
  for (const NodeId n : backwards(graph.node_ids())) {
    const Node& node = graph.node(n);
    const bool on = nodes[index_of(n)] || std::ranges::any_of(node.outputs, [&](ValueId id) {
                      return id != no_value && feeds[index_of(id)];
                    });
    if (!on) continue;
    for (const ValueId id : node.inputs) {
      if (id != no_value) feeds[index_of(id)] = true;
    }
  }
  return feeds;
}

// Whether the activation function of a layer is the network's final softmax or sigmoid.
bool is_output_function(const Session& session, const SubjectLayer& layer) {
  if (!layer.has_activation()) return false;
  if (session.ends_in_softmax()) return layer.preactivation == session.logits();
  return session.ends_in_sigmoid() && layer.last && is_sigmoid(layer.layer.activation);
}

}  // namespace

Subject::Subject(const Session& session) : graph_(session.graph()) {
  for (const ValueId id : graph_.value_ids()) shapes_.push_back(session.shape(id));
  std::vector<bool> weighted(graph_.nodes().size()), deciding = weighted;
  for (const Layer& layer : session.layers()) weighted[index_of(layer.node)] = layer.carries_weights;
  if (const NodeId node = graph_.producer(session.logits()); node != no_node) deciding[index_of(node)] = true;
  const std::vector<bool> feeds_layers = feeds(graph_, weighted), feeds_decision = feeds(graph_, deciding);
  const auto decides = [&](const Layer& layer) {
    return deciding[index_of(layer.node)] ||
           std::ranges::any_of(graph_.node(layer.node).outputs,
                               [&](ValueId id) { return id != no_value && feeds_decision[index_of(id)]; });
  };
  for (const Layer& layer : session.layers()) {
    if (!layer.carries_weights) continue;
    if (!decides(layer)) {
      left_out_.push_back({layer.name, "the output that decides does not depend on it"});
      continue;
    }
    SubjectLayer one;
    one.layer = layer;
    if (std::string reason = find_layer_weights(graph_, one); !reason.empty()) {
      left_out_.push_back({layer.name, std::move(reason)});
      continue;
    }
    if (one.weight_count == 0) {
      left_out_.push_back({layer.name, "it has no weights"});
      continue;
    }
    one.nodes = nodes_of(graph_, layer);
    one.preactivation = preactivation_of(graph_, layer);
    one.input_shape = shape(one.input);
    one.output_shape = shape(layer.value);
    find_negatable(graph_, one, add_separate_biases(graph_, one, one.output_shape.size()));
    one.deviation = deviation_of(graph_, one);
    one.last = !feeds_layers[index_of(layer.value)];
    one.output_function = is_output_function(session, one);
    layers_.push_back(std::move(one));
  }
}

const SubjectLayer& Subject::layer(std::string_view name) const {
  std::vector<std::string> names;
  for (const SubjectLayer& layer : layers_) {
    if (layer.name() == name) return layer;
    names.push_back(layer.name());
  }
  for (const LeftOut& other : left_out_) {
    if (other.layer == name) fail(Fault::usage, "layer '{}' cannot be mutated: {}", name, other.reason);
  }
  fail(Fault::usage, "network '{}' has no layer '{}' that can be mutated{}; there are {}", graph_.name(),
       name, did_you_mean(name, names), joined(names));
}

}  // namespace assay::mutation

#include "assay/engine/layers/layer_table.h"

#include <algorithm>

#include <assay/extend/operator_traits.h>
#include "assay/engine/layers/activation_chain.h"
#include "assay/engine/layers/neuron_axes.h"
#include "assay/engine/layers/unit_views.h"
#include "assay/support/text/text.h"

namespace assay::inline engine {
namespace {

class LayerFinder {
 public:
  LayerFinder(const Graph& graph, const Constants& constants, std::span<const ValueInfo> infos)
      : graph_(graph),
        constants_(constants),
        infos_(infos),
        axes_(find_neuron_axes(graph, constants, infos)),
        taken_(graph.nodes().size(), false) {}

  std::vector<Layer> find() {
    for (const NodeId n : graph_.node_ids()) {
      if (!taken_[index_of(n)]) consider(n);
    }
    return std::move(layers_);
  }

 private:
  const Node& node(NodeId n) const { return graph_.node(n); }
  const ValueInfo& info(ValueId id) const { return infos_[index_of(id)]; }
  bool is_data(ValueId id) const { return id != no_value && info(id).batch_axis >= 0; }
  bool is_activations(ValueId id) const { return is_data(id) && info(id).floating; }

  int data_inputs(const Node& n) const {
    std::vector<ValueId> ids;
    for (const ValueId id : n.inputs) {
      if (is_activations(id) && std::ranges::find(ids, id) == ids.end()) ids.push_back(id);
    }
    return static_cast<int>(ids.size());
  }

  bool begins_layer(const Node& n) const {
    if (is_weighted(n.op) || is_normalisation(n.op)) return true;
    if (is_pooling(n.op) || is_reduction(n.op) || is_activation(n.op)) return true;
    if (is_arithmetic(n.op)) return data_inputs(n) >= 2;
    return (n.op == "Gather" && is_embedding(n)) || is_trees(n);
  }

  // Its neurons are leaves.
  static bool is_trees(const Node& n) { return n.op == "TreeEnsemble"; }

  bool is_embedding(const Node& n) const {
    const ValueId table = n.inputs[0];
    return constants_.has(table) && info(table).floating && info(table).shape.size() == 2;
  }

  // Y of a recurrent cell, or its last state when only that is read.
  ValueId main_output(const Node& n) const {
    for (const ValueId id : n.outputs) {
      if (id == no_value) continue;
      const bool read =
          !graph_.consumers(id).empty() || std::ranges::find(graph_.outputs(), id) != graph_.outputs().end();
      if (read) return id;
    }
    return no_value;
  }

  void consider(NodeId n) {
    const Node& at = node(n);
    if (take_normalisation(n)) return;
    const ValueId out = main_output(at);
    if (!is_activations(out) || !begins_layer(at)) return;
    Layer layer = start(n, out);
    const bool linear = is_weighted(at.op);
    if (is_activation(at.op)) {
      layer.activation = at.op;
      layer.range = range_of(graph_, at);
    } else {
      const Chain chain = follow_chain(graph_, constants_, infos_, out, linear);
      absorb(layer, chain, linear);
    }
    layer.carries_weights = (linear && has_weights_or_product(at)) || is_trees(at);
    finish(std::move(layer));
  }

  // A normalisation spelt out in several nodes (the difference from the mean divided by the deviation).
  bool take_normalisation(NodeId n) {
    const auto root = std::ranges::find_if(node(n).inputs, [&](ValueId id) { return is_activations(id); });
    if (root == node(n).inputs.end()) return false;
    auto composite = find_composite(graph_, infos_, *root);
    if (!composite || composite->nodes.front() != n || !composite->reduces) return false;
    Layer layer = start(n, composite->exit);
    layer.kind = OperatorKind::normalisation;
    layer.op = composite->name;
    while (composite) {
      for (const NodeId inner : composite->nodes) taken_[index_of(inner)] = true;
      layer.value = layer.linear_value = composite->exit;
      composite = find_composite(graph_, infos_, layer.value);
      if (composite && !composite->reduces) break;
    }
    absorb(layer, follow_chain(graph_, constants_, infos_, layer.value, true), false);
    finish(std::move(layer));
    return true;
  }

  Layer start(NodeId n, ValueId out) {
    taken_[index_of(n)] = true;
    Layer layer;
    layer.name = node(n).name;
    layer.node = n;
    layer.value = layer.linear_value = out;
    layer.op = node(n).op;
    if (const OperatorTraits* traits = traits_of(layer.op)) layer.kind = traits->kind;
    for (const ValueId id : node(n).inputs) count_parameters(layer, id);
    return layer;
  }

  void absorb(Layer& layer, const Chain& chain, bool linear) {
    for (const NodeId n : chain.nodes) {
      taken_[index_of(n)] = true;
      const std::string& op = node(n).op;
      const bool weighs = is_normalisation(op) || has_trait(op, Trait::affine) || op == "PRelu";
      for (const ValueId id : node(n).inputs) {
        if (weighs) count_parameters(layer, id);
      }
      if (linear) layer.linear_value = linear_end(layer.linear_value, n);
    }
    if (!chain.ops.empty()) layer.op += " + " + joined(chain.ops, " + ");
    layer.activation = chain.activation;
    layer.range = chain.range;
    layer.value = chain.value;
  }

  // A bias that is added separately belongs to the linear value; batch normalisation does not.
  ValueId linear_end(ValueId so_far, NodeId n) const {
    const Node& next = node(n);
    const bool bias = next.op == "Add" && std::ranges::find(next.inputs, so_far) != next.inputs.end();
    return bias ? next.outputs[0] : so_far;
  }

  bool has_weights_or_product(const Node& n) const {
    if (data_inputs(n) >= 2) return true;
    return std::ranges::any_of(
        n.inputs, [&](ValueId id) { return id != no_value && constants_.has(id) && info(id).floating; });
  }

  void count_parameters(Layer& layer, ValueId id) const {
    if (id == no_value || !constants_.has(id) || !info(id).floating || info(id).shape.empty()) return;
    layer.parameters += constants_.parameters_of(graph_, id);
  }

  void finish(Layer layer) {
    const ValueInfo& value = info(layer.value);
    if (value.batch_axis < 0) return;
    layer.batch_axis = value.batch_axis;
    layer.batch_multiple = static_cast<int>(value.batch_multiple);
    layer.shape = value.shape;
    layer.shape.erase(layer.shape.begin() + value.batch_axis);
    layer.neuron_axes = axes_[index_of(layer.value)];
    layer.neurons = 1;
    for (const int axis : layer.neuron_axes) layer.neurons *= value.shape[axis];
    layers_.push_back(std::move(layer));
  }

  const Graph& graph_;
  const Constants& constants_;
  std::span<const ValueInfo> infos_;
  std::vector<std::vector<int>> axes_;
  std::vector<bool> taken_;
  std::vector<Layer> layers_;
};

// [records, units] or [records, positions, units].
Layer layer_of_view(const Graph& graph, std::span<const ValueInfo> infos, ValueId view) {
  Layer layer;
  layer.name = unit_view_name(graph, view);
  layer.node = graph.producer(view);
  layer.value = layer.linear_value = view;
  layer.op = "view";
  layer.shape = infos[index_of(view)].shape;
  layer.neuron_axes = {static_cast<int>(layer.shape.size()) - 1};
  layer.neurons = layer.shape.back();
  layer.shape.erase(layer.shape.begin());
  return layer;
}

}  // namespace

std::vector<Layer> find_layers(const Graph& graph, const Constants& constants,
                               std::span<const ValueInfo> infos) {
  const std::vector<ValueId> views = unit_views(graph);
  if (views.empty()) return LayerFinder(graph, constants, infos).find();
  // Nodes of views read values within layers, and would change where layers end.
  const Graph plain = without_unit_views(graph);
  std::vector<Layer> layers = LayerFinder(plain, constants, infos).find();
  for (Layer& layer : layers) layer.node = graph.find_node(plain.node(layer.node).name).value();
  for (const ValueId view : views) {
    const ValueInfo& info = infos[index_of(view)];
    const bool by_record = info.batch_axis == 0 && info.batch_multiple == 1 &&
                           (info.shape.size() == 2 || info.shape.size() == 3);
    const bool named = std::ranges::find(layers, unit_view_name(graph, view), &Layer::name) != layers.end();
    if (by_record && !named) layers.push_back(layer_of_view(graph, infos, view));
  }
  return layers;
}

}  // namespace assay::inline engine

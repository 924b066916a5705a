#include "assay/engine/layers/unit_views.h"

#include <algorithm>
#include <string_view>

#include <assay/error.h>
#include <assay/model.h>

namespace assay {
namespace {

constexpr std::string_view view_prefix = "view:";

bool is_unit_view(const Graph& graph, ValueId id) { return graph.value(id).name.starts_with(view_prefix); }

// [records, heads, positions, ...]: heads are the neurons.
Layer layer_of_heads(const Session& session, ValueId value) {
  Layer heads;
  heads.value = heads.linear_value = value;
  heads.shape = session.shape(value);
  heads.neurons = heads.shape[1];
  heads.neuron_axes = {1};
  heads.shape.erase(heads.shape.begin());
  return heads;
}

}  // namespace

std::string view_node(const std::string& name) { return std::string(view_prefix) + name; }
std::string view_source(const std::string& name) { return view_node(name) + "/of"; }

std::vector<ValueId> unit_views(const Graph& graph) {
  std::vector<ValueId> views;
  for (const ValueId id : graph.outputs())
    if (is_unit_view(graph, id)) views.push_back(id);
  return views;
}

Graph without_unit_views(const Graph& graph) {
  std::vector<ValueId> kept(graph.outputs().begin(), graph.outputs().end());
  std::erase_if(kept, [&](ValueId id) { return is_unit_view(graph, id); });
  GraphBuilder edit(graph);
  edit.set_outputs(std::move(kept));
  return edit.build();
}

std::string unit_view_name(const Graph& graph, ValueId view) {
  return graph.value(view).name.substr(view_prefix.size());
}

std::vector<Layer> unit_view_layers(const Session& session) {
  std::vector<Layer> views;
  for (const Layer& layer : session.layers())
    if (is_unit_view(session.graph(), layer.value)) views.push_back(layer);
  return views;
}

Layer relevance_carrier(const Session& session, const Layer& layer) {
  const Graph& graph = session.graph();
  if (!is_unit_view(graph, layer.value)) return layer;
  const auto source = graph.find_node(view_source(layer.name));
  const ValueId value = source ? graph.node(*source).inputs[0] : no_value;
  const auto own = std::ranges::find(session.layers(), value, &Layer::value);
  if (own != session.layers().end() && own->neurons == layer.neurons) return *own;
  if (value != no_value && session.shape(value).size() == 4 && session.shape(value)[1] == layer.neurons)
    return layer_of_heads(session, value);
  fail(Fault::usage,
       "view '{}': relevance arrives at neurons and heads, and these units are made of several{}", layer.name,
       own == session.layers().end() ? "" : fmt::format("; look at layer '{}'", own->name));
}

}  // namespace assay

#include "assay/engine/layers/unit_views.h"

#include <algorithm>
#include <string_view>

#include <assay/error.h>
#include <assay/model.h>

namespace assay::inline engine {
namespace {

constexpr std::string_view value_prefix = "view:";

bool is_unit_view(const Graph& graph, ValueId id) {
  const Value& value = graph.value(id);
  return value.name.starts_with(value_prefix) && value.name.size() > value_prefix.size() &&
         id != graph.outputs()[0] && graph.producer(id) != no_node &&
         graph.node(graph.producer(id)).op == "Identity" && is_real(value.dtype) &&
         (value.shape.size() == 2 || value.shape.size() == 3);
}

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

std::string view_value(const std::string& name) { return std::string(value_prefix) + name; }
std::string view_prefix(const std::string& name) { return "viewed:" + name; }
std::string view_source(const std::string& name, ViewSource of) {
  return view_prefix(name) + (of == ViewSource::neurons ? "/of"
                              : of == ViewSource::heads ? "/of_heads"
                                                        : "/of_several");
}

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
  return graph.value(view).name.substr(value_prefix.size());
}

std::vector<Layer> unit_view_layers(const Session& session) {
  std::vector<Layer> views;
  for (const Layer& layer : session.layers())
    if (is_unit_view(session.graph(), layer.value)) views.push_back(layer);
  return views;
}

bool shows_heads(const Graph& graph, const Layer& layer) {
  return is_unit_view(graph, layer.value) && graph.find_node(view_source(layer.name, ViewSource::heads));
}

std::optional<std::int64_t> viewed_position(const Graph& graph, const Layer& layer) {
  if (!is_unit_view(graph, layer.value)) return std::nullopt;
  const auto is_at = [&](std::string_view token) {
    return graph.find_node(view_prefix(layer.name) + "/at_" + std::string(token)).has_value();
  };
  if (is_at("first")) return 0;
  if (is_at("last")) return -1;
  return std::nullopt;
}

Layer relevance_carrier(const Session& session, const Layer& layer) {
  const Graph& graph = session.graph();
  const std::vector<Layer>& all = session.layers();
  Layer carrier = layer;
  while (is_unit_view(graph, carrier.value)) {
    const auto source = [&](ViewSource of) {
      const auto node = graph.find_node(view_source(carrier.name, of));
      return node ? graph.node(*node).inputs[0] : no_value;
    };
    const ValueId heads = source(ViewSource::heads);
    if (heads != no_value && session.shape(heads).size() == 4) return layer_of_heads(session, heads);
    const auto own = std::ranges::find(all, source(ViewSource::neurons), &Layer::value);
    if (own == all.end()) {
      const auto several = std::ranges::find(all, source(ViewSource::mixed), &Layer::value);
      fail(Fault::usage,
           "view '{}': relevance arrives at neurons and heads, and these units are made of several{}",
           layer.name, several == all.end() ? "" : fmt::format("; look at layer '{}'", several->name));
    }
    carrier = *own;
  }
  return carrier;
}

}  // namespace assay::inline engine

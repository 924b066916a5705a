#pragma once

// Views of units: what a layer computes, as other units. Heads of attention, neurons at one token of each
// record, projections onto directions. A view is one more output, 'view:NAME', and so a layer called NAME
// that analyses may look at; what the network decides does not change (docs/text.md).

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <assay/session.h>

namespace assay::inline engine {

// What a view is made of: neurons that stay what they are, heads, or sums of several neurons.
enum class ViewSource { neurons, heads, mixed };

// The value of a view called so, what all nodes that compute it begin with, and the node through which the
// value goes that it is made of.
std::string view_value(const std::string& name);
std::string view_prefix(const std::string& name);
std::string view_source(const std::string& name, ViewSource of);

// The outputs of the graph that are views, in their order: those of Identity with such a name, of real
// numbers [records, units] or [records, positions, units], and never the first, which decides.
std::vector<ValueId> unit_views(const Graph& graph);
// Without them. Values keep their numbers.
Graph without_unit_views(const Graph& graph);
// The name of the layer that a view is.
std::string unit_view_name(const Graph& graph, ValueId view);

// Layers of the session that are views.
std::vector<Layer> unit_view_layers(const Session& session);
// Whether the units of a layer are heads of attention, as a view shows them.
bool shows_heads(const Graph& graph, const Layer& layer);
// At which token of a record a view shows its units: 0 for the first, -1 for the last. Nothing for views of
// all tokens or of what they have in common, and for other layers.
std::optional<std::int64_t> viewed_position(const Graph& graph, const Layer& layer);

// Where the relevance of a layer's units is: a view is computed beside the decision, and what it is made of
// carries its relevance, so that of a head is the sum over all that the head gives. Other layers carry their
// own. Throws Error{usage} for directions, which are sums of several neurons.
Layer relevance_carrier(const Session& session, const Layer& layer);

}  // namespace assay::inline engine

#pragma once

// Views of units: what a layer computes, as other units. Heads of attention, neurons at one token of each
// record, projections onto directions. A view is one more output, 'view:NAME', and so a layer called NAME
// that analyses may look at; what the network decides does not change (docs/text.md).

#include <string>
#include <vector>

#include <assay/session.h>

namespace assay {

// The node that computes a view called so, and its value; the value that the view is made of goes through the
// node `view_source`.
std::string view_node(const std::string& name);
std::string view_source(const std::string& name);

// The outputs of the graph that are views, in their order.
std::vector<ValueId> unit_views(const Graph& graph);
// Without them. Values keep their numbers.
Graph without_unit_views(const Graph& graph);
// The name of the layer that a view is.
std::string unit_view_name(const Graph& graph, ValueId view);

// Layers of the session that are views.
std::vector<Layer> unit_view_layers(const Session& session);

// Where the relevance of a layer's units is: a view is computed beside the decision, and what it is made of
// carries its relevance, so that of a head is the sum over all that the head gives. Other layers carry their
// own. Throws Error{usage} for directions, which are sums of several neurons.
Layer relevance_carrier(const Session& session, const Layer& layer);

}  // namespace assay

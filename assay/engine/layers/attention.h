#pragma once

// Attention in a graph: a product of weights, which come out of a softmax, and values.

#include <optional>
#include <vector>

#include <assay/graph.h>
#include <assay/session.h>

namespace assay::inline engine {

// The node that computes the value, before nodes that only move it or give it another type. nullptr for
// inputs and constants. `moved`: what it computes.
const Node* maker_of(const Graph& graph, ValueId value, ValueId* moved = nullptr);

struct Attention {
  const Node* product = nullptr;  // of weights and values
  const Node* softmax = nullptr;  // that gives the weights
};
// The attention that computes the value, but for movement; nothing where another node does.
std::optional<Attention> attention_of(const Graph& graph, ValueId value);

// Whether the weights are those of the last axis, the tokens that are looked at.
bool weighs_last_axis(const Session& session, const Attention& attention);
// What the heads give, [records, heads, positions, ...]: the product, or, where heads are merged into its
// records, the value that takes them apart again. no_value where the network never has them on an axis.
ValueId heads_value(const Session& session, const Attention& attention);
// The same of the weights, [records, heads, positions, tokens]: what the product reads, or the value whose
// heads are merged into records for it.
ValueId weights_value(const Session& session, const Attention& attention);
// Layers that are products of such weights and values.
std::vector<Layer> layers_of_attention(const Session& session);

}  // namespace assay::inline engine

#pragma once

// From an operator to the end of the layer it begins: bias, batch normalisation and activation function, also
// when the activation consists of several nodes (x * sigmoid(x), the error function of GELU).

#include <optional>
#include <string>
#include <vector>

#include <assay/extend/operator_traits.h>
#include "assay/engine/shape_inference.h"

namespace assay::inline engine {

// Several nodes that together compute one function of one value.
struct Composite {
  ValueId exit = no_value;  // the result; the only value of `nodes` that others read
  std::vector<NodeId> nodes;
  bool reduces = false;  // it contains sums over positions: a normalisation rather than an activation
  std::string name;      // "Gelu", "Swish", ... or "composite"
};

// The smallest set of two or more element-wise (or reducing) nodes that contains all readers of `root` and
// ends in one value. Nothing if there is none. `choices`: comparisons and Where are such nodes as well.
std::optional<Composite> find_composite(const Graph& graph, std::span<const ValueInfo> infos, ValueId root,
                                        bool choices = false);

struct Chain {
  ValueId value = no_value;      // where the layer ends
  std::vector<NodeId> nodes;     // after the operator, in order
  std::vector<std::string> ops;  // their names, without nodes that change nothing
  std::string activation;        // as in Layer
  ValueRange range;
};

// `affine`: constant addends and factors and batch normalisation belong to the layer as well.
Chain follow_chain(const Graph& graph, const Constants& constants, std::span<const ValueInfo> infos,
                   ValueId from, bool affine);

}  // namespace assay::inline engine

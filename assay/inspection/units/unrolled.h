#pragma once

// How the decision of a network depends on the values within it.

#include <span>
#include <vector>

#include <assay/session.h>

namespace assay::inspection {

// Derivative of the score of the class that each record is given, with respect to these values; with
// `outputs` (of regression) that of its greatest output.
Tensors decision_gradients(const Session& session, const Tensors& given, std::span<const ValueId> values,
                           bool outputs = false);

// A network in which a recurrent layer is one cell a step, so that the decision can be differentiated by
// every hidden state, including its effect through later states.
struct Unrolled {
  Graph graph;
  std::vector<std::vector<ValueId>> states;  // [directions][steps], each [1, records, hidden]
};
// Throws Error{unsupported} for layers whose sequences differ in length or whose weights are computed.
Unrolled unrolled(const Graph& graph, const std::string& node, std::int64_t steps);

}  // namespace assay::inspection

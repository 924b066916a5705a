#pragma once

// LSTM, GRU and RNN in the lanes, with gradients with respect to records, states and weights. Separate
// segments, since their values may have the steps first and the records after them.

#include "assay/engine/backend.h"

namespace assay::lanes {

bool supports_recurrence(const Graph& graph, const Node& node);
// Nanoseconds for a record and step on one thread.
double recurrence_cost(const Graph& graph, const Node& node);
// Sequences that are longer would need too much memory for what the way back reads.
std::int64_t most_steps(const Graph& graph, const Node& node);
std::unique_ptr<Segment> compile_recurrence(SegmentRequest request);

}  // namespace assay::lanes

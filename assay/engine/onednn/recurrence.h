#pragma once

// LSTM, GRU and RNN by oneDNN: all steps of a direction in one primitive. A separate segment, since its
// values may have the steps first and the records after them.

#include "assay/engine/backend.h"

namespace assay::onednn {

// Nanoseconds for a record and step on one thread.
double recurrence_cost(const Graph& graph, const Node& node);
std::unique_ptr<Segment> compile_recurrence(SegmentRequest request);

}  // namespace assay::onednn

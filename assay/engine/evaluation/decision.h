#pragma once

// Where a network decides: its first output, before a final softmax.

#include "assay/engine/probe.h"

namespace assay {

struct Decision {
  ValueId logits = no_value;
  bool softmax = false;  // logits come before a final Softmax or LogSoftmax
  bool sigmoid = false;  // the decision value itself holds probabilities
};

// `infos` tells whether a Reshape or Flatten changes anything.
Decision find_decision(const Graph& graph, std::span<const ValueInfo> infos);

// One row for each record, whatever axes of size 1 there are besides: [N, K], [N, K, 1, 1], [N].
bool is_rows(const Shape& shape);

// The graph output that the decision value belongs to.
ValueId deciding_output(const Graph& graph, ValueId logits);

}  // namespace assay

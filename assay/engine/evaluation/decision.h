#pragma once

// Where a network decides: its first output, before a final softmax.

#include "assay/engine/evaluation/rows.h"
#include "assay/engine/shape_inference.h"

namespace assay::inline engine {

struct Decision {
  ValueId logits = no_value;
  bool softmax = false;  // logits come before a final Softmax or LogSoftmax, written with any operators
  bool sigmoid = false;  // the decision value itself holds probabilities
};

// `infos` tells whether a Reshape or Flatten changes anything.
Decision find_decision(const Graph& graph, std::span<const ValueInfo> infos);

// The graph output that the decision value belongs to.
ValueId deciding_output(const Graph& graph, ValueId logits);

}  // namespace assay::inline engine

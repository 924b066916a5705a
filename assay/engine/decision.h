#pragma once

// Where a network decides: its first output, before a final softmax.

#include "assay/engine/probe.h"

namespace assay {

struct Decision {
  ValueId logits = no_value;
  bool softmax = false;  // logits come before a final Softmax or LogSoftmax
  bool sigmoid = false;  // the decision value itself is a probability
};

// `infos` tells whether a Reshape or Flatten changes anything.
Decision find_decision(const Graph& graph, std::span<const ValueInfo> infos);

}  // namespace assay

#pragma once

#include <map>
#include <set>

#include <assay/graph.h>
#include "assay/training/weights.h"

namespace assay::training {

struct WeightRoles {
  // Constants that nodes use in a part that is known (every role but `operand`), also through nodes that move
  // elements: Identity, Transpose, Reshape, Slice, Concat, Unsqueeze. A constant has the part of its first
  // use.
  std::map<ValueId, Weight> known;
  // Ones and zeros of an instance normalisation whose scale and shift come after it, as those of groups do.
  std::set<ValueId> neutral;
};

WeightRoles weight_roles(const Graph& graph);

}  // namespace assay::training

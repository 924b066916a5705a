#pragma once

// Runs nodes and plans with the operators' reference computations.

#include <functional>
#include <span>
#include <vector>

#include <assay/tensor.h>
#include "assay/engine/operators/kernel.h"
#include "assay/engine/preparation/plan.h"

namespace assay::inline engine {

// Called with every value that a node has just computed; may replace the array.
using OnValue = std::function<void(ValueId, Array&)>;

struct Executor {
  const Graph& graph;
  std::span<const Array> constants;  // one entry per graph value; taken where `values` has nothing
  KernelContext& context;
  const OnValue& on_value;  // may be empty

  // Computes one node's outputs into `values` (one entry per graph value). Ctrl-C takes effect here.
  void run(NodeId n, std::vector<Array>& values) const;
  // All nodes of a plan, releasing values as planned; afterwards the wanted values are in `values`.
  void run(const Plan& plan, std::vector<Array>& values) const;
};

// Forgets values.
void release(std::span<const ValueId> ids, std::vector<Array>& values);

}  // namespace assay::inline engine

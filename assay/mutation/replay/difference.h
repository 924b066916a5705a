#pragma once

// The difference between a mutant and the original, found by comparing the two graphs, independent of the
// operator that made the edit.

#include <functional>
#include <map>
#include <vector>

#include <assay/graph.h>

namespace assay::mutation {

struct Difference {
  std::vector<NodeId> nodes;  // of the mutant, ascending: those that have to be computed with its own weights
  std::map<ValueId, ValueId> sources;  // values that they read -> the equal value of the original
  std::vector<ValueId> boundary;   // values that they compute and that the rest of the network reads, same id
                                   // in both; from these on the original's nodes apply
  std::vector<ValueId> also_read;  // values of the original that the rest reads together with the boundary
  std::map<ValueId, ValueId> border;  // all values equal to the original's that nodes after the fault read
  bool empty() const { return nodes.empty(); }
};

// Nodes are matched by name, values by id, as edits with GraphBuilder keep them. `decision` is the value that
// is wanted in the end. `per_record(id)`: whether the value depends on the batch; a difference never ends at
// one that does not, such as weights computed from other weights. O(nodes + values), and the bytes of
// constants that do not share storage.
Difference compare(const Graph& original, const Graph& mutant, ValueId decision,
                   const std::function<bool(ValueId)>& per_record);

// Whether two nodes compute the same of equal inputs.
bool same_function(const Node& a, const Node& b);

// Whether two arrays hold the same elements.
bool same_elements(const Array& a, const Array& b);

}  // namespace assay::mutation

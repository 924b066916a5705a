#pragma once

// What lies in front of a layer: nodes between it and the layers before it, which carry no weights that
// belong to neurons. Embeddings, normalisations, masks and positions of transformers are found there.

#include <cstdint>
#include <vector>

#include <assay/extend/mutation_subject.h>

namespace assay::mutation {

// Nodes that the layer needs and that neither belong to a layer nor are in front of an earlier one, in the
// order of computation. So each node is in front of one layer at most.
std::vector<NodeId> nodes_in_front(const Subject& subject, const SubjectLayer& layer);

// A table of rows in front of a layer that numbers choose from.
struct RowTable {
  LayerWeights weights;
  ValueId numbers = no_value;  // that choose rows; no_value: all rows in order, or the first ones
  bool given = false;          // the numbers are an input, such as those of tokens
  std::int64_t rows = 0, width = 0;
};
std::vector<RowTable> tables_in_front(const Subject& subject, const SubjectLayer& layer);

}  // namespace assay::mutation

#pragma once

// A node that is linear in one input, with everything that follows and is linear too: a bias added
// separately, a batch normalisation. Rules see the whole as one layer, as if the normalisation had been
// folded into the weights.

#include <optional>
#include <vector>

#include <assay/session.h>
#include "assay/relevance/dependence.h"
#include "assay/relevance/linear_map.h"

namespace assay::relevance {

struct LinearUnit {
  std::size_t input = 0;         // position of the input that carries relevance
  LinearMap map;                 // with bias and normalisation folded in
  ValueId end = no_value;        // the unit's output: map(input)
  std::vector<NodeId> absorbed;  // the nodes after the first, which relevance passes unchanged
  bool convolution = false;
};

// Conv, ConvTranspose, Gemm, MatMul and Einsum with one operand that carries and constants elsewhere, and
// BatchNormalization. Nothing for other nodes, and for these with weights that are not constant. It ends at
// the latest at `start`, where relevance is put in.
std::optional<LinearUnit> find_linear_unit(const Dependence& dependence, const Session& session,
                                           ValueId start, NodeId node);

// A value that depends on no network input.
Array static_value(const Session& session, ValueId id);

}  // namespace assay::relevance

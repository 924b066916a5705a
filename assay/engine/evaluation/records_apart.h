#pragma once

// Whether the definitions of a network's operators keep records apart.

#include <optional>
#include <vector>

#include <assay/session.h>

namespace assay::inline engine {

// The values that may differ between a record alone and together with others, where all other operators look
// at one record: if these do not, no result does. None where the definitions of the operators keep all
// records apart: convolutions, dense layers, activations, pooling, normalisation of a record, attention
// within it, and movement of its elements. Nothing where that cannot be told. O(nodes).
std::optional<std::vector<ValueId>> values_that_may_mix(const Session& session);

}  // namespace assay::inline engine

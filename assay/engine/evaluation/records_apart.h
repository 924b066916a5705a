#pragma once

// Whether the definitions of a network's operators keep records apart.

#include <assay/session.h>

namespace assay::inline engine {

// Whether every value of the graph holds its records along axis 0 and each of them depends only on the same
// record of the inputs. That holds for convolutions, dense layers, activations, pooling, normalisation of a
// record, and movement of elements within it. False means unknown. O(nodes).
bool records_stay_apart(const Session& session);

}  // namespace assay::inline engine

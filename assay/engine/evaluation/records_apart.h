#pragma once

// Whether a network's operators, by what they are defined to compute, keep records apart.

#include <assay/session.h>

namespace assay {

// Whether every value of the graph holds its records along axis 0 and each of them follows from the same
// record of the inputs alone: convolutions, dense layers, activations, pooling, normalisation of a record,
// and what moves elements within it. False where that is not seen, which says nothing. O(nodes).
bool records_stay_apart(const Session& session);

}  // namespace assay

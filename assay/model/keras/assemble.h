#pragma once

// From a list of Keras layers and a file of weights to a graph.

#include <string>

#include <assay/graph.h>
#include "assay/model/keras/config.h"
#include "assay/model/keras/hdf5.h"

namespace assay::inline model {

// Translates every call of every layer, models within the model included. `source` names the model where it
// has no name. Throws Error{model} where architecture and weights do not fit or layers form a cycle,
// Error{unsupported} for layers we cannot translate. O(layer calls * log + weights).
Graph assemble_keras(const KerasModel& model, Hdf5File& weights, const std::string& source);

}  // namespace assay::inline model

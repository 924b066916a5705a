#pragma once

// Networks exported for a single record: no axis of any input is the batch.

#include <optional>

#include "assay/engine/preparation/input_form.h"

namespace assay {

// Every input is declared whole, and as one record: as the data tell, or, where nothing is told, a vector.
bool takes_single_record(const Graph& graph, const RecordShapes& known);

// The same network with an axis of records in front of inputs and outputs, if several records then get what
// each one gets alone. REQUIRES takes_single_record().
std::optional<Graph> with_batch_axis(const Graph& graph, c10::Device device);

}  // namespace assay

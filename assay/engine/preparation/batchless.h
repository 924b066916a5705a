#pragma once

// Networks exported for a single record: no axis of any input is the batch.

#include <optional>

#include "assay/engine/preparation/input_form.h"

namespace assay::inline engine {

// Every input is declared whole, and as one record: as the data tell, or, where nothing is told, a vector or
// a picture, which may be a batch as well.
bool takes_single_record(const Graph& graph, const RecordShapes& known);

// Whether some output holds records that lie along the first axis of the inputs, by experiment. REQUIRES
// takes_single_record().
bool leads_with_records(const Graph& graph);

// The same network with an axis of records in front of inputs and outputs, if several records then get what
// each one gets alone. REQUIRES takes_single_record().
std::optional<Graph> with_batch_axis(const Graph& graph);

// A batch axis of 1 around a network whose inputs have none: taken from them, put in front of the outputs.
// Nothing where an output is an input or a constant.
std::optional<Graph> with_axis_of_one(const Graph& graph);

}  // namespace assay::inline engine

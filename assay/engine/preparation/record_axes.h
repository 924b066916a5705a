#pragma once

// Inputs that a file declares whole, with a batch that lies along another axis in each: a signal [1, 576] and
// a state [2, 1, 128].

#include <optional>

#include "assay/engine/preparation/input_form.h"

namespace assay::inline engine {

struct RecordAxes {
  Graph graph;             // with these axes open
  std::int64_t batch = 0;  // how many records the file has there
};

// Where records are as told and lie along another axis of some input than they would without being told.
// Nothing where that would take a guess.
std::optional<RecordAxes> with_record_axes(const Graph& graph, const RecordShapes& known);

}  // namespace assay::inline engine

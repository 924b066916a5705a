#pragma once

// Networks whose file fixes the batch size (exports without a dynamic axis): making the batch free.

#include <optional>

#include "assay/engine/shape_inference.h"

namespace assay::inline engine {

// All outputs of one run.
Tensors run_all(const Graph& graph, const Constants& constants, const Tensors& inputs);

// A graph in which constant target shapes of Reshape nodes no longer carry the batch size, or nothing when
// there is nothing to change. `sample_shapes`: of a run with the file's own batch size. The result may still
// insist on its batch size: compare before use.
std::optional<Graph> free_batch(const Graph& graph, const Constants& constants,
                                const SampleShapes& sample_shapes, std::int64_t batch);

// Whether a node takes away every axis that happens to be of size 1.
bool squeezes_all(const Node& node);
// A graph in which such nodes name the axes that they take away from several records. `sample_shapes`: of
// those.
Graph with_squeezed_axes(const Graph& graph, const SampleShapes& sample_shapes);

// True when an output's shape depends on what records hold, such as rows for the boxes that are found:
// several records at a time would give all their rows together. `group`: records that run at a time; 0: any
// number.
bool has_outputs_shaped_by_content(const Graph& graph, const Constants& constants, const RecordShapes& known,
                                   std::int64_t group = 0);

// True when the graph gives `2 * batch` records the outputs that it gives them in two halves.
bool batch_is_free(const Graph& graph, const Constants& constants, const Graph& original,
                   const Constants& original_constants, const RecordShapes& known, std::int64_t batch);

}  // namespace assay::inline engine

#pragma once

// What a graph's values look like: found by running two tiny batches and comparing shapes.

#include <vector>

#include <assay/tensor.h>
#include "assay/engine/constants.h"
#include "assay/engine/input_form.h"

namespace assay {

// One value of the graph, for a batch of one record.
struct ValueInfo {
  Shape shape;  // empty for scalars and for values not computed
  bool computed = false;
  bool floating = false;
  bool single = false;              // float32
  int batch_axis = -1;              // -1: does not depend on the batch, or not in a way that is understood
  std::int64_t batch_multiple = 1;  // rows per record along the batch axis
};

// Inputs for a batch of `rows` records: small reproducible numbers in [0, 1), zeros for integers. Throws
// Error{usage} naming the dimension that nobody knows.
Tensors tiny_batch(const Graph& graph, const RecordShapes& known, std::int64_t rows, c10::Device device);

// Runs the whole graph on `inputs` and returns every value's shape and kind of elements.
struct Footprint {
  std::vector<Shape> shapes;
  std::vector<bool> computed, floating, single;
};
Footprint footprint(const Graph& graph, const Constants& constants, const Tensors& inputs,
                    c10::Device device);

// Compares the footprints of a batch of 2 and a batch of 3.
std::vector<ValueInfo> compare_footprints(const Graph& graph, const Footprint& two, const Footprint& three);

// The same from a single footprint, for a network whose batch size is fixed in the file: the batch is taken
// to be where a batch-dependent value has a dimension that is a multiple of it, axis 0 first; recurrent
// outputs by operator.
std::vector<ValueInfo> guess_from_footprint(const Graph& graph, const Footprint& footprint,
                                            std::int64_t batch);

}  // namespace assay

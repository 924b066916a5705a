#pragma once

// Shapes and batch axes of a graph's values, found by rules or by running tiny batches and comparing.

#include <span>
#include <vector>

#include <assay/tensor.h>
#include "assay/engine/constants.h"
#include "assay/engine/preparation/input_form.h"
#include "assay/engine/preparation/shape_rules.h"

namespace assay::inline engine {

// One value of the graph, for a batch of one record.
struct ValueInfo {
  Shape shape;  // empty for scalars and for values not computed
  bool computed = false;
  bool floating = false;
  bool single = false;              // float32
  bool of_records = false;          // computed from what records hold, not from their shapes alone
  bool shaped_by_content = false;   // the shape depends on what records hold: sample records tell nothing
  int batch_axis = -1;              // -1: does not depend on the batch, or not in a way that is understood
  std::int64_t batch_multiple = 1;  // rows per record along the batch axis
  // Whose size is a multiple of the batch's, whether records are told apart there or not. -1: none is; -2:
  // the shape depends on the batch in another way.
  int varying_axis = -1;
};

// float32 along records, which are the first axis.
inline ValueInfo info_of_records(Shape shape) {
  return {.shape = std::move(shape),
          .computed = true,
          .floating = true,
          .single = true,
          .of_records = true,
          .batch_axis = 0,
          .varying_axis = 0};
}

// Sample input: reproducible numbers in [0, 1), and integers below `integers`.
struct SampleInput {
  std::int64_t integers = 1;  // zeros, which are valid as indices
  std::uint64_t seed = 1;
};

// Inputs for a batch of `rows` records. Throws Error{usage} naming the unknown dimension.
Tensors tiny_batch(const Graph& graph, const RecordShapes& known, std::int64_t rows,
                   const SampleInput& made_up = {});

// The node's results where sizes follow from sizes: it runs, with zeros for what is not constant. None where
// the elements of an operand may tell how large a result is.
std::vector<ResultForm> forms_on_zeros(const Node& node, std::span<const OperandShape> operands);

// Every value's shape and type of elements for these inputs: by rules (shape_rules.h) and forms_on_zeros();
// other nodes run, and with them what they read.
struct SampleShapes {
  std::vector<Shape> shapes;
  std::vector<DType> types;
  std::vector<bool> computed;
};
SampleShapes sample_shapes(const Graph& graph, const Constants& constants, const Tensors& inputs);

// Bytes of a record's values: of all of them, and at most at a time where each is released after its last
// reader.
struct BatchBytes {
  double all = 0, at_a_time = 0;
};
BatchBytes batch_bytes(const Graph& graph, std::span<const ValueInfo> infos);

// Compares the sample_shapes of a batch of 2 and a batch of 3. Where the network may put records into another
// order, values whose records cannot be told are then found by experiment.
std::vector<ValueInfo> compare_sample_shapes(const Graph& graph, const SampleShapes& two,
                                             const SampleShapes& three);
void discard_reordered(const Graph& graph, const Constants& constants, const RecordShapes& known,
                       std::vector<ValueInfo>& infos);

// The same for a network that runs `batch` records at a time, by experiment: records in another order give
// the same slices in that order, and another first record another first slice.
std::vector<ValueInfo> find_records(const Graph& graph, const Constants& constants, const RecordShapes& known,
                                    std::int64_t batch);

}  // namespace assay::inline engine

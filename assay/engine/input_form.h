#pragma once

// Graph inputs as containers of records: where the batch is, what one record looks like, and how records of a data
// set become the input tensor.

#include <optional>

#include "assay/engine/tensor.h"

namespace assay {

struct InputForm {
  int batch_axis = 0;            // -1: the input has no dimensions
  Shape record;                  // without the batch axis; -1 where neither the model nor the caller says
  std::int64_t fixed_batch = 0;  // the batch size the file declares; 0: dynamic
};

// The batch is on axis 0 unless another axis is the only dynamic one. `record_shape` (may be empty): what the caller
// knows about records of the first input, used where the model's declaration is dynamic. Throws Error{mismatch} when
// the two contradict each other.
InputForm input_form(const Graph& graph, ValueId input, const Shape& record_shape);

// The shape under which records of shape `record` can be given to a network that takes `wanted` (-1: any): the same
// shape, or one that differs in dimensions of size 1 or by flattening a matrix (one row after the other). Nothing when
// it would take a guess.
std::optional<Shape> fit_record(const Shape& record, const Shape& wanted);

// Records as the input's tensor on the host. Throws Error{mismatch} naming both shapes or types, and the likely cause.
Tensor bind_records(const Graph& graph, ValueId input, const Shape& record_shape, const Array& records);

}  // namespace assay

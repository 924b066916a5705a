#pragma once

// Graph inputs as containers of records: where the batch is, what one record looks like, and how records of a
// data set become the input tensor.

#include <map>
#include <optional>
#include <string>

#include <assay/tensor.h>

namespace assay::inline engine {

// What the caller knows about records, used where the model's declaration is dynamic.
struct RecordShapes {
  Shape first;                         // of the first input; may be empty
  std::map<std::string, Shape> named;  // of inputs by name, which counts more
  // Empty where nothing is known.
  const Shape& of(const Graph& graph, ValueId input) const;
};

struct InputForm {
  int batch_axis = 0;            // -1: the input has no dimensions
  Shape record;                  // without the batch axis; -1 where neither the model nor the caller says
  std::int64_t fixed_batch = 0;  // the batch size the file declares; 0: dynamic
};

// The batch is on axis 0 unless another axis is the only dynamic one, or a recurrent operator reads the input
// as a sequence or state. Throws Error{mismatch} when what is
// known contradicts the model's declaration.
InputForm input_form(const Graph& graph, ValueId input, const RecordShapes& known);

// The shape under which records of shape `record` can be given to a network that takes `wanted` (-1: any):
// the same shape, or one that differs in dimensions of size 1 or by flattening a matrix (one row after the
// other). Nothing when it would take a guess.
std::optional<Shape> fit_record(const Shape& record, const Shape& wanted);

// Records as the input's tensor on the host. Throws Error{mismatch} naming both shapes or types, and the
// likely cause.
Array bind_records(const Graph& graph, ValueId input, const RecordShapes& known, const Array& records);

// Whether the input takes bytes that become real numbers before anything is computed of them: a network of
// 8-bit pictures then computes of fractions what lies between them.
bool becomes_real(const Graph& graph, ValueId input);

// Shape of the records for one input.
struct NamedShape {
  std::string name;
  Shape record;
};
Shape record_of(const Array& records);  // without the first axis

// The graph inputs that take what is given, in that order. One input fits a network with one; several are
// matched by name. Throws Error{mismatch} naming what is missing or too many.
std::vector<ValueId> matching_inputs(const Graph& graph, const std::vector<NamedShape>& given);

}  // namespace assay::inline engine

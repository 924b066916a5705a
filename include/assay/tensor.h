#pragma once

// Tensors as the engine's callers see them: at::Tensor with the logical shape of the value (channels first).
// Strides and memory layout are the engine's business: never read data_ptr() of a tensor you did not make
// contiguous, never assume a device.

#include <ATen/core/Tensor.h>

#include <functional>
#include <map>
#include <span>
#include <vector>

#include <assay/graph.h>

namespace assay {

using at::Tensor;
// Tensors by the graph value they belong to.
using Tensors = std::map<ValueId, Tensor>;

// Numbers of single records, each a function of what some values hold for the record.
struct RecordObjective {
  std::vector<ValueId> read;  // float, each once
  std::size_t numbers = 1;
  // Adds to zeros, number by number, how each number changes with the record's elements: those of every value
  // read, one after the other, each in its order with the axis of records in front. Called once a record, by
  // several threads at a time.
  std::function<void(std::size_t record, std::span<const float> elements, std::span<float> slopes)> slopes;
};
struct RecordGradients {
  Tensor value;                    // what was read first
  std::vector<Tensors> gradients;  // of each number, by what they are with respect to, in its shape
};

Tensor to_tensor(const Array& array);      // shares the Array's memory; treat as read-only
c10::ScalarType scalar_type(DType dtype);  // libtorch's name for an element type
Array to_array(const Tensor& tensor);      // copies to the host, contiguous

}  // namespace assay

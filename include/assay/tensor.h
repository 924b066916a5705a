#pragma once

// Tensors as the engine's callers see them: at::Tensor with the logical shape of the value (channels first).
// Strides and memory layout are the engine's business: never read data_ptr() of a tensor you did not make
// contiguous, never assume a device.

#include <ATen/core/Tensor.h>

#include <map>

#include <assay/graph.h>

namespace assay {

using at::Tensor;
// Tensors by the graph value they belong to.
using Tensors = std::map<ValueId, Tensor>;

Tensor to_tensor(const Array& array);      // shares the Array's memory; treat as read-only
c10::ScalarType scalar_type(DType dtype);  // libtorch's name for an element type
Array to_array(const Tensor& tensor);      // copies to the host, contiguous

}  // namespace assay

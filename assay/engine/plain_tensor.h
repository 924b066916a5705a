#pragma once

// Tensors in the processor's memory, made and read with libtorch's small core library alone. The program
// loads the large one when it first calls a function of it, which takes longer than running a small network:
// what networks pass through when back ends of our own run them uses these.

#include <functional>
#include <span>
#include <vector>

#include <assay/tensor.h>

namespace assay {

// Contiguous and in the processor's memory.
inline bool in_reach(const Tensor& tensor) { return tensor.device().is_cpu() && tensor.is_contiguous(); }
// And of float32.
inline bool floats_in_reach(const Tensor& tensor) {
  return in_reach(tensor) && tensor.scalar_type() == c10::kFloat;
}

// Contiguous; its elements are not set.
Tensor room_for(const Shape& shape, c10::ScalarType type = c10::kFloat);
Tensor zeros_of(const Shape& shape, c10::ScalarType type = c10::kFloat);
// Contiguous elements that lie elsewhere, until `done`.
Tensor around(void* elements, const Shape& shape, c10::ScalarType type, std::function<void(void*)> done);

// Whole numbers along one axis.
Tensor tensor_of(std::span<const std::int64_t> numbers);

// The tensor itself where it is contiguous, of this type and in the processor's memory, a copy otherwise.
Tensor in_memory(const Tensor& tensor, c10::ScalarType type);
// The same on a device, of whatever type, and of a type, wherever it is.
Tensor on_device(const Tensor& tensor, c10::Device device);
Tensor as_type(const Tensor& tensor, c10::ScalarType type);

// The same elements in another shape with as many of them.
Tensor reshaped(const Tensor& tensor, const Shape& shape);
// The same as [n, elements of a row].
Tensor as_rows(const Tensor& tensor);

// Positions along an axis, its rows say: some of them in the order given, and some of them put in the place
// of others. Throws Error{usage} for positions that there are not.
Tensor picked(const Tensor& tensor, std::span<const std::int64_t> positions, std::int64_t axis = 0);
void put(const Tensor& into, std::span<const std::int64_t> positions, const Tensor& from,
         std::int64_t axis = 0);
// Tensors of one shape, type and place, along a new axis 0. REQUIRES one at least.
Tensor stacked(std::span<const Tensor> rows);
// The same along the axis 0 that they have.
Tensor joined(std::span<const Tensor> parts);
// One row, a copy without axis 0.
Tensor row_of(const Tensor& tensor, std::int64_t row);
Tensor copied(const Tensor& tensor);  // contiguous, wherever the tensor is

// A matrix with rows for columns, as a view.
Tensor transposed(const Tensor& matrix);
// Of float32 tensors of one shape, element by element.
Tensor product(const Tensor& a, const Tensor& b);
Tensor sum(const Tensor& a, const Tensor& b);

// Of a contiguous tensor of elements of T in the processor's memory; nullptr without elements.
template <typename T>
T* elements_of(const Tensor& tensor) {
  // Not constant in libtorch 1.13, constant in later versions.
  return const_cast<T*>(static_cast<const T*>(tensor.unsafeGetTensorImpl()->data()));
}

// Of a tensor of truth values.
std::vector<bool> truths_of(const Tensor& mask);
// Whether some element is NaN.
bool has_nan(const Tensor& tensor);
// Of a tensor of float32: neither infinity nor NaN.
bool has_finite_elements(const Tensor& tensor);

// body(std::span<const float>), or of double for elements of any other type.
template <typename Body>
auto on_numbers(const Tensor& tensor, const Body& body) {
  const auto count = static_cast<std::size_t>(tensor.numel());
  const bool single = tensor.scalar_type() == c10::kFloat;
  const Tensor host = in_memory(tensor, single ? c10::kFloat : c10::kDouble);
  if (single) return body(std::span<const float>(elements_of<float>(host), count));
  return body(std::span<const double>(elements_of<double>(host), count));
}

std::vector<double> doubles_of(const Tensor& tensor);
std::vector<float> floats_of(const Tensor& tensor);

}  // namespace assay

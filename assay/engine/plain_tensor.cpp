#include "assay/engine/plain_tensor.h"

#include <ATen/ATen.h>

#include <cstring>

namespace assay {
namespace {

Tensor contiguous_tensor(c10::DataPtr data, std::size_t bytes, c10::Allocator* allocator, const Shape& shape,
                         c10::ScalarType type) {
  c10::Storage storage(c10::Storage::use_byte_size_t(), bytes, std::move(data), allocator,
                       allocator != nullptr);
  Tensor tensor = at::detail::make_tensor<c10::TensorImpl>(
      std::move(storage), c10::DispatchKeySet(c10::DispatchKey::CPU), c10::scalarTypeToTypeMeta(type));
  tensor.unsafeGetTensorImpl()->set_sizes_contiguous(shape);
  return tensor;
}

// The same elements in the form that `arrange` gives.
template <typename Arrange>
Tensor view_of(const Tensor& tensor, const Arrange& arrange) {
  Tensor view = at::detail::make_tensor<c10::TensorImpl>(
      c10::TensorImpl::VIEW, c10::Storage(tensor.storage()), tensor.key_set(), tensor.dtype());
  view.unsafeGetTensorImpl()->set_storage_offset(tensor.storage_offset());
  arrange(*view.unsafeGetTensorImpl());
  return view;
}

std::size_t bytes_of(const Shape& shape, c10::ScalarType type) {
  return static_cast<std::size_t>(element_count(shape)) * c10::elementSize(type);
}

}  // namespace

Tensor room_for(const Shape& shape, c10::ScalarType type) {
  c10::Allocator* const allocator = c10::GetAllocator(c10::kCPU);
  const std::size_t bytes = bytes_of(shape, type);
  return contiguous_tensor(allocator->allocate(bytes), bytes, allocator, shape, type);
}

Tensor zeros_of(const Shape& shape, c10::ScalarType type) {
  Tensor tensor = room_for(shape, type);
  if (const std::size_t bytes = tensor.nbytes(); bytes > 0) std::memset(elements_of<char>(tensor), 0, bytes);
  return tensor;
}

Tensor around(void* elements, const Shape& shape, c10::ScalarType type, std::function<void(void*)> done) {
  return contiguous_tensor(
      c10::InefficientStdFunctionContext::makeDataPtr(elements, std::move(done), c10::kCPU),
      bytes_of(shape, type), nullptr, shape, type);
}

Tensor in_memory(const Tensor& tensor, c10::ScalarType type) {
  const bool there = tensor.device().is_cpu() && tensor.scalar_type() == type && tensor.is_contiguous();
  return there ? tensor : tensor.to(at::kCPU, type).contiguous();
}

Tensor on_device(const Tensor& tensor, c10::Device device) {
  return tensor.device() == device ? tensor : tensor.to(device);
}

bool has_finite_elements(const Tensor& tensor) {
  constexpr std::uint32_t exponent = 0x7f800000;
  const Tensor host = in_memory(tensor, at::kFloat);
  const auto* const bits = elements_of<std::uint32_t>(host);
  bool finite = true;
  for (std::int64_t i = 0; i < host.numel(); ++i) finite &= (bits[i] & exponent) != exponent;
  return finite;
}

Tensor reshaped(const Tensor& tensor, const Shape& shape) {
  if (!tensor.is_contiguous() || tensor.requires_grad()) return tensor.reshape(shape);
  return view_of(tensor, [&](c10::TensorImpl& view) { view.set_sizes_contiguous(shape); });
}

Tensor transposed(const Tensor& matrix) {
  if (matrix.requires_grad()) return matrix.t();
  return view_of(matrix, [&](c10::TensorImpl& view) {
    view.set_sizes_and_strides(Shape{matrix.size(1), matrix.size(0)},
                               Shape{matrix.stride(1), matrix.stride(0)});
  });
}

Tensor product(const Tensor& a, const Tensor& b) {
  const Tensor left = in_memory(a, at::kFloat), right = in_memory(b, at::kFloat),
               result = room_for(a.sizes().vec());
  const float *const x = elements_of<float>(left), *const y = elements_of<float>(right);
  float* const to = elements_of<float>(result);
  for (std::int64_t i = 0; i < result.numel(); ++i) to[i] = x[i] * y[i];
  return result;
}

std::vector<double> doubles_of(const Tensor& tensor) {
  return on_numbers(tensor, [](auto numbers) { return std::vector<double>(numbers.begin(), numbers.end()); });
}

}  // namespace assay

#include "assay/engine/plain_tensor.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include <assay/error.h>

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

// Nothing that is differentiated, besides.
bool is_plain(const Tensor& tensor) { return in_reach(tensor) && !tensor.requires_grad(); }

// How a tensor's bytes lie about an axis: so many positions of it, blocks of so many bytes, so often.
struct AxisBytes {
  std::size_t outer = 1, size = 1, block = 1;

  AxisBytes(const Tensor& tensor, std::int64_t axis) : block(tensor.element_size()) {
    for (std::int64_t i = 0; i < tensor.dim(); ++i) {
      std::size_t& part = i < axis ? outer : i == axis ? size : block;
      part *= static_cast<std::size_t>(tensor.size(i));
    }
  }
  void copy_block(char* to, const char* from) const {
    if (block == sizeof(float))  // known when compiled: no call
      std::memcpy(to, from, sizeof(float));
    else if (block > 0)
      std::memcpy(to, from, block);
  }
};

void require_positions(const Tensor& tensor, std::span<const std::int64_t> positions, std::int64_t axis) {
  for (const std::int64_t position : positions) {
    if (position < 0 || position >= tensor.size(axis))
      fail(Fault::usage, "position {} of axis {} was asked for, which has {}", position, axis,
           tensor.size(axis));
  }
}

// body(T()) for the usual types of elements; false for others.
template <typename Body>
bool with_type(c10::ScalarType type, const Body& body) {
  switch (type) {
    case at::kFloat:
      body(float());
      return true;
    case at::kDouble:
      body(double());
      return true;
    case at::kLong:
      body(std::int64_t());
      return true;
    case at::kInt:
      body(std::int32_t());
      return true;
    case at::kByte:
      body(std::uint8_t());
      return true;
    case at::kBool:
      body(bool());
      return true;
    default:
      return false;
  }
}

std::size_t bytes_of(const Shape& shape, c10::ScalarType type) {
  return static_cast<std::size_t>(element_count(shape)) * c10::elementSize(type);
}

// Contiguous elements, one tensor's after the other's.
Tensor laid_out(std::span<const Tensor> parts) {
  std::int64_t count = 0;
  for (const Tensor& part : parts) count += part.numel();
  Tensor result = room_for({count}, parts[0].scalar_type());
  char* to = elements_of<char>(result);
  for (const Tensor& part : parts) {
    if (part.nbytes() > 0) std::memcpy(to, elements_of<char>(part), part.nbytes());
    to += part.nbytes();
  }
  return result;
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

Tensor tensor_of(std::span<const std::int64_t> numbers) {
  Tensor tensor = room_for({std::ssize(numbers)}, c10::kLong);
  std::ranges::copy(numbers, elements_of<std::int64_t>(tensor));
  return tensor;
}

Tensor in_memory(const Tensor& tensor, c10::ScalarType type) {
  if (!in_reach(tensor)) return tensor.to(at::kCPU, type).contiguous();
  return as_type(tensor, type);
}

Tensor on_device(const Tensor& tensor, c10::Device device) {
  return tensor.device() == device ? tensor : tensor.to(device);
}

Tensor as_type(const Tensor& tensor, c10::ScalarType type) {
  if (tensor.scalar_type() == type) return tensor;
  Tensor result;
  const bool known = is_plain(tensor) && with_type(tensor.scalar_type(), [&]<typename From>(From) {
                       with_type(type, [&]<typename To>(To) {
                         result = room_for(tensor.sizes().vec(), type);
                         const From* const from = elements_of<From>(tensor);
                         To* const to = elements_of<To>(result);
                         for (std::int64_t i = 0, count = tensor.numel(); i < count; ++i)
                           to[i] = static_cast<To>(from[i]);
                       });
                     });
  return known && result.defined() ? result : tensor.to(type);
}

std::vector<bool> truths_of(const Tensor& mask) {
  const Tensor host = in_memory(mask, at::kBool);
  return std::vector<bool>(elements_of<bool>(host), elements_of<bool>(host) + host.numel());
}

bool has_nan(const Tensor& tensor) {
  if (!at::isFloatingType(tensor.scalar_type())) return false;
  if (!tensor.device().is_cpu()) return tensor.isnan().any().item<bool>();
  return on_numbers(tensor, [](auto numbers) {
    return std::ranges::any_of(numbers, [](auto number) { return std::isnan(number); });
  });
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

Tensor as_rows(const Tensor& tensor) {
  const std::int64_t rows = tensor.size(0);
  return reshaped(tensor, {rows, tensor.numel() / std::max<std::int64_t>(1, rows)});
}

Tensor picked(const Tensor& tensor, std::span<const std::int64_t> positions, std::int64_t axis) {
  require_positions(tensor, positions, axis);
  if (!is_plain(tensor)) return tensor.index_select(axis, tensor_of(positions).to(tensor.device()));
  Shape shape = tensor.sizes().vec();
  shape[static_cast<std::size_t>(axis)] = std::ssize(positions);
  Tensor result = room_for(shape, tensor.scalar_type());
  const AxisBytes bytes(tensor, axis);
  const char* from = elements_of<char>(tensor);
  char* to = elements_of<char>(result);
  for (std::size_t outer = 0; outer < bytes.outer; ++outer, from += bytes.size * bytes.block) {
    for (const std::int64_t position : positions) {
      bytes.copy_block(to, from + static_cast<std::size_t>(position) * bytes.block);
      to += bytes.block;
    }
  }
  return result;
}

void put(const Tensor& into, std::span<const std::int64_t> positions, const Tensor& from, std::int64_t axis) {
  require_positions(into, positions, axis);
  if (!is_plain(into) || !is_plain(from)) {
    Tensor(into).index_copy_(axis, tensor_of(positions).to(into.device()), from);
    return;
  }
  const AxisBytes bytes(into, axis);
  const char* next = elements_of<char>(from);
  char* to = elements_of<char>(into);
  for (std::size_t outer = 0; outer < bytes.outer; ++outer, to += bytes.size * bytes.block) {
    for (const std::int64_t position : positions) {
      bytes.copy_block(to + static_cast<std::size_t>(position) * bytes.block, next);
      next += bytes.block;
    }
  }
}

Tensor stacked(std::span<const Tensor> rows) {
  if (!std::ranges::all_of(rows, is_plain)) return at::stack(at::TensorList(rows.data(), rows.size()));
  Shape shape = rows[0].sizes().vec();
  shape.insert(shape.begin(), std::ssize(rows));
  return reshaped(laid_out(rows), shape);
}

Tensor joined(std::span<const Tensor> parts) {
  if (!std::ranges::all_of(parts, is_plain)) return at::cat(at::TensorList(parts.data(), parts.size()));
  Shape shape = parts[0].sizes().vec();
  shape[0] = 0;
  for (const Tensor& part : parts) shape[0] += part.size(0);
  return reshaped(laid_out(parts), shape);
}

Tensor row_of(const Tensor& tensor, std::int64_t row) {
  return reshaped(picked(tensor, std::span(&row, 1)), {tensor.sizes().begin() + 1, tensor.sizes().end()});
}

Tensor copied(const Tensor& tensor) {
  if (!is_plain(tensor)) return tensor.clone(at::MemoryFormat::Contiguous);
  Tensor result = room_for(tensor.sizes().vec(), tensor.scalar_type());
  if (tensor.nbytes() > 0) std::memcpy(elements_of<char>(result), elements_of<char>(tensor), tensor.nbytes());
  return result;
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

Tensor sum(const Tensor& a, const Tensor& b) {
  if (!floats_in_reach(a) || !floats_in_reach(b)) return a + b;
  Tensor result = room_for(a.sizes().vec());
  const float *const x = elements_of<float>(a), *const y = elements_of<float>(b);
  float* const to = elements_of<float>(result);
  for (std::int64_t i = 0, count = result.numel(); i < count; ++i) to[i] = x[i] + y[i];
  return result;
}

std::vector<double> doubles_of(const Tensor& tensor) {
  return on_numbers(tensor, [](auto numbers) { return std::vector<double>(numbers.begin(), numbers.end()); });
}

std::vector<float> floats_of(const Tensor& tensor) {
  const Tensor host = in_memory(tensor, at::kFloat);
  return {elements_of<float>(host), elements_of<float>(host) + host.numel()};
}

}  // namespace assay

#include <assay/tensor.h>

#include <ATen/ATen.h>

#include <cstring>

#include <assay/error.h>
#include "assay/engine/plain_tensor.h"

namespace assay {
at::ScalarType scalar_type(DType dtype) {
  switch (dtype) {
    case DType::float32:
      return at::kFloat;
    case DType::float64:
      return at::kDouble;
    case DType::int64:
      return at::kLong;
    case DType::int32:
      return at::kInt;
    case DType::int8:
      return at::kChar;
    case DType::uint8:
      return at::kByte;
    case DType::boolean:
      return at::kBool;
  }
  return at::kFloat;
}

namespace {

DType dtype_of_tensor(const Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kFloat:
      return DType::float32;
    case at::kDouble:
      return DType::float64;
    case at::kLong:
      return DType::int64;
    case at::kInt:
      return DType::int32;
    case at::kChar:
      return DType::int8;
    case at::kByte:
      return DType::uint8;
    case at::kBool:
      return DType::boolean;
    default:
      fail(Fault::internal, "a tensor has element type {}", toString(tensor.scalar_type()));
  }
}

}  // namespace

Tensor to_tensor(const Array& array) {
  const at::ScalarType type = scalar_type(array.dtype());
  if (array.count() == 0) return room_for(array.shape(), type);
  // What is to be done with the bytes keeps the Array, and with it the bytes, alive.
  return around(const_cast<std::byte*>(array.data()), array.shape(), type, [array](void*) {});
}

Array to_array(const Tensor& tensor) {
  const Tensor host = in_memory(tensor.requires_grad() ? tensor.detach() : tensor, tensor.scalar_type());
  std::vector<std::byte> bytes(host.nbytes());
  if (!bytes.empty()) std::memcpy(bytes.data(), elements_of<std::byte>(host), bytes.size());
  return Array(dtype_of_tensor(host), host.sizes().vec(), std::move(bytes));
}

}  // namespace assay

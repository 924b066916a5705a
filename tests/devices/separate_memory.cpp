#include "separate_memory.h"

#include <ATen/ATen.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_native.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <fmt/format.h>
#include <torch/library.h>

#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

namespace assay::test {
namespace {

constexpr c10::DeviceType type = c10::DeviceType::PrivateUse1;
constexpr std::uintptr_t mark = std::uintptr_t{1} << 55;  // no process has memory at such an address

std::atomic<std::int64_t> fetched{0};

void* revealed(void* hidden) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(hidden) & ~mark);
}
void* hidden(void* real) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(real) | mark);
}
void release(void* pointer) { std::free(revealed(pointer)); }

at::Tensor empty_strided(at::IntArrayRef sizes, at::IntArrayRef strides,
                         c10::optional<at::ScalarType> dtype = {}, c10::optional<at::Layout> /*layout*/ = {},
                         c10::optional<at::Device> /*device*/ = {}, c10::optional<bool> /*pinned*/ = {}) {
  const at::ScalarType element = dtype.value_or(at::kFloat);
  std::int64_t elements = 1;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) elements = 0;
    if (elements > 0) elements += (sizes[i] - 1) * strides[i];
  }
  const std::size_t bytes = static_cast<std::size_t>(elements) * c10::elementSize(element);
  void* const memory = hidden(std::malloc(std::max<std::size_t>(bytes, 1)));
  c10::Storage storage(c10::Storage::use_byte_size_t(), bytes,
                       c10::DataPtr(memory, memory, &release, c10::Device(type, 0)), nullptr, false);
  at::Tensor tensor = at::detail::make_tensor<c10::TensorImpl>(
      std::move(storage), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
      c10::scalarTypeToTypeMeta(element));
  tensor.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides);
  return tensor;
}

at::Tensor empty(at::IntArrayRef sizes, c10::optional<at::ScalarType> dtype,
                 c10::optional<at::Layout> /*layout*/, c10::optional<at::Device> /*device*/,
                 c10::optional<bool> /*pinned*/, c10::optional<at::MemoryFormat> format) {
  const at::Tensor like = at::empty(sizes, at::TensorOptions().dtype(at::kByte).device(at::kMeta), format);
  return empty_strided(sizes, like.strides(), dtype);
}

// The tensor as the processor sees it.
at::Tensor on_host(const at::Tensor& tensor) {
  if (tensor.device().is_cpu()) return tensor;
  return at::from_blob(revealed(tensor.data_ptr()), tensor.sizes(), tensor.strides(),
                       at::TensorOptions().dtype(tensor.scalar_type()));
}

at::Tensor copy_from(const at::Tensor& from, const at::Tensor& to, bool /*non_blocking*/) {
  const at::NoGradGuard no_grad;
  fetched += !from.device().is_cpu() && to.device().is_cpu() ? 1 : 0;
  on_host(to).copy_(on_host(from));
  return to;
}

at::Tensor copy_from_and_resize(const at::Tensor& from, const at::Tensor& to) {
  if (from.sizes() != to.sizes()) {
    const at::Tensor sized = empty_strided(from.sizes(), from.strides(), to.scalar_type());
    to.unsafeGetTensorImpl()->set_storage_keep_dtype(sized.storage());
    to.unsafeGetTensorImpl()->set_sizes_and_strides(sized.sizes(), sized.strides());
  }
  return copy_from(from, to, false);
}

at::Scalar number_of(const at::Tensor& tensor) {
  ++fetched;
  return on_host(tensor).item();
}

// What a GPU refuses: operands that lie elsewhere, but for single numbers and indices, and random streams of
// the processor.
void refuse_mixture(const c10::OperatorHandle& op, const std::vector<c10::IValue>& arguments) {
  const std::string name = op.schema().name();
  const bool indexes = name == "aten::index" || name.find("index_put") != std::string::npos;
  const auto look = [&](const at::Tensor& tensor) {
    if (!tensor.defined() || !tensor.device().is_cpu() || tensor.dim() == 0 || indexes) return;
    throw std::runtime_error(fmt::format("{}: a tensor of the processor among those of the device", name));
  };
  for (const c10::IValue& argument : arguments) {
    if (argument.isTensor()) look(argument.toTensor());
    if (argument.isTensorList()) {
      for (const at::Tensor& tensor : argument.toTensorVector()) look(tensor);
    }
    if (argument.isOptionalTensorList()) {
      for (const c10::optional<at::Tensor>& tensor : argument.toOptionalTensorVector()) {
        if (tensor.has_value()) look(*tensor);
      }
    }
    if (argument.isGenerator() && argument.toGenerator().device().is_cpu())
      throw std::runtime_error(fmt::format("{}: a random stream of the processor", name));
  }
}

void compute(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const std::size_t count = op.schema().arguments().size();
  refuse_mixture(op, {stack->end() - static_cast<std::ptrdiff_t>(count), stack->end()});
  const std::int64_t before = fetched;
  at::native::cpu_fallback(op, stack);
  fetched = before;  // what the device does within itself
}

// A tensor of the device with the numbers of one of the processor.
at::Tensor on_device(const at::Tensor& tensor) {
  if (!tensor.defined()) return tensor;
  const at::Tensor result = empty_strided(tensor.sizes(), tensor.strides(), tensor.scalar_type());
  return copy_from(tensor, result, false);
}

// libtorch asks devices that it does not know for their convolutions by these names.
at::Tensor convolution(const at::Tensor& input, const at::Tensor& weight,
                       const c10::optional<at::Tensor>& bias, at::IntArrayRef stride, at::IntArrayRef padding,
                       at::IntArrayRef dilation, bool transposed, at::IntArrayRef output_padding,
                       std::int64_t groups) {
  const at::Tensor none;
  return on_device(at::convolution(on_host(input), on_host(weight),
                                   bias.has_value() && bias->defined() ? on_host(*bias) : none, stride,
                                   padding, dilation, transposed, output_padding, groups));
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> convolution_backward(
    const at::Tensor& gradient, const at::Tensor& input, const at::Tensor& weight, at::IntArrayRef stride,
    at::IntArrayRef padding, at::IntArrayRef dilation, bool transposed, at::IntArrayRef output_padding,
    std::int64_t groups, std::array<bool, 3> wanted) {
  const std::vector<std::int64_t> channels{gradient.size(1)};
  const auto [a, b, c] = at::convolution_backward(on_host(gradient), on_host(input), on_host(weight),
                                                  at::OptionalIntArrayRef(channels), stride, padding,
                                                  dilation, transposed, output_padding, groups, wanted);
  return {on_device(a), on_device(b), on_device(c)};
}

}  // namespace

std::int64_t times_fetched() { return fetched; }

C10_REGISTER_GUARD_IMPL(PrivateUse1, c10::impl::NoOpDeviceGuardImpl<c10::DeviceType::PrivateUse1>);

TORCH_LIBRARY_IMPL(_, PrivateUse1, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&compute>());
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  library.impl("empty.memory_format", TORCH_FN(empty));
  library.impl("empty_strided", TORCH_FN(empty_strided));
  library.impl("_copy_from", TORCH_FN(copy_from));
  library.impl("_copy_from_and_resize", TORCH_FN(copy_from_and_resize));
  library.impl("_local_scalar_dense", TORCH_FN(number_of));
  library.impl("as_strided", TORCH_FN(at::native::as_strided_tensorimpl));
  library.impl("view", TORCH_FN(at::native::view));
  library.impl("_reshape_alias", TORCH_FN(at::native::_reshape_alias));
  library.impl("unfold", TORCH_FN(at::native::unfold));
  library.impl("convolution_overrideable", TORCH_FN(convolution));
  library.impl("convolution_backward_overrideable", TORCH_FN(convolution_backward));
}

}  // namespace assay::test

#include "assay/engine/torch/module/call.h"

#include <algorithm>
#include <stdexcept>

namespace assay::torch_module {
namespace {

template <typename T>
T attribute(const Step& step, std::string_view name, T fallback) {
  const auto found = step.attributes.find(name);
  return found == step.attributes.end() ? std::move(fallback) : std::get<T>(found->second);
}

template <typename To>
std::vector<To> numbers_of(const HostNumbers& host) {
  std::int64_t count = 1;
  for (const std::int64_t size : host.shape) count *= size;
  std::vector<To> numbers;
  for (std::int64_t i = 0; i < count; ++i) {
    switch (host.dtype) {
      case DType::float32:
        numbers.push_back(static_cast<To>(static_cast<const float*>(host.data)[i]));
        break;
      case DType::float64:
        numbers.push_back(static_cast<To>(static_cast<const double*>(host.data)[i]));
        break;
      case DType::int64:
        numbers.push_back(static_cast<To>(static_cast<const std::int64_t*>(host.data)[i]));
        break;
      case DType::int32:
        numbers.push_back(static_cast<To>(static_cast<const std::int32_t*>(host.data)[i]));
        break;
      default:
        throw std::runtime_error("a parameter has an element type that is not read");
    }
  }
  return numbers;
}

}  // namespace

std::int64_t Form::integer(std::string_view name, std::int64_t fallback) const {
  return attribute(step_, name, fallback);
}
float Form::real(std::string_view name, float fallback) const { return attribute(step_, name, fallback); }
std::string Form::text(std::string_view name, std::string fallback) const {
  return attribute(step_, name, std::move(fallback));
}
Ints Form::integers(std::string_view name, Ints fallback) const {
  return attribute(step_, name, std::move(fallback));
}

bool Form::is_constant(std::size_t operand) const {
  return operand < step_.operands.size() && step_.operands[operand].constant.data != nullptr;
}
bool Form::has(std::size_t operand) const {
  return is_constant(operand) || (operand < step_.operands.size() && step_.operands[operand].slot >= 0);
}

Ints Form::parameter(std::size_t operand, Ints fallback) const {
  return is_constant(operand) ? numbers_of<std::int64_t>(step_.operands[operand].constant) : fallback;
}

std::vector<double> Form::numbers(std::size_t operand) const {
  return is_constant(operand) ? numbers_of<double>(step_.operands[operand].constant) : std::vector<double>();
}

double Form::number(std::size_t operand, double fallback) const {
  const std::vector<double> all = numbers(operand);
  return all.empty() ? fallback : all[0];
}

Ints Form::axes(std::size_t operand, Ints fallback) const {
  Ints axes = parameter(operand, std::move(fallback));
  for (std::int64_t& axis : axes) axis = from_front(axis, rank());
  return axes;
}

Tensor pad_ends(const Tensor& x, const Ints& left, const Ints& right, double value) {
  Ints pads;  // libtorch counts from the last axis
  for (std::size_t i = left.size(); i-- > 0;) pads.insert(pads.end(), {left[i], right[i]});
  if (std::ranges::all_of(pads, [](std::int64_t pad) { return pad == 0; })) return x;
  return at::constant_pad_nd(x, pads, value);
}

}  // namespace assay::torch_module

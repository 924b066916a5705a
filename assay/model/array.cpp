#include <assay/array.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include <assay/error.h>

namespace assay {
namespace {

// Calls visit(T{}) with the C++ type that stores `dtype`.
template <typename Visit>
void with_type(DType dtype, Visit visit) {
  switch (dtype) {
    case DType::float32:
      return visit(float{});
    case DType::float64:
      return visit(double{});
    case DType::int64:
      return visit(std::int64_t{});
    case DType::int32:
      return visit(std::int32_t{});
    case DType::int8:
      return visit(std::int8_t{});
    case DType::uint8:
      return visit(std::uint8_t{});
    case DType::boolean:
      return visit(bool{});
  }
}

template <typename To, typename From>
To convert(From value) {
  if constexpr (std::is_same_v<To, bool>) {
    return value != From{};
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    if (std::isnan(value)) return 0;
    const double low = static_cast<double>(std::numeric_limits<To>::min());
    const double high = static_cast<double>(std::numeric_limits<To>::max());
    if (static_cast<double>(value) <= low) return std::numeric_limits<To>::min();
    if (static_cast<double>(value) >= high) return std::numeric_limits<To>::max();
    return static_cast<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace

std::size_t size_of(DType dtype) {
  std::size_t size = 0;
  with_type(dtype, [&](auto zero) { size = sizeof zero; });
  return size;
}

std::string to_string(DType dtype) {
  switch (dtype) {
    case DType::float32:
      return "float32";
    case DType::float64:
      return "float64";
    case DType::int64:
      return "int64";
    case DType::int32:
      return "int32";
    case DType::int8:
      return "int8";
    case DType::uint8:
      return "uint8";
    case DType::boolean:
      return "bool";
  }
  return "?";
}

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ", ";
    text += shape[i] < 0 ? "N" : std::to_string(shape[i]);
  }
  return text + "]";
}

std::int64_t element_count(const Shape& shape) {
  std::int64_t count = 1;
  bool overflow = false;
  for (const std::int64_t dim : shape) {
    if (dim < 0) fail(Fault::resources, "shape {} has a negative dimension", to_string(shape));
    std::int64_t product = 0;
    overflow |= __builtin_mul_overflow(count, dim, &product);
    count = product;
  }
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  if (overflow) fail(Fault::resources, "shape {} has more elements than 64 bits can count", to_string(shape));
  return count;
}

Array::Array(DType dtype, Shape shape, std::vector<std::byte> bytes)
    : dtype_(dtype), shape_(std::move(shape)), count_(element_count(shape_)) {
  if (bytes.size() / size_of(dtype) != static_cast<std::size_t>(count_) ||
      bytes.size() % size_of(dtype) != 0) {
    fail(Fault::data, "an array of shape {} and type {} was given {} bytes", to_string(shape_),
         to_string(dtype), bytes.size());
  }
  bytes_ = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
}

Array Array::zeros(DType dtype, Shape shape) {
  const auto count = static_cast<std::size_t>(element_count(shape));
  return Array(dtype, std::move(shape), std::vector<std::byte>(count * size_of(dtype)));
}

Array Array::to(DType dtype) const {
  if (dtype == dtype_) return *this;
  std::vector<std::byte> bytes(static_cast<std::size_t>(count_) * size_of(dtype));
  with_type(dtype_, [&](auto from) {
    with_type(dtype, [&](auto to) {
      const auto* source = reinterpret_cast<const decltype(from)*>(data());
      auto* target = reinterpret_cast<decltype(to)*>(bytes.data());
      std::transform(source, source + count_, target, [](auto v) { return convert<decltype(to)>(v); });
    });
  });
  return Array(dtype, shape_, std::move(bytes));
}

Array Array::reshaped(Shape shape) const {
  if (element_count(shape) != count_) {
    fail(Fault::data, "shape {} cannot be viewed as {}", to_string(shape_), to_string(shape));
  }
  Array copy = *this;
  copy.shape_ = std::move(shape);
  return copy;
}

void require_dtype(DType actual, DType wanted) {
  if (actual != wanted)
    fail(Fault::data, "{} values where {} are needed", to_string(actual), to_string(wanted));
}

}  // namespace assay

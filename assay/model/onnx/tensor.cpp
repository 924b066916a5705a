#include "assay/model/onnx/tensor.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include <assay/error.h>
#include <assay/float16.h>
#include "assay/model/short_float.h"
#include "assay/support/memory.h"

namespace assay::onnx_format {
namespace {

static_assert(std::endian::native == std::endian::little, "ONNX stores little-endian bytes");

// A 16-bit float as stored; the tag tells the two kinds apart.
struct Half {
  std::uint16_t bits;
};
struct BFloat {
  std::uint16_t bits;
};
struct Bool {
  std::uint8_t bits;
};

float widened(Half half) { return from_float16(half.bits); }
float widened(BFloat value) { return from_bfloat16(value.bits); }
float widened(double value) { return static_cast<float>(value); }
bool widened(Bool value) { return value.bits != 0; }
std::int32_t widened(std::int16_t value) { return value; }
std::int32_t widened(std::uint16_t value) { return value; }
std::int64_t widened(std::uint32_t value) { return value; }
std::int64_t widened(std::uint64_t value) {
  if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    fail(Fault::unsupported, "a uint64 element is too large for int64");
  }
  return value;
}
template <typename T>
T widened(T value) {
  return value;
}

// Calls visit(T{}) with the C++ type that ONNX stores.
template <typename Visit>
void with_stored_type(int type, Visit visit) {
  switch (type) {
    case onnx::TensorProto::FLOAT:
      return visit(float{});
    case onnx::TensorProto::DOUBLE:
      return visit(double{});
    case onnx::TensorProto::FLOAT16:
      return visit(Half{});
    case onnx::TensorProto::BFLOAT16:
      return visit(BFloat{});
    case onnx::TensorProto::INT64:
      return visit(std::int64_t{});
    case onnx::TensorProto::UINT64:
      return visit(std::uint64_t{});
    case onnx::TensorProto::INT32:
      return visit(std::int32_t{});
    case onnx::TensorProto::UINT32:
      return visit(std::uint32_t{});
    case onnx::TensorProto::INT16:
      return visit(std::int16_t{});
    case onnx::TensorProto::UINT16:
      return visit(std::uint16_t{});
    case onnx::TensorProto::INT8:
      return visit(std::int8_t{});
    case onnx::TensorProto::UINT8:
      return visit(std::uint8_t{});
    case onnx::TensorProto::BOOL:
      return visit(Bool{});
    default:
      fail(Fault::internal, "held_as() let {} pass", type_name(type));
  }
}

template <typename T>
concept Wrapped = requires(T value) {
  value.bits;
};

// The bits of an element: numbers below a byte stand one after the other, the first one lowest.
int bits_of_short(int type) {
  if (is_short_float(type)) return bits_of(static_cast<ShortFloat>(type));
  return type == int4 || type == uint4 ? 4 : 2;
}

// Calls visit(bits) for each element of so many bits.
template <typename Visit>
void each_of_bits(const std::vector<std::byte>& bytes, std::int64_t count, int bits, Visit visit) {
  for (std::int64_t i = 0; i < count; ++i) {
    const std::size_t first = i * bits / 8;
    const std::size_t second = std::min(first + 1, bytes.size() - 1);
    const unsigned both = std::to_integer<unsigned>(bytes[first]) | std::to_integer<unsigned>(bytes[second])
                                                                        << 8;
    visit(both >> (i * bits % 8) & ((1U << bits) - 1));
  }
}

// Elements of 8 bits and less, so many bits apart, as they are held.
Array unpacked(Shape shape, std::int64_t count, const std::vector<std::byte>& bytes, int type, int bits) {
  if (is_short_float(type)) {
    std::vector<float> held;
    each_of_bits(bytes, count, bits, [&](unsigned number) {
      held.push_back(from_short_float(static_cast<ShortFloat>(type), static_cast<std::uint8_t>(number)));
    });
    return Array::of<float>(std::move(shape), held);
  }
  const bool is_signed = type == int4 || type == int2;
  std::vector<std::byte> held;
  each_of_bits(bytes, count, bits, [&](unsigned number) {
    const bool negative = is_signed && (number >> (bits - 1) & 1U) != 0;
    held.push_back(static_cast<std::byte>(negative ? number | 0xffU << bits : number));
  });
  return Array(is_signed ? DType::int8 : DType::uint8, std::move(shape), std::move(held));
}

// Stored bytes -> held elements, without a copy where nothing changes.
template <typename Stored>
Array from_bytes(Shape shape, std::vector<std::byte> bytes) {
  using Held = decltype(widened(Stored{}));
  if constexpr (std::is_same_v<Stored, Held>) {
    return Array(dtype_of<Held>(), std::move(shape), std::move(bytes));
  } else {
    const std::size_t count = bytes.size() / sizeof(Stored);
    std::vector<std::byte> held(count * sizeof(Held));
    for (std::size_t i = 0; i < count; ++i) {
      Stored stored;
      std::memcpy(&stored, bytes.data() + i * sizeof stored, sizeof stored);
      const Held value = widened(stored);
      std::memcpy(held.data() + i * sizeof value, &value, sizeof value);
    }
    return Array(dtype_of<Held>(), std::move(shape), std::move(held));
  }
}

// A field of numbers -> stored bytes; every number must fit the stored type.
template <typename Stored, typename Field>
std::vector<std::byte> from_field(const Field& field, std::int64_t count, std::string_view what) {
  if (field.size() != count) {
    fail(Fault::model, "{}: its shape has {} elements, its data {}", what, count, field.size());
  }
  std::vector<std::byte> bytes(count * sizeof(Stored));
  std::byte* to = bytes.data();
  for (const auto number : field) {
    Stored stored{};
    if constexpr (Wrapped<Stored>) {
      stored.bits = static_cast<decltype(stored.bits)>(number);
      if (static_cast<std::int64_t>(stored.bits) != static_cast<std::int64_t>(number)) {
        fail(Fault::model, "{}: element {} does not fit its type", what, number);
      }
    } else {
      stored = static_cast<Stored>(number);
      if constexpr (std::is_integral_v<Stored>) {
        if (!std::in_range<Stored>(number))
          fail(Fault::model, "{}: element {} does not fit its type", what, number);
      }
    }
    std::memcpy(to, &stored, sizeof stored);
    to += sizeof stored;
  }
  return bytes;
}

// The field that the format prescribes for the type.
template <typename Stored>
std::vector<std::byte> from_fields(const onnx::TensorProto& tensor, std::int64_t count,
                                   std::string_view what) {
  if constexpr (std::is_same_v<Stored, float>)
    return from_field<Stored>(tensor.float_data(), count, what);
  else if constexpr (std::is_same_v<Stored, double>)
    return from_field<Stored>(tensor.double_data(), count, what);
  else if constexpr (std::is_same_v<Stored, std::int64_t>)
    return from_field<Stored>(tensor.int64_data(), count, what);
  else if constexpr (std::is_same_v<Stored, std::uint64_t> || std::is_same_v<Stored, std::uint32_t>)
    return from_field<Stored>(tensor.uint64_data(), count, what);
  else
    return from_field<Stored>(tensor.int32_data(), count, what);
}

bool has_fields(const onnx::TensorProto& t) {
  return t.float_data_size() + t.int32_data_size() + t.int64_data_size() + t.double_data_size() +
             t.uint64_data_size() >
         0;
}

template <typename Stored>
std::vector<std::byte> stored_bytes(const onnx::TensorProto& tensor, std::int64_t count,
                                    ExternalData& external, std::string_view what) {
  std::uint64_t size = 0;
  if (__builtin_mul_overflow(static_cast<std::uint64_t>(count), sizeof(Stored), &size)) {
    fail(Fault::resources, "{}: {} elements do not fit any memory", what, count);
  }
  if (tensor.data_location() == onnx::TensorProto::EXTERNAL) {
    if (tensor.has_raw_data() || has_fields(tensor)) {
      fail(Fault::model, "{}: it has data inside the file and outside", what);
    }
    return external.read(tensor, size, what);
  }
  if (!tensor.has_raw_data()) return from_fields<Stored>(tensor, count, what);
  if (has_fields(tensor)) fail(Fault::model, "{}: it has its data twice", what);
  if (tensor.raw_data().size() != size) {
    fail(Fault::model, "{}: its shape needs {} bytes, its data have {}", what, size,
         tensor.raw_data().size());
  }
  const auto* begin = reinterpret_cast<const std::byte*>(tensor.raw_data().data());
  return {begin, begin + size};
}

// How far apart the elements of a short type are: fields of numbers hold those of 6 bits one a number.
int packed_bits(const onnx::TensorProto& tensor) {
  const int bits = bits_of_short(tensor.data_type());
  return bits == 6 && has_fields(tensor) ? 8 : bits;
}

}  // namespace

Array TensorReader::read(const onnx::TensorProto& tensor, const std::string& what) {
  const DType held = held_as(tensor.data_type(), what);
  if (tensor.has_segment()) fail(Fault::unsupported, "{}: tensors in segments cannot be read", what);
  if (tensor.dims_size() > 64)
    fail(Fault::model, "{}: {} axes are more than the 64 allowed", what, tensor.dims_size());
  Shape shape(tensor.dims().begin(), tensor.dims().end());
  std::int64_t count = 0;
  try {
    count = element_count(shape);
  } catch (const Error& error) {
    fail(Fault::model, "{}: {}", what, error.message());
  }
  Array array;
  if (is_short_type(tensor.data_type())) {
    const int bits = packed_bits(tensor);
    const std::int64_t size = count / 8 * bits + (count % 8 * bits + 7) / 8;
    const auto bytes = stored_bytes<std::uint8_t>(tensor, size, external_, what);
    ++converted_[tensor.data_type()];
    return unpacked(std::move(shape), count, bytes, tensor.data_type(), bits);
  }
  with_stored_type(tensor.data_type(), [&](auto stored) {
    using Stored = decltype(stored);
    array = from_bytes<Stored>(std::move(shape), stored_bytes<Stored>(tensor, count, external_, what));
  });
  if (tensor.data_type() != onnx_type(held)) ++converted_[tensor.data_type()];
  return array;
}

Array TensorReader::read(const onnx::SparseTensorProto& tensor, const std::string& what) {
  const Array values = read(tensor.values(), what);
  const Array places = read(tensor.indices(), what + "'s indices").to(DType::int64);
  if (tensor.dims_size() > 64)
    fail(Fault::model, "{}: {} axes are more than the 64 allowed", what, tensor.dims_size());
  Shape shape(tensor.dims().begin(), tensor.dims().end());
  std::int64_t count = 1;
  for (const std::int64_t dim : shape) {
    if (dim < 0 || __builtin_mul_overflow(count, dim, &count))
      fail(Fault::model, "{}: {} is not a shape of a tensor", what, to_string(shape));
  }
  // Positions in the flattened tensor, or one along each axis.
  const bool flat = places.shape().size() == 1;
  const Shape wanted = flat ? Shape{values.count()} : Shape{values.count(), std::ssize(shape)};
  if (values.shape().size() != 1 || places.shape() != wanted)
    fail(Fault::model, "{}: {} values of a sparse tensor, but indices of another number", what,
         values.count());
  const std::size_t size = size_of(values.dtype());
  // A file of some bytes can have many of them.
  std::uint64_t bytes_needed = 0;
  if (__builtin_mul_overflow(static_cast<std::uint64_t>(count), size, &bytes_needed) ||
      __builtin_add_overflow(filled_, bytes_needed, &filled_))
    filled_ = std::numeric_limits<std::uint64_t>::max();
  require_memory(filled_, what + " and the sparse ones before it");
  std::vector<std::byte> bytes(bytes_needed);
  const auto index = places.as<std::int64_t>();
  for (std::size_t i = 0, next = 0; i < static_cast<std::size_t>(values.count()); ++i) {
    std::int64_t at = 0;
    for (std::size_t axis = 0; axis < (flat ? 1 : shape.size()); ++axis) {
      const std::int64_t one = index[next++], most = flat ? count : shape[axis];
      if (one < 0 || one >= most)
        fail(Fault::model, "{}: index {} of a sparse tensor is outside it", what, one);
      at = flat ? one : at * shape[axis] + one;
    }
    std::copy_n(values.data() + i * size, size, bytes.data() + static_cast<std::size_t>(at) * size);
  }
  return Array(values.dtype(), std::move(shape), std::move(bytes));
}

std::vector<std::string> TensorReader::notices() const {
  std::vector<std::string> lines;
  for (const auto& [type, count] : converted_) {
    lines.push_back(fmt::format("{} {} tensor{} converted to {}", count, type_name(type),
                                count == 1 ? " was" : "s were", to_string(held_as(type, "a tensor"))));
  }
  return lines;
}

void write_tensor(const Array& array, const std::string& name, onnx::TensorProto& tensor) {
  if (!name.empty()) tensor.set_name(name);
  tensor.set_data_type(onnx_type(array.dtype()));
  for (const std::int64_t dim : array.shape()) tensor.add_dims(dim);
  tensor.set_raw_data(array.data(), array.byte_size());
}

}  // namespace assay::onnx_format

#include "assay/engine/elements.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include <assay/error.h>

namespace assay::inline engine {
namespace {

// Contiguous, and nothing that is differentiated.
bool is_plain(const Array& array) { return array.is_contiguous() && !array.requires_grad(); }

// How an array's bytes lie about an axis: so many positions of it, blocks of so many bytes, so often.
struct AxisBytes {
  std::size_t outer = 1, size = 1, block = 1;

  AxisBytes(const Array& array, std::int64_t axis) : block(size_of(array.dtype())) {
    for (std::int64_t i = 0; i < array.rank(); ++i) {
      std::size_t& part = i < axis ? outer : i == axis ? size : block;
      part *= static_cast<std::size_t>(array.size(i));
    }
  }
  void copy_block(std::byte* to, const std::byte* from) const {
    if (block == sizeof(float))  // known when compiled: no call
      std::memcpy(to, from, sizeof(float));
    else if (block > 0)
      std::memcpy(to, from, block);
  }
};

void require_positions(const Array& array, std::span<const std::int64_t> positions, std::int64_t axis) {
  for (const std::int64_t position : positions) {
    if (position < 0 || position >= array.size(axis))
      fail(Fault::usage, "position {} of axis {} was asked for, which has {}", position, axis,
           array.size(axis));
  }
}

}  // namespace

Array in_memory(const Array& array, DType type) { return array.detach().to(type).contiguous(); }

Array as_rows(const Array& array) {
  const std::int64_t rows = array.size(0);
  return array.reshape({rows, array.count() / std::max<std::int64_t>(1, rows)});
}

Array picked(const Array& array, std::span<const std::int64_t> positions, std::int64_t axis) {
  require_positions(array, positions, axis);
  if (!is_plain(array)) return array.index_select(axis, array::tensor(positions));
  Shape shape = array.shape();
  shape[axis] = std::ssize(positions);
  Array result = array::empty(shape, array.dtype());
  const AxisBytes bytes(array, axis);
  const std::byte* from = array.data();
  std::byte* to = result.data();
  for (std::size_t outer = 0; outer < bytes.outer; ++outer, from += bytes.size * bytes.block) {
    for (const std::int64_t position : positions) {
      bytes.copy_block(to, from + static_cast<std::size_t>(position) * bytes.block);
      to += bytes.block;
    }
  }
  return result;
}

void put(Array into, std::span<const std::int64_t> positions, const Array& from, std::int64_t axis) {
  require_positions(into, positions, axis);
  if (!is_plain(into)) {
    std::int64_t next_of_from = 0;
    for (const std::int64_t position : positions)
      into.narrow(axis, position, 1).copy_(from.narrow(axis, next_of_from++, 1));
    return;
  }
  const Array source = from.detach().to(into.dtype()).contiguous();
  const AxisBytes bytes(into, axis);
  const std::byte* next = source.data();
  std::byte* to = into.data();
  for (std::size_t outer = 0; outer < bytes.outer; ++outer, to += bytes.size * bytes.block) {
    for (const std::int64_t position : positions) {
      bytes.copy_block(to + static_cast<std::size_t>(position) * bytes.block, next);
      next += bytes.block;
    }
  }
}

Array row_of(const Array& array, std::int64_t row) {
  return picked(array, std::span(&row, 1)).reshape({array.shape().begin() + 1, array.shape().end()});
}

std::vector<bool> truths_of(const Array& mask) {
  const Array host = in_memory(mask, DType::boolean);
  const std::span<const bool> truths = host.as<bool>();
  return std::vector<bool>(truths.begin(), truths.end());
}

bool has_nan(const Array& array) {
  if (!is_real(array.dtype())) return false;
  return on_numbers(array, [](auto numbers) {
    return std::ranges::any_of(numbers, [](auto number) { return std::isnan(number); });
  });
}

bool has_finite_elements(const Array& array) {
  // An exponent of all ones carries into the sign.
  constexpr std::uint32_t exponent = 0x7f800000, lowest = 0x00800000;
  const Array host = in_memory(array, DType::float32);
  const auto* const bits = reinterpret_cast<const std::uint32_t*>(host.data());
  std::uint32_t carried = 0;
  for (std::int64_t i = 0; i < host.count(); ++i) carried |= (bits[i] & exponent) + lowest;
  return carried >> 31 == 0;
}

std::optional<std::pair<float, float>> range_of(const Array& array) {
  const Array host = in_memory(array, DType::float32);
  if (host.count() == 0) return std::nullopt;
  // Integers in the order of the numbers, NaN at both ends: their least one is found by vectors.
  const auto ordered = [](std::int32_t bits) { return bits ^ (bits >> 31 & 0x7fffffff); };
  const auto* const bits = reinterpret_cast<const std::int32_t*>(host.data());
  std::int32_t low = std::numeric_limits<std::int32_t>::max(),
               high = std::numeric_limits<std::int32_t>::min();
  for (std::int64_t i = 0; i < host.count(); ++i) {
    low = std::min(low, ordered(bits[i]));
    high = std::max(high, ordered(bits[i]));
  }
  const std::pair found{std::bit_cast<float>(ordered(low)), std::bit_cast<float>(ordered(high))};
  if (std::isnan(found.first) || std::isnan(found.second)) return std::nullopt;
  return found;
}

std::vector<double> doubles_of(const Array& array) {
  return on_numbers(array, [](auto numbers) { return std::vector<double>(numbers.begin(), numbers.end()); });
}

std::vector<float> floats_of(const Array& array) {
  const Array host = in_memory(array, DType::float32);
  return {host.as<float>().begin(), host.as<float>().end()};
}

}  // namespace assay::inline engine

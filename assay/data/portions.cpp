#include "assay/data/portions.h"

#include <algorithm>

#include "assay/support/memory.h"

namespace assay::inline data {

std::uint64_t record_bytes(const Dataset& data) {
  const auto bytes_of = [](const Shape& shape, DType type) {
    return static_cast<std::uint64_t>(element_count(shape)) * size_of(type);
  };
  std::uint64_t bytes = bytes_of(data.record_shape(), data.dtype()) + data.target_width() * sizeof(float);
  for (const InputFacts& other : data.facts().others) bytes += bytes_of(other.record_shape, other.dtype);
  return std::max<std::uint64_t>(1, bytes);
}

std::size_t records_at_once(const Dataset& data, std::size_t wanted) {
  constexpr std::uint64_t most = std::uint64_t{1} << 30;
  const std::uint64_t fit = std::min(most, memory_limit() / 8) / record_bytes(data);
  return std::clamp<std::uint64_t>(fit, 1, std::max<std::size_t>(wanted, 1));
}

}  // namespace assay::inline data

#include "assay/array/promotion.h"

#include <utility>

namespace assay::array {
namespace {

int kind(DType type) { return is_real(type) ? 2 : type == DType::boolean ? 0 : 1; }

bool is_unsigned(DType type) {
  return type == DType::uint8 || type == DType::uint16 || type == DType::uint32 || type == DType::uint64;
}

// Both kinds of real numbers of 16 bits are float32. An unsigned type with a signed one that is not wider is
// the next signed one: int32 for 8 bits, where a product of them fits, and float64 for those of 64.
DType wider(DType a, DType b) {
  if (a == b) return a;
  if (kind(a) != kind(b)) return kind(a) > kind(b) ? a : b;
  const auto [narrow, wide] = size_of(a) < size_of(b) ? std::pair(a, b) : std::pair(b, a);
  if (kind(a) == 2) return size_of(wide) == 2 ? DType::float32 : wide;
  if (is_unsigned(a) == is_unsigned(b)) return wide;
  if (!is_unsigned(wide) && size_of(wide) > size_of(narrow)) return wide;
  return size_of(wide) < 4 ? DType::int32 : size_of(wide) == 4 ? DType::int64 : DType::float64;
}

}  // namespace

DType with_scalar(const Array& a, Scalar b) {
  if (kind(a.dtype()) == 2) return a.dtype();
  if (!b.is_whole()) return DType::float32;
  return a.dtype() == DType::boolean ? DType::int64 : a.dtype();
}

Array beside(const Array& a, Scalar b) { return scalar(b, with_scalar(a, b)); }

DType result_type(const Array& a, const Array& b) {
  // A single number without axes does not widen within its kind.
  if ((a.rank() == 0) != (b.rank() == 0) && kind(a.dtype()) != kind(b.dtype()))
    return wider(a.dtype(), b.dtype());
  if (a.rank() == 0 && b.rank() > 0) return b.dtype();
  if (b.rank() == 0 && a.rank() > 0) return a.dtype();
  return wider(a.dtype(), b.dtype());
}

}  // namespace assay::array

// Elements in order, all of them or the first ones. A value and its position are taken as one integer, so
// that no two are equal and every way of sorting gives the same.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include <assay/array_math.h>
#include <assay/error.h>
#include "assay/array/loops.h"
#include "assay/array/positions.h"
#include "assay/array/tape.h"
#include "assay/support/thread_pool.h"

namespace assay::array {
namespace {

template <std::size_t Bytes>
using KeyOf = std::conditional_t<Bytes <= 4, std::uint32_t, std::uint64_t>;

// In the order of the values: equal for equal ones, the greatest for NaN.
template <typename T>
KeyOf<sizeof(T)> sort_key(T value) {
  using Key = KeyOf<sizeof(T)>;
  constexpr Key top = Key{1} << (8 * sizeof(Key) - 1);
  if constexpr (std::is_floating_point_v<T>) {
    if (value != value) return std::numeric_limits<Key>::max();
    const auto bits = std::bit_cast<Key>(value + T{0});  // -0 becomes 0
    return (bits & top) != 0 ? static_cast<Key>(~bits) : bits | top;
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<Key>(static_cast<std::make_signed_t<Key>>(value)) ^ top;
  } else {
    return value;
  }
}

struct RankedShort {
  std::uint64_t both;
  RankedShort() = default;
  RankedShort(std::uint32_t key, std::int64_t position) : both(std::uint64_t{key} << 32 | position) {}
  std::int64_t position() const { return both & 0xffffffff; }
  bool operator<(const RankedShort& other) const { return both < other.both; }
};

struct RankedLong {
  std::uint64_t key;
  std::int64_t at;
  RankedLong() = default;
  RankedLong(std::uint64_t of, std::int64_t position) : key(of), at(position) {}
  std::int64_t position() const { return at; }
  bool operator<(const RankedLong& other) const { return key != other.key ? key < other.key : at < other.at; }
};

// The first `count` in order.
template <typename Ranked>
void order_first(std::vector<Ranked>& ranked, std::int64_t count) {
  const std::int64_t size = ranked.size();
  if (count == 0) return;
  if (count <= size / 32) return std::partial_sort(ranked.begin(), ranked.begin() + count, ranked.end());
  if (count < size) std::nth_element(ranked.begin(), ranked.begin() + count, ranked.end());
  std::sort(ranked.begin(), ranked.begin() + count);
}

// The rows to sort: `size` elements, of which the first `count` are kept, each `inner` elements apart.
struct SortedRows {
  std::int64_t outer, size, inner, count;
  bool descending;
};

template <typename T, typename Ranked>
void sort_rows(const SortedRows& rows, const T* from, T* values, std::int64_t* positions) {
  const std::size_t all = rows.outer * rows.inner;
  const std::size_t grain = std::max<std::int64_t>(1, 4096 / std::max<std::int64_t>(1, rows.size));
  split_loop(all, grain, [&](std::size_t begin, std::size_t end) {
    std::vector<Ranked> ranked(rows.size);
    for (std::int64_t row = begin; row < static_cast<std::int64_t>(end); ++row) {
      const std::int64_t outer = row / rows.inner, inner = row % rows.inner;
      const T* const read = from + outer * rows.size * rows.inner + inner;
      for (std::int64_t i = 0; i < rows.size; ++i) {
        const auto key = sort_key(read[i * rows.inner]);
        ranked[i] = {rows.descending ? ~key : key, i};
      }
      order_first(ranked, rows.count);
      const std::int64_t written = outer * rows.count * rows.inner + inner;
      for (std::int64_t i = 0; i < rows.count; ++i) {
        const std::int64_t position = ranked[i].position();
        values[written + i * rows.inner] = read[position * rows.inner];
        positions[written + i * rows.inner] = position;
      }
    }
  });
}

SortedRows rows_along(const Shape& shape, std::int64_t axis, std::int64_t count, bool descending) {
  SortedRows rows{1, shape[axis], 1, count, descending};
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (static_cast<std::int64_t>(i) < axis) rows.outer *= shape[i];
    if (static_cast<std::int64_t>(i) > axis) rows.inner *= shape[i];
  }
  return rows;
}

Sorted sorted_first(const Array& a, std::int64_t axis, std::int64_t count, bool descending) {
  if (is_narrow(a.dtype())) {
    Sorted wide = sorted_first(widened(a), axis, count, descending);
    return {wide.values.to(a.dtype()), std::move(wide.positions)};
  }
  const Array from = a.detach().contiguous();
  Shape shape = a.shape();
  shape[axis] = count;
  Sorted out{Array::uninitialised(a.dtype(), shape), Array::uninitialised(DType::int64, shape)};
  const SortedRows rows = rows_along(a.shape(), axis, count, descending);
  with_number(a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* const values = elements<T>(out.values);
    auto* const positions = out.positions.elements<std::int64_t>();
    if constexpr (sizeof(T) <= 4) {
      if (rows.size <= std::int64_t{std::numeric_limits<std::uint32_t>::max()})
        return sort_rows<T, RankedShort>(rows, elements<T>(from), values, positions);
    }
    sort_rows<T, RankedLong>(rows, elements<T>(from), values, positions);
  });
  out.values = recorded_map(std::move(out.values), a,
                            [axis, at = out.positions, from_shape = a.shape()](const Array& gradient) {
                              Array whole = Array::zeros(gradient.dtype(), from_shape);
                              copy_at(whole, axis, at, gradient);
                              return whole;
                            });
  return out;
}

}  // namespace

Sorted sort(const Array& a, std::int64_t axis, bool descending) {
  if (a.rank() == 0) {
    const Sorted one = sort(a.reshape({1}), axis, descending);
    return {one.values.reshape({}), one.positions.reshape({})};
  }
  const std::int64_t along = axis_of(axis, a.rank());
  return sorted_first(a, along, a.size(along), descending);
}

Sorted topk(const Array& a, std::int64_t count, std::int64_t axis, bool largest) {
  if (a.rank() == 0) {
    const Sorted one = topk(a.reshape({1}), count, axis, largest);
    return count == 1 ? Sorted{one.values.reshape({}), one.positions.reshape({})} : one;
  }
  const std::int64_t along = axis_of(axis, a.rank());
  if (count < 0 || count > a.size(along))
    fail(Fault::model, "the first {} are not in an axis of size {} (axis {} of shape {})", count,
         a.size(along), axis, to_string(a.shape()));
  return sorted_first(a, along, count, largest);
}

}  // namespace assay::array

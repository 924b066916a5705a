// Elements chosen by positions and by masks, and whole slices written at positions.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include <assay/array_math.h>
#include <assay/error.h>
#include "assay/array/loops.h"
#include "assay/array/positions.h"
#include "assay/array/tape.h"
#include "assay/support/thread_pool.h"

namespace assay::array {
namespace {

// An element of any type that has as many bytes.
template <std::size_t Bytes>
struct Moved {
  std::byte bytes[Bytes];
};

template <typename Visit>
void with_bytes_of(DType type, const Visit& visit) {
  with_type(type, [&](auto zero) { visit(Moved<sizeof zero>{}); });
}

// Steps from one element of a row to the next, and of the axis that is read.
struct ReadSteps {
  std::int64_t out, positions, whole, axis;
};

template <typename T>
void read_row(T* out, const std::int64_t* positions, const T* whole, const ReadSteps& step,
              std::int64_t count) {
  if (step.positions == 0) {
    const T* const from = whole + *positions * step.axis;
    if (step.out == 1 && step.whole == 1) {
      std::memcpy(out, from, count * sizeof(T));
    } else {
      for (std::int64_t n = 0; n < count; ++n) out[n * step.out] = from[n * step.whole];
    }
  } else if (step.whole == 0) {
    for (std::int64_t n = 0; n < count; ++n)
      out[n * step.out] = whole[positions[n * step.positions] * step.axis];
  } else {
    for (std::int64_t n = 0; n < count; ++n)
      out[n * step.out] = whole[positions[n * step.positions] * step.axis + n * step.whole];
  }
}

void require_inside(const Array& positions, std::int64_t axis, const Shape& shape) {
  const std::int64_t size = shape[axis];
  const Array list = positions.contiguous();
  const std::span<const std::int64_t> all = list.as<std::int64_t>();
  std::atomic<bool> inside = true;
  split_loop(all.size(), 65536, [&](std::size_t begin, std::size_t end) {
    const auto last = static_cast<std::uint64_t>(size) - 1;
    std::uint64_t below_zero =
        0;  // the highest bit is set where a position, or the rest after it, is negative
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint64_t position = all[i];
      below_zero |= position | (last - position);
    }
    if (below_zero >> 63 != 0) inside = false;
  });
  if (inside) return;
  const auto wrong = std::find_if(all.begin(), all.end(), [&](auto at) { return at < 0 || at >= size; });
  fail(Fault::model, "position {} is outside of axis {} of size {}, of shape {}", *wrong, axis, size,
       to_string(shape));
}

// Positions of slices (one axis, or none for a single one) for each element of them.
Array positions_of_slices(const Array& positions, std::int64_t axis, const Shape& whole) {
  if (positions.rank() > 1)
    fail(Fault::model, "positions of shape {} where one axis is needed", to_string(positions.shape()));
  const Array checked = checked_positions(positions, axis, whole);
  Shape shape = whole, strides(whole.size(), 0);
  shape[axis] = checked.count();
  strides[axis] = checked.rank() == 0 ? 0 : checked.stride(0);
  return checked.viewed(std::move(shape), std::move(strides));
}

// Slices that are written into an array.
struct Slices {
  Array a, positions, values;
  std::int64_t axis;
};

Slices slices_to_write(const Array& a, std::int64_t axis, const Array& positions, const Array& values) {
  Slices slices{with_axis(a), {}, with_axis(values), axis_of(axis, std::max<std::int64_t>(1, a.rank()))};
  if (a.dtype() != values.dtype())
    fail(Fault::model, "values of {} are written into an array of {}", to_string(values.dtype()),
         to_string(a.dtype()));
  slices.positions = positions_of_slices(positions, slices.axis, slices.a.shape());
  if (slices.values.shape() != slices.positions.shape())
    fail(Fault::model, "values of shape {} for positions of shape {} along axis {} of shape {}",
         to_string(values.shape()), to_string(positions.shape()), axis, to_string(a.shape()));
  return slices;
}

// Places of what is true, counted through all elements. Pieces are counted first, so that threads know where
// they write.
Array places_of_true(const Array& truth) {
  constexpr std::int64_t piece = 32768;
  const Array list = truth.contiguous();
  const bool* const is = elements<bool>(list);
  const std::int64_t total = list.count();
  const std::size_t pieces = (total + piece - 1) / piece;
  std::vector<std::int64_t> begins(pieces + 1, 0);
  split_loop(pieces, 1, [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) {
      const std::int64_t begin = static_cast<std::int64_t>(i) * piece;
      begins[i + 1] = std::count(is + begin, is + std::min(begin + piece, total), true);
    }
  });
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  Array places = Array::uninitialised(DType::int64, {begins.back()});
  split_loop(pieces, 1, [&](std::size_t from, std::size_t to) {
    std::int64_t *next = places.elements<std::int64_t>() + begins[from], *const end =
                                                                             next + begins[to] - begins[from];
    for (std::int64_t at = static_cast<std::int64_t>(from) * piece; next < end; ++at) {
      *next = at;
      next += is[at] ? 1 : 0;
    }
  });
  return places;
}

}  // namespace

Array checked_positions(const Array& positions, std::int64_t axis, const Shape& shape) {
  if (positions.dtype() != DType::int64 && positions.dtype() != DType::int32)
    fail(Fault::model, "positions of {} where int64 or int32 are needed", to_string(positions.dtype()));
  Shape once = positions.shape();
  for (std::size_t i = 0; i < once.size(); ++i) {
    if (positions.strides()[i] == 0) once[i] = std::min<std::int64_t>(once[i], 1);
  }
  const Array checked = positions.viewed(std::move(once), positions.strides()).to(DType::int64);
  require_inside(checked, axis, shape);
  return checked.expand(positions.shape());
}

Array read_at(const Array& whole, std::int64_t axis, const Array& positions) {
  Array out = Array::uninitialised(whole.dtype(), positions.shape());
  Shape strides = whole.strides();
  const std::int64_t along = std::exchange(strides[axis], 0);
  const Array start = whole.viewed(positions.shape(), strides);
  const Walk<3> walk(positions.shape(), {&out, &positions, &start});
  const auto [so, sp, sw] = walk.inner();
  const ReadSteps steps{so, sp, sw, along};
  with_bytes_of(whole.dtype(), [&](auto unit) {
    using T = decltype(unit);
    T* const to = elements<T>(out);
    const T* const from = elements<T>(start);
    const std::int64_t* const at = elements<std::int64_t>(positions);
    walk.run([&](const auto& offsets, std::int64_t count) {
      read_row(to + offsets[0], at + offsets[1], from + offsets[2], steps, count);
    });
  });
  return out;
}

Array index_select(const Array& a, std::int64_t axis, const Array& positions) {
  if (a.rank() == 0) return index_select(a.reshape({1}), axis, positions).reshape({});
  const std::int64_t along = axis_of(axis, a.rank());
  const Array at = positions_of_slices(positions, along, a.shape());
  return recorded_map(read_at(a, along, at), a, [along, at, shape = a.shape()](const Array& gradient) {
    Array whole = Array::zeros(gradient.dtype(), shape);
    add_at(whole, along, at, gradient);
    return whole;
  });
}

Array gather(const Array& a, std::int64_t axis, const Array& positions) {
  if (a.rank() == 0) return gather(a.reshape({1}), axis, positions);
  if (positions.rank() == 0 && a.rank() == 1) return gather(a, axis, positions.reshape({1})).reshape({});
  const std::int64_t along = axis_of(axis, a.rank());
  bool fits = positions.rank() == a.rank();
  for (std::int64_t i = 0; fits && positions.count() > 0 && i < a.rank(); ++i)
    fits = i == along || positions.size(i) <= a.size(i);
  if (!fits)
    fail(Fault::model, "positions of shape {} do not fit to shape {} but for axis {}",
         to_string(positions.shape()), to_string(a.shape()), axis);
  const Array at = checked_positions(positions, along, a.shape());
  return recorded_map(read_at(a, along, at), a, [along, at, shape = a.shape()](const Array& gradient) {
    Array whole = Array::zeros(gradient.dtype(), shape);
    add_at(whole, along, at, gradient);
    return whole;
  });
}

Array index_add(const Array& a, std::int64_t axis, const Array& positions, const Array& values) {
  const Slices slices = slices_to_write(a, axis, positions, values);
  Array out = slices.a.detach().clone();
  add_at(out, slices.axis, slices.positions, slices.values);
  return recorded_one(std::move(out), {slices.a, slices.values},
                      [along = slices.axis, at = slices.positions](
                          const Array& g, const std::vector<bool>& wanted) -> Arrays {
                        return {g, wanted[1] ? read_at(g, along, at) : Array()};
                      })
      .reshape(a.shape());
}

Array index_copy(const Array& a, std::int64_t axis, const Array& positions, const Array& values) {
  const Slices slices = slices_to_write(a, axis, positions, values);
  Array out = slices.a.detach().clone();
  copy_at(out, slices.axis, slices.positions, slices.values);
  return recorded_one(std::move(out), {slices.a, slices.values},
                      [along = slices.axis, at = slices.positions](
                          const Array& g, const std::vector<bool>& wanted) -> Arrays {
                        Arrays found(2);
                        if (wanted[0]) {
                          found[0] = g.clone();
                          copy_at(found[0], along, at, scalar(0, g.dtype()).expand(at.shape()));
                        }
                        if (wanted[1]) {
                          const Array list = at.viewed({at.size(along)}, {at.stride(along)});
                          Shape column(at.shape().size(), 1);
                          column[along] = list.count();
                          const Array lasting =
                              lasting_at({g.size(along)}, 0, list).reshape(std::move(column));
                          found[1] = where(lasting, read_at(g, along, at), 0);
                        }
                        return found;
                      })
      .reshape(a.shape());
}

Array masked_select(const Array& a, const Array& mask) {
  const Shape shape = broadcast_shape(a.shape(), mask.shape());
  const Array places = places_of_true(mask.detach().to(DType::boolean).expand(shape));
  return index_select(a.expand(shape).reshape({-1}), 0, places);
}

Array nonzero(const Array& a) {
  const Array places = places_of_true(a.detach().to(DType::boolean));
  if (a.rank() == 1) return places.reshape({-1, 1});
  const std::size_t rank = a.rank();
  Array out = Array::uninitialised(DType::int64, {places.count(), a.rank()});
  split_loop(places.count(), 8192, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      std::int64_t* const to = out.elements<std::int64_t>() + i * rank;
      std::int64_t rest = elements<std::int64_t>(places)[i];
      for (std::size_t axis = rank; axis-- > 0;) {
        const std::int64_t size = a.shape()[axis], before = rest / size;
        to[axis] = rest - before * size;
        rest = before;
      }
    }
  });
  return out;
}

Array one_hot(const Array& a, std::int64_t classes) {
  std::int64_t size = classes;
  if (classes == -1 && a.count() > 0) {
    const Array list = a.contiguous().to(DType::int64);
    const std::span<const std::int64_t> all = list.as<std::int64_t>();
    size = std::max<std::int64_t>(*std::max_element(all.begin(), all.end()), 0) + 1;
  }
  if (size < 1)
    fail(Fault::model, "one_hot of shape {1} with {0} classes; at least one class is needed", classes,
         to_string(a.shape()));
  Shape shape = a.shape();
  shape.push_back(size);
  const Array at = checked_positions(a.unsqueeze(-1), a.rank(), shape);
  Array out = Array::zeros(DType::int64, shape);
  copy_at(out, a.rank(), at, scalar(1, DType::int64).expand(at.shape()));
  return out;
}

}  // namespace assay::array

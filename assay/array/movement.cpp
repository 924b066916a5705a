// Arrays put together and taken apart, and elements in another order.

#include <algorithm>
#include <cstring>
#include <numeric>

#include "assay/array/loops.h"
#include "assay/array/tape.h"

namespace assay::array {
namespace {

// The type that all parts fit.
DType common_type(std::span<const Array> parts) {
  Array seen = parts[0].detach();
  for (const Array& part : parts.subspan(1)) {
    const DType type = result_type(seen, part);
    if (type != seen.dtype()) seen = Array::uninitialised(type, seen.rank() == 0 ? Shape{} : Shape{0});
  }
  return seen.dtype();
}

// One axis without elements among parts of more axes: nothing to be put anywhere.
bool is_nothing(const Array& part) { return part.rank() == 1 && part.count() == 0; }

Shape joined_shape(std::span<const Array> parts, std::size_t axis) {
  Shape shape = parts[0].shape();
  for (const Array& part : parts.subspan(1)) {
    bool fits = part.shape().size() == shape.size();
    for (std::size_t i = 0; fits && i < shape.size(); ++i) fits = i == axis || part.shape()[i] == shape[i];
    if (!fits)
      fail(Fault::model, "shapes {} and {} cannot be joined along axis {}", to_string(parts[0].shape()),
           to_string(part.shape()), axis);
    shape[axis] += part.shape()[axis];
  }
  return shape;
}

// The gradient of several pieces, zeros for those that have none.
Array joined_gradients(const Arrays& of_pieces, const std::vector<Shape>& shapes, DType type,
                       std::int64_t axis) {
  Arrays whole;
  for (std::size_t i = 0; i < shapes.size(); ++i)
    whole.push_back(of_pieces[i].defined() ? of_pieces[i] : Array::zeros(type, shapes[i]));
  return cat(whole, axis);
}

std::vector<Shape> shapes_of(const Arrays& pieces) {
  std::vector<Shape> shapes;
  for (const Array& piece : pieces) shapes.push_back(piece.shape());
  return shapes;
}

// Elements kept where keep(row - column) of the two last axes.
template <typename Keep>
Array triangle(const Array& a, const Keep& keep) {
  if (a.rank() < 2) fail(Fault::model, "a triangle of shape {}: two axes are needed", to_string(a.shape()));
  const std::int64_t rows = a.size(-2), columns = a.size(-1);
  Array mask = Array::uninitialised(DType::boolean, {rows, columns});
  bool* to = mask.elements<bool>();
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) *to++ = keep(c - r);
  }
  return where(mask, a, 0).to(a.dtype());
}

}  // namespace

Array cat(std::span<const Array> all, std::int64_t along) {
  if (all.empty()) fail(Fault::internal, "cat() needs at least one array");
  Arrays parts;
  const DType type = common_type(all);
  for (const Array& part : all) {
    if (!is_nothing(part)) parts.push_back(part.to(type));
  }
  if (parts.empty()) return all[0].to(type);
  if (parts.size() == 1) return parts[0];
  const std::size_t axis = axis_of(along, parts[0].rank());
  Array out = Array::uninitialised(type, joined_shape(parts, axis));
  std::int64_t begin = 0;
  for (const Array& part : parts) {
    const std::int64_t size = part.shape()[axis];
    out.narrow(axis, begin, size).copy_(part.detach());
    begin += size;
  }
  if (!std::ranges::any_of(parts, [](const Array& part) { return records(part); })) return out;
  Shape sizes;
  for (const Array& part : parts) sizes.push_back(part.shape()[axis]);
  return recorded(std::move(out), parts,
                  [sizes, axis](const Arrays& of_results, const std::vector<bool>& wanted) {
                    Arrays found(sizes.size());
                    std::int64_t from = 0;
                    for (std::size_t i = 0; i < sizes.size(); from += sizes[i++]) {
                      if (wanted[i]) found[i] = of_results[0].narrow(axis, from, sizes[i]);
                    }
                    return found;
                  });
}

Array cat(std::initializer_list<Array> parts, std::int64_t axis) {
  return cat(std::span(parts.begin(), parts.size()), axis);
}

Array stack(std::span<const Array> parts, std::int64_t axis) {
  if (parts.empty()) fail(Fault::internal, "stack() needs at least one array");
  Arrays rows;
  for (const Array& part : parts) {
    if (part.shape() != parts[0].shape())
      fail(Fault::model, "shapes {} and {} cannot be stacked", to_string(parts[0].shape()),
           to_string(part.shape()));
    rows.push_back(part.unsqueeze(axis));
  }
  return cat(rows, axis < 0 ? axis_of(axis, parts[0].rank() + 1) : axis);
}

Array stack(std::initializer_list<Array> parts, std::int64_t axis) {
  return stack(std::span(parts.begin(), parts.size()), axis);
}

Arrays split(const Array& a, const Shape& sizes, std::int64_t axis) {
  const std::int64_t along = axis_of(axis, a.rank());
  if (std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}) != a.size(along))
    fail(Fault::model, "pieces of {} do not make up axis {} of shape {}", to_string(sizes), axis,
         to_string(a.shape()));
  const Array plain = a.detach();
  Arrays pieces;
  std::int64_t begin = 0;
  for (const std::int64_t size : sizes) {
    pieces.push_back(plain.narrow(along, begin, size));
    begin += size;
  }
  if (!records(a)) return pieces;
  auto shapes = shapes_of(pieces);
  return recorded(std::move(pieces), std::span(&a, 1),
                  [shapes = std::move(shapes), type = a.dtype(), along](const Arrays& of_pieces,
                                                                        const std::vector<bool>&) {
                    return Arrays{joined_gradients(of_pieces, shapes, type, along)};
                  });
}

Arrays chunk(const Array& a, std::int64_t pieces, std::int64_t axis) {
  if (pieces < 1) fail(Fault::model, "an array cannot be cut into {} pieces; give at least 1", pieces);
  const std::int64_t size = a.size(axis), each = size / pieces + (size % pieces != 0 ? 1 : 0);
  Shape sizes;
  for (std::int64_t left = size; left > 0; left -= each) sizes.push_back(std::min(left, each));
  if (sizes.empty()) sizes.assign(pieces, 0);
  return split(a, sizes, axis);
}

Arrays unbind(const Array& a, std::int64_t axis) {
  const std::int64_t along = axis_of(axis, a.rank());
  const Array plain = a.detach();
  Arrays pieces;
  for (std::int64_t i = 0; i < a.size(along); ++i) pieces.push_back(plain.select(along, i));
  if (!records(a) || pieces.empty()) return pieces;
  auto shapes = shapes_of(pieces);
  return recorded(std::move(pieces), std::span(&a, 1),
                  [shapes = std::move(shapes), type = a.dtype(), along](const Arrays& of_pieces,
                                                                        const std::vector<bool>&) {
                    Arrays whole;
                    for (std::size_t i = 0; i < shapes.size(); ++i)
                      whole.push_back(of_pieces[i].defined() ? of_pieces[i] : Array::zeros(type, shapes[i]));
                    return Arrays{stack(whole, along)};
                  });
}

Arrays broadcast(std::span<const Array> parts) {
  Shape shape;
  for (const Array& part : parts) shape = broadcast_shape(shape, part.shape());
  Arrays all;
  for (const Array& part : parts) all.push_back(part.expand(shape));
  return all;
}

Array pad(const Array& a, const Shape& amounts, Scalar value) {
  if (amounts.size() % 2 != 0 || amounts.size() / 2 > a.shape().size())
    fail(Fault::model, "padding of {} does not fit shape {}; two numbers for each axis are needed",
         to_string(amounts), to_string(a.shape()));
  Array inside = a;
  Shape shape = a.shape(), begin(a.shape().size());
  for (std::size_t i = 0; i < amounts.size() / 2; ++i) {
    const std::size_t axis = shape.size() - 1 - i;
    const std::int64_t before = amounts[2 * i], after = amounts[2 * i + 1], size = shape[axis];
    shape[axis] = size + before + after;
    if (shape[axis] < 0)
      fail(Fault::model, "padding of {} and {} leaves nothing of an axis of {}", before, after, size);
    const std::int64_t from = std::min(size, std::max<std::int64_t>(0, -before)),
                       to = std::max(from, size - std::max<std::int64_t>(0, -after));
    inside = inside.slice(axis, from, to);
    begin[axis] = std::max<std::int64_t>(0, before);
  }
  if (inside.shape() == shape) return inside;
  const auto look = [begin, sizes = inside.shape()](const Array& whole) {
    Array part = whole;
    for (std::size_t axis = 0; axis < sizes.size(); ++axis)
      part = part.narrow(axis, begin[axis], sizes[axis]);
    return part;
  };
  Array out = full(shape, value, a.dtype());
  if (inside.count() > 0) look(out).copy_(inside.detach());
  return recorded_map(std::move(out), inside, look);
}

Array flip(const Array& a, const Shape& axes) {
  Array out = a;
  for (const std::int64_t axis : axes) {
    const std::int64_t size = out.size(axis);
    if (size > 1) out = index_select(out, axis, arange(size - 1, -1, -1, DType::int64));
  }
  return out;
}

Array roll(const Array& a, std::int64_t shift, std::int64_t axis) {
  const std::int64_t size = a.size(axis);
  if (size == 0) return a;
  const std::int64_t by = ((shift % size) + size) % size;
  return by == 0 ? a : cat({a.narrow(axis, size - by, by), a.narrow(axis, 0, size - by)}, axis);
}

Array repeat(const Array& a, const Shape& times) {
  if (times.size() < a.shape().size())
    fail(Fault::model, "repeats {} are fewer than the axes of shape {}", to_string(times),
         to_string(a.shape()));
  const std::size_t more = times.size() - a.shape().size();
  Shape apart, expanded, together;
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (times[i] < 0) fail(Fault::model, "a repeat of {} is negative", times[i]);
    const std::int64_t size = i < more ? 1 : a.shape()[i - more];
    apart.insert(apart.end(), {1, size});
    expanded.insert(expanded.end(), {times[i], size});
    std::int64_t whole = 0;
    if (__builtin_mul_overflow(times[i], size, &whole))
      fail(Fault::resources, "a repeat of {} is too large", times[i]);
    together.push_back(whole);
  }
  return a.reshape(apart).expand(expanded).clone().reshape(together);
}

Array repeat_interleave(const Array& a, std::int64_t times, std::int64_t axis) {
  const std::int64_t along = axis_of(axis, a.rank());
  Shape expanded = a.shape(), together = a.shape();
  expanded.insert(expanded.begin() + along + 1, times);
  together[along] *= times;
  return a.unsqueeze(along + 1).expand(expanded).clone().reshape(together);
}

Array tril(const Array& a, std::int64_t diagonal) {
  return triangle(a, [=](std::int64_t right) { return right <= diagonal; });
}
Array triu(const Array& a, std::int64_t diagonal) {
  return triangle(a, [=](std::int64_t right) { return right >= diagonal; });
}

}  // namespace assay::array

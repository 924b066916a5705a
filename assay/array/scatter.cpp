// Elements written at positions. Threads write to separate elements, so that values with one position are
// taken in the order in which they stand along the axis.

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include <assay/array_math.h>
#include <assay/error.h>
#include "assay/array/loops.h"
#include "assay/array/positions.h"
#include "assay/array/tape.h"

namespace assay::array {
namespace {

// Steps from one element to the next of the three arrays that take part.
struct WriteSteps {
  std::int64_t whole, positions, values;
};

WriteSteps steps_along(std::int64_t axis, const Array& whole, const Array& positions, const Array& values) {
  return {whole.stride(axis), positions.stride(axis), values.stride(axis)};
}

// One element after the other of a row across the axis, all of which have their targets for themselves.
template <typename T, typename F>
void combine_across(T* whole, const std::int64_t* positions, const T* values, const WriteSteps& step,
                    std::int64_t along, std::int64_t count, const F& f) {
  if (step.positions != 0) {
    for (std::int64_t n = 0; n < count; ++n) {
      T& target = whole[positions[n * step.positions] * along + n * step.whole];
      target = f(target, values[n * step.values]);
    }
  } else if (step.whole == 1 && step.values == 1) {
    T* const __restrict targets = whole + *positions * along;
    const T* const __restrict from = values;
    for (std::int64_t n = 0; n < count; ++n) targets[n] = f(targets[n], from[n]);
  } else {
    T* const targets = whole + *positions * along;
    for (std::int64_t n = 0; n < count; ++n)
      targets[n * step.whole] = f(targets[n * step.whole], values[n * step.values]);
  }
}

// target = f(target, value) for the values of each position in their order.
template <typename T, typename F>
void combine_at(Array& whole, std::int64_t axis, const Array& positions, const Array& values, const F& f) {
  const std::int64_t length = positions.size(axis);
  if (positions.count() == 0) return;
  Shape across = positions.shape();
  across[axis] = 1;
  const Array w = whole.viewed(across, whole.strides()), p = positions.viewed(across, positions.strides()),
              v = values.viewed(across, values.strides());
  const Walk<3> walk(across, {&w, &p, &v});
  const auto [sw, sp, sv] = walk.inner();
  const WriteSteps inner{sw, sp, sv}, along = steps_along(axis, whole, positions, values);
  T* const targets = elements<T>(whole);
  const auto body = [&](const auto& at, std::int64_t count) {
    T* const to = targets + at[0];
    const std::int64_t* const places = elements<std::int64_t>(p) + at[1];
    const T* const from = elements<T>(v) + at[2];
    if (along.whole >= inner.whole) {
      for (std::int64_t i = 0; i < length; ++i)
        combine_across(to, places + i * along.positions, from + i * along.values, inner, along.whole, count,
                       f);
      return;
    }
    for (std::int64_t n = 0; n < count; ++n) {
      for (std::int64_t i = 0; i < length; ++i) {
        const std::int64_t place = places[n * inner.positions + i * along.positions];
        T& target = to[n * inner.whole + place * along.whole];
        target = f(target, from[n * inner.values + i * along.values]);
      }
    }
  };
  walk.run(body, std::max<std::int64_t>(16, 32768 / length));
}

// Sums and products of integers wrap around; those of truth values are "or" and "and".
template <typename T, typename F>
T without_overflow(T x, T y, const F& f) {
  if constexpr (std::is_same_v<T, bool>)
    return f(static_cast<int>(x), static_cast<int>(y)) != 0;
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(f(static_cast<std::uint64_t>(x), static_cast<std::uint64_t>(y)));
  else
    return f(x, y);
}

void multiply_at(Array& whole, std::int64_t axis, const Array& positions, const Array& values) {
  if (is_narrow(whole.dtype()))
    return changed_wide(whole, [&](Array& wide) { multiply_at(wide, axis, positions, widened(values)); });
  with_computed(whole.dtype(), [&](auto zero) {
    using T = decltype(zero);
    combine_at<T>(whole, axis, positions, values,
                  [](T x, T y) { return without_overflow(x, y, [](auto a, auto b) { return a * b; }); });
  });
}

// NaN wins.
void extreme_at(Array& whole, std::int64_t axis, const Array& positions, const Array& values, bool greatest) {
  if (is_narrow(whole.dtype()))
    return changed_wide(whole,
                        [&](Array& wide) { extreme_at(wide, axis, positions, widened(values), greatest); });
  with_computed(whole.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if (greatest)
      combine_at<T>(whole, axis, positions, values, [](T x, T y) { return y > x || y != y ? y : x; });
    else
      combine_at<T>(whole, axis, positions, values, [](T x, T y) { return y < x || y != y ? y : x; });
  });
}

// The values to write into an array, and where: in the shape of the positions.
struct Written {
  Array a, positions, values;
  std::int64_t axis;
};

Written to_write(const Array& a, std::int64_t axis, const Array& positions, const Array& values) {
  Written all{with_axis(a), with_axis(positions), with_axis(values),
              axis_of(axis, std::max<std::int64_t>(1, a.rank()))};
  if (a.dtype() != values.dtype())
    fail(Fault::model, "values of {} are written into an array of {}", to_string(values.dtype()),
         to_string(a.dtype()));
  const std::int64_t rank = all.a.rank();
  bool fits = all.positions.rank() == rank && all.values.rank() == rank;
  for (std::int64_t i = 0; fits && positions.count() > 0 && i < rank; ++i) {
    const std::int64_t size = all.positions.size(i);
    fits = size <= all.values.size(i) && (i == all.axis || size <= all.a.size(i));
  }
  if (!fits)
    fail(Fault::model, "positions of shape {} along axis {} do not fit to shape {} and values of shape {}",
         to_string(positions.shape()), axis, to_string(a.shape()), to_string(values.shape()));
  all.positions = checked_positions(all.positions, all.axis, all.a.shape());
  for (std::int64_t i = 0; positions.count() > 0 && i < rank; ++i)
    all.values = all.values.narrow(i, 0, all.positions.size(i));
  return all;
}

// How many values there are for each element of the shape, itself included.
Array counted_at(const Shape& shape, const Written& all) {
  Array counts = ones(shape, DType::int64);
  add_at(counts, all.axis, all.positions, scalar(1, DType::int64).expand(all.positions.shape()));
  return counts;
}

Array reduced(const Written& all, Combine combine) {
  Array out = all.a.detach().clone();
  switch (combine) {
    case Combine::sum:
      add_at(out, all.axis, all.positions, all.values);
      return out;
    case Combine::product:
      multiply_at(out, all.axis, all.positions, all.values);
      return out;
    case Combine::minimum:
    case Combine::maximum:
      extreme_at(out, all.axis, all.positions, all.values, combine == Combine::maximum);
      return out;
    case Combine::mean:
      break;
  }
  if (out.dtype() == DType::boolean) fail(Fault::unsupported, "truth values have no mean");
  const bool sums_wide = !is_real(out.dtype()) && out.dtype() != DType::uint64;
  Array total = sums_wide ? out.to(DType::int64) : out;
  add_at(total, all.axis, all.positions, all.values.to(total.dtype()));
  const Array counts = counted_at(out.shape(), all);
  return is_real(total.dtype()) ? total / counts : div(total, counts, Rounding::floor).to(out.dtype());
}

// Gradients of what was there and of the values: of one function of an element, of its value and of what both
// have in common with others of the same target.
template <typename F>
Arrays gradients_at(const Written& all, const std::vector<bool>& wanted, const Arrays& common, const F& f) {
  Arrays found(2);
  if (wanted[0]) found[0] = f(all.a, common);
  if (wanted[1]) {
    Arrays read;
    for (const Array& one : common) read.push_back(read_at(one, all.axis, all.positions));
    found[1] = f(all.values, read);
  }
  return found;
}

// Equal extremes share the gradient evenly.
Arrays gradients_of_extremes(const Written& all, const Array& out, const Array& g,
                             const std::vector<bool>& wanted) {
  Array sharing = eq(all.a, out).to(g.dtype());
  add_at(sharing, all.axis, all.positions,
         eq(all.values, read_at(out, all.axis, all.positions)).to(g.dtype()));
  return gradients_at(all, wanted, {out, g / sharing}, [](const Array& value, const Arrays& common) {
    return where(eq(value, common[0]), common[1], 0);
  });
}

// The product of the others: of all that are not zero, divided by this one, where none of the others is zero.
Arrays gradients_of_products(const Written& all, const Array& g, const std::vector<bool>& wanted) {
  const auto nonzero_of = [](const Array& value) { return where(value == 0, 1, value); };
  Array product = nonzero_of(all.a), zeros = (all.a == 0).to(DType::int32);
  multiply_at(product, all.axis, all.positions, nonzero_of(all.values));
  add_at(zeros, all.axis, all.positions, (all.values == 0).to(DType::int32));
  return gradients_at(all, wanted, {g * product, zeros}, [&](const Array& value, const Arrays& common) {
    return where(eq(common[1], (value == 0).to(DType::int32)), common[0] / nonzero_of(value), 0);
  });
}

Arrays reduced_back(const Written& all, Combine combine, const Array& out, const Array& g,
                    const std::vector<bool>& wanted) {
  if (combine == Combine::product) return gradients_of_products(all, g, wanted);
  if (combine == Combine::minimum || combine == Combine::maximum)
    return gradients_of_extremes(all, out, g, wanted);
  const Array each = combine == Combine::mean ? g / counted_at(g.shape(), all) : g;
  return gradients_at(all, wanted, {each}, [](const Array&, const Arrays& common) { return common[0]; });
}

}  // namespace

void copy_at(Array& whole, std::int64_t axis, const Array& positions, const Array& values) {
  with_moved(whole.dtype(), [&](auto zero) {
    using T = decltype(zero);
    combine_at<T>(whole, axis, positions, values, [](T, T value) { return value; });
  });
}

void add_at(Array& whole, std::int64_t axis, const Array& positions, const Array& values) {
  if (is_narrow(whole.dtype()))
    return changed_wide(whole, [&](Array& wide) { add_at(wide, axis, positions, widened(values)); });
  with_computed(whole.dtype(), [&](auto zero) {
    using T = decltype(zero);
    combine_at<T>(whole, axis, positions, values,
                  [](T x, T y) { return without_overflow(x, y, [](auto a, auto b) { return a + b; }); });
  });
}

Array lasting_at(const Shape& whole, std::int64_t axis, const Array& positions) {
  Shape strides(positions.shape().size(), 0);
  strides[axis] = 1;
  const Array numbers = arange(positions.size(axis)).viewed(positions.shape(), std::move(strides));
  Array last = Array::uninitialised(DType::int64, whole);
  copy_at(last, axis, positions, numbers);
  return eq(read_at(last, axis, positions), numbers);
}

Array scatter(const Array& a, std::int64_t axis, const Array& positions, const Array& values) {
  const Written all = to_write(a, axis, positions, values);
  Array out = all.a.detach().clone();
  copy_at(out, all.axis, all.positions, all.values);
  return recorded_one(std::move(out), {all.a, all.values},
                      [along = all.axis, at = all.positions](const Array& g,
                                                             const std::vector<bool>& wanted) -> Arrays {
                        Arrays found(2);
                        if (wanted[0]) {
                          found[0] = g.clone();
                          copy_at(found[0], along, at, scalar(0, g.dtype()).expand(at.shape()));
                        }
                        if (wanted[1])
                          found[1] = where(lasting_at(g.shape(), along, at), read_at(g, along, at), 0);
                        return found;
                      })
      .reshape(a.shape());
}

Array scatter(const Array& a, std::int64_t axis, const Array& positions, Scalar value) {
  return scatter(a, axis, positions, scalar(value, a.dtype()).expand(positions.shape()));
}

Array scatter_add(const Array& a, std::int64_t axis, const Array& positions, const Array& values) {
  return scatter_reduce(a, axis, positions, values, Combine::sum);
}

Array scatter_reduce(const Array& a, std::int64_t axis, const Array& positions, const Array& values,
                     Combine combine) {
  const Written all = to_write(a, axis, positions, values);
  if (combine != Combine::sum && is_narrow(a.dtype()))  // rounded once
    return computed_wide(a, [&](const Array& wide) {
      return scatter_reduce(wide, axis, positions, widened(values), combine);
    });
  Array out = reduced(all, combine);
  if (!records(all.a, all.values)) return out.reshape(a.shape());
  const bool linear = combine == Combine::sum || combine == Combine::mean;
  const bool extreme = combine == Combine::minimum || combine == Combine::maximum;
  Written kept{{}, all.positions, {}, all.axis};
  if (!linear) {
    kept.a = all.a.detach();
    kept.values = all.values.detach();
  }
  return recorded_one(
             out, {all.a, all.values},
             [kept, combine, out = extreme ? out : Array()](const Array& g, const std::vector<bool>& wanted) {
               return reduced_back(kept, combine, out, g, wanted);
             })
      .reshape(a.shape());
}

}  // namespace assay::array

// Changes of elements in place.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <type_traits>
#include <utility>
#include <vector>

#include <assay/array.h>
#include <assay/error.h>
#include "assay/array/loops.h"
#include "assay/array/tape.h"
#include "assay/array/transposed.h"
#include "assay/support/thread_pool.h"

namespace assay::array {
namespace {

// An axis of a copy: its size, and the distance of its elements in both arrays.
struct CopyAxis {
  std::int64_t size, to, from;
};

// In the order in which the copy is written, those that both arrays pass alike taken as one.
std::vector<CopyAxis> axes_of_copy(const Array& to, const Array& from) {
  const Shape strides = strides_in(from, to.shape());
  std::vector<CopyAxis> axes, merged;
  for (std::size_t i = 0; i < strides.size(); ++i) {
    if (to.shape()[i] != 1) axes.push_back({to.shape()[i], to.strides()[i], strides[i]});
  }
  std::stable_sort(axes.begin(), axes.end(),
                   [](const CopyAxis& a, const CopyAxis& b) { return std::abs(a.to) > std::abs(b.to); });
  for (const CopyAxis& axis : axes) {
    if (!merged.empty() && merged.back().to == axis.to * axis.size &&
        merged.back().from == axis.from * axis.size)
      merged.back() = {merged.back().size * axis.size, axis.to, axis.from};
    else
      merged.push_back(axis);
  }
  return merged;
}

template <typename T>
void copy_row(T* to, const T* from, const CopyAxis& row) {
  if (row.to == 1 && row.from == 1) {
    std::copy_n(from, row.size, to);
  } else if (row.to == 1 && row.from == 0) {
    std::fill_n(to, row.size, *from);
  } else {
    for (std::int64_t i = 0; i < row.size; ++i) to[i * row.to] = from[i * row.from];
  }
}

// Row by row where rows are long and read in order, otherwise by tiles: the lines of memory that a tile reads
// and writes stay in the cache until all of their elements are used.
template <typename T>
void copy_plane(T* to, const T* from, const CopyAxis& rows, const CopyAxis& row) {
  constexpr std::int64_t edge = 16;
  if (rows.size == 1 || (row.size >= edge / 2 && row.to == 1 && (row.from == 1 || row.from == 0))) {
    for (std::int64_t r = 0; r < rows.size; ++r) copy_row(to + r * rows.to, from + r * rows.from, row);
    return;
  }
  if (row.to == 1 && rows.from == 1)
    return write_transposed(row.size, rows.size, row.from, from, rows.to, to);
  const std::int64_t high = std::max(edge, 512 / row.size);
  for (std::int64_t top = 0; top < rows.size; top += high) {
    const std::int64_t bottom = std::min(rows.size, top + high);
    for (std::int64_t left = 0; left < row.size; left += edge) {
      const std::int64_t right = std::min(row.size, left + edge);
      for (std::int64_t i = left; i < right; ++i) {
        for (std::int64_t r = top; r < bottom; ++r)
          to[r * rows.to + i * row.to] = from[r * rows.from + i * row.from];
      }
    }
  }
}

// Takes the axis that makes up planes with rows: the one before where rows are read in order, otherwise the
// one along which reading goes in the smallest steps.
CopyAxis take_rows(std::vector<CopyAxis>& axes, const CopyAxis& row) {
  auto chosen = axes.end() - 1;
  if (row.from != 1 || row.size < 8) {
    const auto smaller = [](const CopyAxis& a, const CopyAxis& b) {
      return std::abs(a.from) < std::abs(b.from);
    };
    chosen = std::min_element(axes.begin(), axes.end(), smaller);
  }
  const CopyAxis rows = *chosen;
  axes.erase(chosen);
  return rows;
}

template <typename T>
void copy_along(T* to, const T* from, std::vector<CopyAxis> axes) {
  constexpr std::size_t grain = 32768;
  const CopyAxis row = axes.back();
  axes.pop_back();
  if (axes.empty()) {
    split_loop(row.size, grain, [&](std::size_t begin, std::size_t end) {
      const auto first = static_cast<std::int64_t>(begin), size = static_cast<std::int64_t>(end) - first;
      copy_row(to + first * row.to, from + first * row.from, {size, row.to, row.from});
    });
    return;
  }
  const CopyAxis rows = take_rows(axes, row);
  std::int64_t count = rows.size;
  for (const CopyAxis& axis : axes) count *= axis.size;
  const std::size_t rows_each = std::max<std::size_t>(1, grain / row.size);
  split_loop(count, rows_each, [&](std::size_t begin, std::size_t end) {
    for (std::int64_t at = begin; at < static_cast<std::int64_t>(end);) {
      const std::int64_t first = at % rows.size;
      const std::int64_t size = std::min(rows.size - first, static_cast<std::int64_t>(end) - at);
      std::int64_t rest = at / rows.size, written = first * rows.to, read = first * rows.from;
      for (std::size_t axis = axes.size(); axis-- > 0;) {
        written += rest % axes[axis].size * axes[axis].to;
        read += rest % axes[axis].size * axes[axis].from;
        rest /= axes[axis].size;
      }
      copy_plane(to + written, from + read, {size, rows.to, rows.from}, row);
      at += size;
    }
  });
}

// A change must not go unnoticed by gradients, nor write one element several times.
template <typename... Operands>
void require_changeable(const Array& to, const Operands&... operands) {
  if (records(to, operands...))
    fail(Fault::internal, "elements of shape {} are changed in place while gradients are recorded",
         to_string(to.shape()));
  for (std::size_t i = 0; i < to.shape().size(); ++i) {
    if (to.shape()[i] > 1 && to.strides()[i] == 0)
      fail(Fault::internal, "elements of shape {} are changed in place where axis {} repeats them",
           to_string(to.shape()), i);
  }
}

bool is_same_view(const Array& a, const Array& b) {
  return a.data() == b.data() && a.shape() == b.shape() && a.strides() == b.strides();
}

// The operand of a change: of the same type, and not among the elements that are being changed.
Array operand_for(const Array& to, const Array& given) {
  static_cast<void>(strides_in(given, to.shape()));
  const Array operand = given.detach().to(to.dtype());
  if (operand.shares_storage(to) && !is_same_view(operand, to)) return operand.clone();
  return operand;
}

void require_kind(const Array& to, Scalar value) {
  if (!is_real(to.dtype()) && !value.is_whole())
    fail(Fault::internal, "elements of {} are changed in place by {}, which is not whole",
         to_string(to.dtype()), value.to<double>());
}

// Truth values are computed with as numbers.
template <typename T, typename F>
T changed(const F& f, T x, T y) {
  if constexpr (std::is_same_v<T, bool>)
    return f(std::uint8_t{x}, std::uint8_t{y}) != 0;
  else
    return f(x, y);
}

// to[i] = f(to[i], by[i])
template <typename T, typename F>
void change_by(Array& to, const Array& by, const F& f) {
  const Walk<2> walk(to.shape(), {&to, &by});
  const auto [st, sb] = walk.inner();
  T* const first = elements<T>(to);
  const T* const second = elements<T>(by);
  walk.run([&, st = st, sb = sb](const auto& at, std::int64_t count) {
    T* const x = first + at[0];
    const T* const y = second + at[1];
    if (st == 1 && sb == 1) {
      for (std::int64_t n = 0; n < count; ++n) x[n] = changed(f, x[n], y[n]);
    } else if (st == 1 && sb == 0) {
      const T one = *y;
      for (std::int64_t n = 0; n < count; ++n) x[n] = changed(f, x[n], one);
    } else {
      for (std::int64_t n = 0; n < count; ++n) x[n * st] = changed(f, x[n * st], y[n * sb]);
    }
  });
}

// to[i] = f(to[i])
template <typename T, typename F>
void change_each(Array& to, const F& f) {
  const Walk<1> walk(to.shape(), {&to});
  const std::int64_t step = walk.inner()[0];
  T* const first = elements<T>(to);
  walk.run([&, step](const auto& at, std::int64_t count) {
    T* const x = first + at[0];
    if (step == 1) {
      for (std::int64_t n = 0; n < count; ++n) x[n] = f(x[n]);
    } else {
      for (std::int64_t n = 0; n < count; ++n) x[n * step] = f(x[n * step]);
    }
  });
}

// make(T{}) gives f of two numbers.
template <typename Make>
void change_in_place(Array& to, const Array& given, const Make& make) {
  require_changeable(to, given);
  if (is_narrow(to.dtype()))
    return changed_wide(to, [&](Array& wide) { change_in_place(wide, given, make); });
  const Array by = operand_for(to, given);
  with_computed(to.dtype(), [&](auto zero) { change_by<decltype(zero)>(to, by, make(zero)); });
}

template <typename Make>
void change_in_place(Array& to, Scalar by, const Make& make) {
  require_changeable(to);
  require_kind(to, by);
  if (is_narrow(to.dtype())) return changed_wide(to, [&](Array& wide) { change_in_place(wide, by, make); });
  with_computed(to.dtype(), [&](auto zero) {
    using T = decltype(zero);
    change_each<T>(to, [f = make(zero), y = number_from<T>(by)](T x) { return changed(f, x, y); });
  });
}

// Integers wrap around: those without a sign do so by definition.
template <typename T, typename F>
T wrapped_change(T x, T y, const F& f) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(f(static_cast<U>(x), static_cast<U>(y))));
  } else {
    return f(x, y);
  }
}

constexpr auto add_in_place = [](auto x, auto y) {
  return wrapped_change(x, y, [](auto p, auto q) { return p + q; });
};
constexpr auto subtract_in_place = [](auto x, auto y) {
  return wrapped_change(x, y, [](auto p, auto q) { return p - q; });
};
constexpr auto multiply_in_place = [](auto x, auto y) {
  return wrapped_change(x, y, [](auto p, auto q) { return p * q; });
};
constexpr auto divide_in_place = [](auto x, auto y) { return static_cast<decltype(x)>(x / y); };

void require_real_quotient(const Array& to) {
  if (!is_real(to.dtype()))
    fail(Fault::internal, "quotients cannot be stored in elements of {}, which are whole numbers",
         to_string(to.dtype()));
}

}  // namespace

Array& Array::copy_(const Array& from) {
  array::require_changeable(*this, from);
  const Array operand = array::operand_for(*this, from);
  if (count_ == 0 || array::is_same_view(operand, *this)) return *this;
  std::vector<array::CopyAxis> axes = array::axes_of_copy(*this, operand);
  if (axes.empty()) axes.push_back({1, 1, 1});
  array::with_moved(dtype_, [&](auto zero) {
    using T = decltype(zero);
    array::copy_along(array::elements<T>(*this), array::elements<T>(operand), std::move(axes));
  });
  return *this;
}

Array& Array::fill_(Scalar value) { return copy_(array::scalar(value, dtype_)); }

Array& Array::zero_() { return fill_(0); }

Array& Array::add_(const Array& other, Scalar times) {
  array::require_kind(*this, times);
  array::change_in_place(*this, other, [&](auto zero) {
    return [factor = array::number_from<decltype(zero)>(times)](auto x, auto y) {
      return array::add_in_place(x, array::multiply_in_place(y, static_cast<decltype(y)>(factor)));
    };
  });
  return *this;
}

Array& Array::add_(Scalar value) {
  array::change_in_place(*this, value, [](auto) { return array::add_in_place; });
  return *this;
}

Array& Array::sub_(const Array& other) {
  array::change_in_place(*this, other, [](auto) { return array::subtract_in_place; });
  return *this;
}

Array& Array::mul_(const Array& other) {
  array::change_in_place(*this, other, [](auto) { return array::multiply_in_place; });
  return *this;
}

Array& Array::mul_(Scalar value) {
  array::change_in_place(*this, value, [](auto) { return array::multiply_in_place; });
  return *this;
}

Array& Array::div_(const Array& other) {
  array::require_real_quotient(*this);
  array::change_in_place(*this, other, [](auto) { return array::divide_in_place; });
  return *this;
}

Array& Array::div_(Scalar value) {
  array::require_real_quotient(*this);
  array::change_in_place(*this, value, [](auto) { return array::divide_in_place; });
  return *this;
}

Array& Array::sqrt_() { return copy_(array::sqrt(detach())); }

// The change is made of one pass over both operands and one over this.
Array& Array::addcmul_(const Array& a, const Array& b, double times) { return add_(a * b, times); }
Array& Array::addcdiv_(const Array& a, const Array& b, double times) { return add_(a / b, times); }

Array& Array::clamp_(Scalar low, Scalar high) {
  array::require_changeable(*this);
  array::require_kind(*this, low);
  array::require_kind(*this, high);
  if (array::is_narrow(dtype_)) return copy_(array::clamp(detach(), low, high));
  array::with_computed(dtype_, [&](auto zero) {
    using T = decltype(zero);
    const T least = array::bound_from<T>(low), most = array::bound_from<T>(high);
    array::change_each<T>(*this, [least, most](T x) {
      const T raised = x < least ? least : x;
      return raised > most ? most : raised;
    });
  });
  return *this;
}

Array& Array::masked_fill_(const Array& mask, Scalar value) {
  array::require_changeable(*this);
  static_cast<void>(array::strides_in(mask, shape_));
  Array chosen = mask.detach().to(DType::boolean);
  if (chosen.shares_storage(*this)) chosen = chosen.clone();
  const Array single = array::scalar(value, dtype_);
  array::with_moved(dtype_, [&](auto zero) {
    using T = decltype(zero);
    const array::Walk<2> walk(shape_, {this, &chosen});
    const auto [st, sm] = walk.inner();
    walk.run([&, st = st, sm = sm, number = *array::elements<T>(single)](const auto& at, std::int64_t count) {
      T* const x = array::elements<T>(*this) + at[0];
      const bool* const m = array::elements<bool>(chosen) + at[1];
      if (st == 1 && sm == 1) {
        for (std::int64_t n = 0; n < count; ++n) x[n] = m[n] ? number : x[n];
      } else {
        for (std::int64_t n = 0; n < count; ++n) x[n * st] = m[n * sm] ? number : x[n * st];
      }
    });
  });
  return *this;
}

}  // namespace assay::array

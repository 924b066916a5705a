#pragma once

// Loops over the elements of several arrays of one shape, with any strides: axes that all of them pass alike
// are taken as one, the innermost loop is a plain one, and threads share the rest.

#include <array>
#include <cstdint>
#include <numeric>
#include <span>

#include <assay/array_math.h>
#include "assay/array/types.h"
#include "assay/support/thread_pool.h"

namespace assay::array {

// The shape that both are broadcast to. Throws Error{model} where they do not meet.
Shape broadcast_shape(const Shape& a, const Shape& b);
// Strides of an array that is broadcast to the shape.
Shape strides_in(const Array& array, const Shape& shape);

template <std::size_t N>
class Walk {
 public:
  // Broadcast to the shape.
  Walk(const Shape& shape, const std::array<const Array*, N>& operands) {
    std::array<Shape, N> all;
    for (std::size_t k = 0; k < N; ++k) all[k] = strides_in(*operands[k], shape);
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      if (shape[axis] == 1) continue;
      if (!sizes_.empty() && continues(all, axis, shape[axis])) {
        sizes_.back() *= shape[axis];
        for (std::size_t k = 0; k < N; ++k) strides_[k].back() = all[k][axis];
        continue;
      }
      sizes_.push_back(shape[axis]);
      for (std::size_t k = 0; k < N; ++k) strides_[k].push_back(all[k][axis]);
    }
    if (sizes_.empty()) {
      sizes_.push_back(1);
      for (std::size_t k = 0; k < N; ++k) strides_[k].push_back(0);
    }
    for (std::size_t k = 0; k < N; ++k) inner_[k] = strides_[k].back();
    inner_size_ = sizes_.back();
    rows_ = 1;
    for (std::size_t axis = 0; axis + 1 < sizes_.size(); ++axis) rows_ *= sizes_[axis];
    if (std::find(shape.begin(), shape.end(), 0) != shape.end()) rows_ = 0;
  }

  const std::array<std::int64_t, N>& inner() const { return inner_; }

  // body(offsets in elements, count), for parts of rows, on several threads.
  template <typename Body>
  void run(const Body& body, std::size_t grain = 32768) const {
    if (rows_ == 0) return;
    const auto total = static_cast<std::size_t>(rows_ * inner_size_);
    if (rows_ == 1) {
      split_loop(total, grain, [&](std::size_t begin, std::size_t end) {
        std::array<std::int64_t, N> at;
        for (std::size_t k = 0; k < N; ++k) at[k] = static_cast<std::int64_t>(begin) * inner_[k];
        body(at, static_cast<std::int64_t>(end - begin));
      });
      return;
    }
    const std::size_t rows_each = std::max<std::size_t>(1, grain / static_cast<std::size_t>(inner_size_));
    split_loop(static_cast<std::size_t>(rows_), rows_each, [&](std::size_t begin, std::size_t end) {
      std::array<std::int64_t, N> at{};
      Shape index(sizes_.size() - 1);
      auto rest = static_cast<std::int64_t>(begin);
      for (std::size_t axis = index.size(); axis-- > 0;) {
        index[axis] = rest % sizes_[axis];
        rest /= sizes_[axis];
        for (std::size_t k = 0; k < N; ++k) at[k] += index[axis] * strides_[k][axis];
      }
      for (std::size_t row = begin; row < end; ++row) {
        body(at, inner_size_);
        for (std::size_t axis = index.size(); axis-- > 0;) {
          for (std::size_t k = 0; k < N; ++k) at[k] += strides_[k][axis];
          if (++index[axis] < sizes_[axis]) break;
          index[axis] = 0;
          for (std::size_t k = 0; k < N; ++k) at[k] -= sizes_[axis] * strides_[k][axis];
        }
      }
    });
  }

 private:
  // Whether the axis goes on where the axis before it, so far, steps.
  bool continues(const std::array<Shape, N>& all, std::size_t axis, std::int64_t size) const {
    for (std::size_t k = 0; k < N; ++k) {
      if (strides_[k].back() != all[k][axis] * size) return false;
    }
    return true;
  }

  Shape sizes_;
  std::array<Shape, N> strides_;
  std::array<std::int64_t, N> inner_;
  std::int64_t inner_size_ = 1, rows_ = 1;
};

// out[i] = f(a[i])
template <typename In, typename Out, typename F>
void map_into(Array& out, const Array& a, const F& f, std::size_t grain = 32768) {
  const Walk<2> walk(out.shape(), {&out, &a});
  const auto [so, sa] = walk.inner();
  Out* const to = elements<Out>(out);
  const In* const from = elements<In>(a);
  walk.run(
      [&, so = so, sa = sa](const auto& at, std::int64_t count) {
        Out* const o = to + at[0];
        const In* const i = from + at[1];
        if (so == 1 && sa == 1) {
          for (std::int64_t n = 0; n < count; ++n) o[n] = f(i[n]);
        } else {
          for (std::int64_t n = 0; n < count; ++n) o[n * so] = f(i[n * sa]);
        }
      },
      grain);
}

// out[i] = f(a[i], b[i])
template <typename A, typename B, typename Out, typename F>
void map_into(Array& out, const Array& a, const Array& b, const F& f, std::size_t grain = 32768) {
  const Walk<3> walk(out.shape(), {&out, &a, &b});
  const auto [so, sa, sb] = walk.inner();
  Out* const to = elements<Out>(out);
  const A* const left = elements<A>(a);
  const B* const right = elements<B>(b);
  walk.run(
      [&, so = so, sa = sa, sb = sb](const auto& at, std::int64_t count) {
        Out* const o = to + at[0];
        const A* const x = left + at[1];
        const B* const y = right + at[2];
        if (so == 1 && sa == 1 && sb == 1) {
          for (std::int64_t n = 0; n < count; ++n) o[n] = f(x[n], y[n]);
        } else if (so == 1 && sa == 1 && sb == 0) {
          const B single = *y;
          for (std::int64_t n = 0; n < count; ++n) o[n] = f(x[n], single);
        } else if (so == 1 && sa == 0 && sb == 1) {
          const A single = *x;
          for (std::int64_t n = 0; n < count; ++n) o[n] = f(single, y[n]);
        } else {
          for (std::int64_t n = 0; n < count; ++n) o[n * so] = f(x[n * sa], y[n * sb]);
        }
      },
      grain);
}

// `axis` counted from the front. Throws Error{model} when it is not in [-rank, rank).
std::int64_t axis_of(std::int64_t axis, std::int64_t rank);
// Which axes are meant, in [0, rank): all of them where there are none.
std::vector<bool> chosen_axes(const Shape& axes, std::int64_t rank);

}  // namespace assay::array

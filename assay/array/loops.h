#pragma once

// Loops over the elements of several arrays of one shape, with any strides: axes that all of them pass alike
// are taken as one, the innermost loop is a plain one, and threads share the rest.

#include <array>
#include <cstdint>
#include <functional>
#include <utility>

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
  using Places = std::array<std::int64_t, N>;

  // Broadcast to the shape.
  Walk(const Shape& shape, const std::array<const Array*, N>& operands);

  const Places& inner() const { return inner_; }

  // body(offsets in elements, count), for parts of rows, on several threads.
  template <typename Body>
  void run(const Body& body, std::size_t grain = 32768) const {
    const auto rows_of_body = [&body](Places at, const Places& step, std::int64_t rows, std::int64_t count) {
      for (std::int64_t row = 0; row < rows; ++row) {
        body(std::as_const(at), count);
        for (std::size_t k = 0; k < N; ++k) at[k] += step[k];
      }
    };
    run_rows(std::cref(rows_of_body), grain);
  }

 private:
  // Does (offsets of the first row, offsets from row to row, rows, count). Bodies are many: what is the same
  // for all of them is compiled once for each number of arrays.
  using Rows = std::function<void(const Places&, const Places&, std::int64_t, std::int64_t)>;

  // Whether the axis goes on where the axis before it, so far, steps.
  bool continues(const std::array<Shape, N>& all, std::size_t axis, std::int64_t size) const;
  void run_rows(const Rows& rows, std::size_t grain) const;
  void run_between(const Rows& rows, std::int64_t begin, std::int64_t end) const;

  Shape sizes_;
  std::array<Shape, N> strides_;
  Places inner_;
  std::int64_t inner_size_ = 1, rows_ = 1;
};

extern template class Walk<1>;
extern template class Walk<2>;
extern template class Walk<3>;
extern template class Walk<4>;

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

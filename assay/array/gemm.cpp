// Products of matrices. Parts of both operands are copied to panels that tiles of the result read in order: a
// tile stays in registers while a row of a panel of b and a column of a panel of a pass by for each step of
// k.

#include "assay/array/gemm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "assay/array/gemm.cpp"

#include "assay/array/targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "assay/support/memory.h"
#include "assay/support/thread_pool.h"

#ifndef ASSAY_ARRAY_GEMM_SIZES
#define ASSAY_ARRAY_GEMM_SIZES

namespace assay::array {
namespace {

using Size = std::int64_t;

// What is held packed at a time, so that it stays in a second-level cache. Multiples of every size of a tile.
constexpr Size most_depth = 256, packed_rows = 96;
template <typename T>
constexpr Size packed_columns = 3072 / static_cast<Size>(sizeof(T));
template <typename T>
constexpr Size packed_elements = most_depth*(packed_rows + packed_columns<T>);

// So many steps of k are summed for themselves; equal parts as far as possible.
constexpr Size depth_of(Size k) {
  const Size parts = (k + most_depth - 1) / most_depth;
  return ((k + parts - 1) / parts + 3) / 4 * 4;
}

template <typename T>
struct Product {
  Size m, n, k;
  Matrix<const T> a, b;
  Matrix<T> c;
  bool adds;
  T* workspace;  // packed_elements, aligned
};

}  // namespace
}  // namespace assay::array
#endif

HWY_BEFORE_NAMESPACE();
namespace assay::array::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Accumulators that leave registers for operands: 32 registers with AVX-512 and on ARM, otherwise 16.
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_SSE4
constexpr int most_rows = 4, most_vectors = 2;
#elif HWY_TARGET == HWY_AVX2
constexpr int most_rows = 4, most_vectors = 3;
#else
constexpr int most_rows = 12, most_vectors = 2;
#endif

// A vector that the sizes of tiles are known for: at most 64 bytes.
template <typename T>
using Lanes = hn::CappedTag<T, 64 / sizeof(T)>;
template <typename T>
using Lane = hn::CappedTag<T, 1>;
template <typename T>
HWY_INLINE Size lanes() {
  return static_cast<Size>(hn::Lanes(Lanes<T>()));
}

// So many elements by so many are transposed in registers of 16 bytes.
template <typename T>
constexpr Size square = HWY_TARGET == HWY_SCALAR ? 1 : 16 / sizeof(T);
template <typename T>
using Part = hn::FixedTag<T, static_cast<std::size_t>(square<T>)>;
template <typename T>
using PartOf = hn::Vec<Part<T>>;

// columns[i][j] = from[j * across + i]
#if HWY_TARGET == HWY_SCALAR

template <typename T>
void load_transposed(const T* from, Size, PartOf<T> (&columns)[1]) {
  columns[0] = hn::LoadU(Part<T>(), from);
}

#else

HWY_INLINE void load_transposed(const float* from, Size across, PartOf<float> (&columns)[4]) {
  const Part<float> d;
  const hn::Repartition<std::uint64_t, Part<float>> pairs;
  const auto r0 = hn::LoadU(d, from), r1 = hn::LoadU(d, from + across), r2 = hn::LoadU(d, from + 2 * across),
             r3 = hn::LoadU(d, from + 3 * across);
  const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(d, r0, r1));
  const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(d, r2, r3));
  const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(d, r0, r1));
  const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(d, r2, r3));
  columns[0] = hn::BitCast(d, hn::InterleaveLower(pairs, low01, low23));
  columns[1] = hn::BitCast(d, hn::InterleaveUpper(pairs, low01, low23));
  columns[2] = hn::BitCast(d, hn::InterleaveLower(pairs, high01, high23));
  columns[3] = hn::BitCast(d, hn::InterleaveUpper(pairs, high01, high23));
}

HWY_INLINE void load_transposed(const double* from, Size across, PartOf<double> (&columns)[2]) {
  const Part<double> d;
  const auto r0 = hn::LoadU(d, from), r1 = hn::LoadU(d, from + across);
  columns[0] = hn::InterleaveLower(d, r0, r1);
  columns[1] = hn::InterleaveUpper(d, r0, r1);
}

#endif

template <typename T>
HWY_INLINE void copy(const T* from, Size count, T* to) {
  const Lanes<T> d;
  const Part<T> part;
  Size i = 0;
  for (; i + lanes<T>() <= count; i += lanes<T>()) hn::StoreU(hn::LoadU(d, from + i), d, to + i);
  for (; i + square<T> <= count; i += square<T>) hn::StoreU(hn::LoadU(part, from + i), part, to + i);
  for (; i < count; ++i) to[i] = from[i];
}

// to[p * lead + r] = from[r * across + p * along] for `live` r, and zeros for the others below `lead`.
template <typename T>
void pack(const T* from, Size across, Size along, Size live, Size depth, Size lead, T* to) {
  if (across == 1) {
    for (Size p = 0; p < depth; ++p, to += lead) {
      copy(from + p * along, live, to);
      for (Size r = live; r < lead; ++r) to[r] = 0;
    }
    return;
  }
  Size r = 0;
  for (; along == 1 && r + square<T> <= live; r += square<T>) {
    Size p = 0;
    for (; p + square<T> <= depth; p += square<T>) {
      PartOf<T> columns[square<T>];
      load_transposed(from + r * across + p, across, columns);
#pragma GCC unroll 4
      for (Size i = 0; i < square<T>; ++i) hn::StoreU(columns[i], Part<T>(), to + (p + i) * lead + r);
    }
    for (; p < depth; ++p) {
      for (Size i = r; i < r + square<T>; ++i) to[p * lead + i] = from[i * across + p];
    }
  }
  for (; r < live; ++r) {
    for (Size p = 0; p < depth; ++p) to[p * lead + r] = from[r * across + p * along];
  }
  for (; r < lead; ++r) {
    for (Size p = 0; p < depth; ++p) to[p * lead + r] = 0;
  }
}

// Sums of one part of k arrive in the result.
template <typename T>
void add_row(const T* sums, Size columns, bool adds, T* c) {
  for (Size j = 0; j < columns; ++j) c[j] = adds ? c[j] + sums[j] : sums[j];
}

// Rows and columns of the result that panels of both operands meet in.
template <typename T>
struct Tile {
  Size depth;
  const T *a, *b;
  T* c;
  Size c_row, rows, columns;
  bool adds;
};

template <typename T, int rows, int vectors>
void tile(const Tile<T>& at) {
  const Lanes<T> d;
  const Size width = lanes<T>();
  hn::Vec<Lanes<T>> sums[rows][vectors];
#pragma GCC unroll 12
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 3
    for (int v = 0; v < vectors; ++v) sums[r][v] = hn::Zero(d);
  }
  const T *a = at.a, *b = at.b;
  for (Size p = at.depth; p > 0; --p, a += rows, b += vectors * width) {
    hn::Vec<Lanes<T>> y[vectors];
#pragma GCC unroll 3
    for (int v = 0; v < vectors; ++v) y[v] = hn::Load(d, b + v * width);
#pragma GCC unroll 12
    for (int r = 0; r < rows; ++r) {
      const auto x = hn::Set(d, a[r]);
#pragma GCC unroll 3
      for (int v = 0; v < vectors; ++v) sums[r][v] = hn::MulAdd(x, y[v], sums[r][v]);
    }
  }
  HWY_ALIGN T edge[rows * vectors * 64 / sizeof(T)];
  const bool whole = at.columns == vectors * width;
#pragma GCC unroll 12
  for (int r = 0; r < rows; ++r) {
    T* const to = at.c + r * at.c_row;
#pragma GCC unroll 3
    for (int v = 0; v < vectors; ++v) {
      if (!whole)
        hn::Store(sums[r][v], d, edge + (r * vectors + v) * width);
      else if (r < at.rows)
        hn::StoreU(at.adds ? hn::Add(hn::LoadU(d, to + v * width), sums[r][v]) : sums[r][v], d,
                   to + v * width);
    }
  }
  if (whole) return;
  for (Size r = 0; r < at.rows; ++r)
    add_row(edge + r * vectors * width, at.columns, at.adds, at.c + r * at.c_row);
}

template <typename T, int rows, int vectors = most_vectors>
void tile_of_vectors(const Tile<T>& at) {
  if constexpr (vectors > 1) {
    if (at.columns <= (vectors - 1) * lanes<T>()) return tile_of_vectors<T, rows, vectors - 1>(at);
  }
  tile<T, rows, vectors>(at);
}

// Rows of a panel of so many that are live, with those that make it one that there is a tile for.
constexpr Size padded(Size live) { return live == 1 ? 1 : (live + 3) / 4 * 4; }

template <typename T, int rows = most_rows>
void tile_of_rows(const Tile<T>& at) {
  constexpr int fewer = rows > 4 ? rows - 4 : 1;
  if constexpr (rows > 1) {
    if (at.rows <= fewer) return tile_of_rows<T, fewer>(at);
  }
  tile_of_vectors<T, rows>(at);
}

// Panels of a from `first` on meet all panels of b, from `column` on, that are packed.
template <typename T>
void row_block(const Product<T>& of, Size first, Size from, Size depth, Size column, Size columns,
               bool adds) {
  const Size rows = std::min(packed_rows, of.m - first), wide = most_vectors * lanes<T>();
  T* const b = of.workspace + most_depth * packed_rows;
  for (Size r = 0; r < rows; r += most_rows) {
    const Size live = std::min<Size>(most_rows, rows - r);
    pack(of.a.data + (first + r) * of.a.row + from * of.a.column, of.a.row, of.a.column, live, depth,
         padded(live), of.workspace + r * depth);
  }
  for (Size j = 0; j < columns; j += wide) {
    for (Size r = 0; r < rows; r += most_rows) {
      T* const c = of.c.data + (first + r) * of.c.row + column + j;
      tile_of_rows<T>({depth, of.workspace + r * depth, b + j * depth, c, of.c.row,
                       std::min<Size>(most_rows, rows - r), std::min(wide, columns - j), adds});
    }
  }
}

// One row: sums stay in the nearest cache while rows of b, whose elements lie in order, pass by.
template <typename T>
void single_row(const Product<T>& of) {
  constexpr Size together = 1024;
  const Size depth = depth_of(of.k);
  HWY_ALIGN T sums[together];
  for (Size column = 0; column < of.n; column += together) {
    const Size columns = std::min(together, of.n - column);
    for (Size from = 0; from < of.k; from += depth) {
      std::fill_n(sums, columns, T{0});
      const Size end = std::min(of.k, from + depth);
      const auto pass = [&](auto d, Size begin, Size steps, Size p) HWY_ATTR {
        const auto lanes = static_cast<Size>(hn::Lanes(d));
        const T* const b = of.b.data + p * of.b.row + column;
        const T* const a = of.a.data + p * of.a.column;
        Size j = begin;
        for (; j + lanes <= columns; j += lanes) {
          auto sum = hn::LoadU(d, sums + j);
          for (Size s = 0; s < steps; ++s)
            sum = hn::MulAdd(hn::Set(d, a[s * of.a.column]), hn::LoadU(d, b + s * of.b.row + j), sum);
          hn::StoreU(sum, d, sums + j);
        }
        return j;
      };
      for (Size p = from; p < end; p += 4) {
        const Size steps = std::min<Size>(4, end - p);
        pass(Lane<T>(), pass(Lanes<T>(), 0, steps, p), steps, p);
      }
      add_row(sums, columns, of.adds || from > 0, of.c.data + column);
    }
  }
}

// The same for `columns` of b whose elements lie in order: single numbers, from step `first` of `depth` on.
template <typename T>
HWY_INLINE void add_steps(const Product<T>& of, Size from, Size first, Size depth, Size column, Size columns,
                          T* sums) {
  const Lane<T> d;
  for (Size i = 0; i < columns; ++i) {
    const T* const a = of.a.data + from * of.a.column;
    const T* const b = of.b.data + from + (column + i) * of.b.column;
    auto sum = hn::LoadU(d, sums + i);
    for (Size p = first; p < depth; ++p)
      sum = hn::MulAdd(hn::Set(d, a[p * of.a.column]), hn::LoadU(d, b + p), sum);
    hn::StoreU(sum, d, sums + i);
  }
}

// Parts of several columns, transposed in registers.
template <typename T, int parts>
HWY_INLINE void sum_columns(const Product<T>& of, Size from, Size depth, Size column, T* sums) {
  const Part<T> d;
  const Size across = of.b.column;
  const T* const a = of.a.data + from * of.a.column;
  const T* const b = of.b.data + from + column * across;
  PartOf<T> found[parts];
#pragma GCC unroll 8
  for (int i = 0; i < parts; ++i) found[i] = hn::Zero(d);
  Size p = 0;
  for (; p + square<T> <= depth; p += square<T>) {
#pragma GCC unroll 8
    for (int i = 0; i < parts; ++i) {
      PartOf<T> columns[square<T>];
      load_transposed(b + i * square<T> * across + p, across, columns);
#pragma GCC unroll 4
      for (Size s = 0; s < square<T>; ++s)
        found[i] = hn::MulAdd(hn::Set(d, a[(p + s) * of.a.column]), columns[s], found[i]);
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < parts; ++i) hn::Store(found[i], d, sums + i * square<T>);
  add_steps(of, from, p, depth, column, parts * square<T>, sums);
}

// As many columns at once as there are; how many.
template <typename T, int parts>
Size some_columns(const Product<T>& of, Size column) {
  constexpr Size together = parts * square<T>;
  if constexpr (parts > 1) {
    if (of.n - column < together) return some_columns<T, parts / 2>(of, column);
  }
  // The last ones may be too few for a part: with some before them, which are there already.
  const Size columns = std::min(together, of.n - column),
             begin = std::max<Size>(0, std::min(column, of.n - together));
  const Size depth = depth_of(of.k);
  HWY_ALIGN T sums[together];
  for (Size from = 0; from < of.k; from += depth) {
    const Size steps = std::min(depth, of.k - from);
    if (of.n >= together) {
      sum_columns<T, parts>(of, from, steps, begin, sums);
    } else {
      std::fill_n(sums, columns, T{0});
      add_steps(of, from, Size{0}, steps, begin, columns, sums);
    }
    add_row(sums + (column - begin), columns, of.adds || from > 0, of.c.data + column);
  }
  return columns;
}

template <typename T>
void single_row_by_columns(const Product<T>& of) {
  for (Size column = 0; column < of.n;) column += some_columns<T, 8>(of, column);
}

template <typename T>
void product(const Product<T>& of) {
  if (of.m == 1 && of.b.column == 1) return single_row(of);
  if (of.m == 1 && of.b.row == 1) return single_row_by_columns(of);
  const Size wide = most_vectors * lanes<T>(), most = depth_of(of.k);
  T* const b = of.workspace + most_depth * packed_rows;
  for (Size column = 0; column < of.n; column += packed_columns<T>) {
    const Size columns = std::min(packed_columns<T>, of.n - column);
    for (Size from = 0; from < of.k; from += most) {
      const Size depth = std::min(most, of.k - from);
      for (Size j = 0; j < columns; j += wide) {
        const Size live = std::min(wide, columns - j),
                   lead = (live + lanes<T>() - 1) / lanes<T>() * lanes<T>();
        pack(of.b.data + from * of.b.row + (column + j) * of.b.column, of.b.column, of.b.row, live, depth,
             lead, b + j * depth);
      }
      for (Size row = 0; row < of.m; row += packed_rows)
        row_block(of, row, from, depth, column, columns, of.adds || from > 0);
    }
  }
}

}  // namespace

void product_of_floats(const Product<float>& of) { product(of); }
void product_of_doubles(const Product<double>& of) { product(of); }

}  // namespace assay::array::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::array {
namespace {

HWY_EXPORT(product_of_floats);
HWY_EXPORT(product_of_doubles);

void on_this_thread(const Product<float>& of) { HWY_DYNAMIC_DISPATCH(product_of_floats)(of); }
void on_this_thread(const Product<double>& of) { HWY_DYNAMIC_DISPATCH(product_of_doubles)(of); }

// Kept for the next product of this thread.
template <typename T>
T* workspace_of_thread() {
  thread_local const std::unique_ptr<void, FreeBlock> workspace(
      allocate_block(packed_elements<T> * sizeof(T)));
  return static_cast<T*>(workspace.get());
}

// So many rows or columns of the result, on this thread.
template <typename T>
void multiply_part(Product<T> of, bool by_rows, Size from, Size count) {
  of.workspace = workspace_of_thread<T>();
  if (by_rows) {
    of.m = count;
    of.a.data += from * of.a.row;
    of.c.data += from * of.c.row;
  } else {
    of.n = count;
    of.b.data += from * of.b.column;
    of.c.data += from;
  }
  on_this_thread(of);
}

// Threads take rows or columns, of which there are more.
template <typename T>
void multiply_on_threads(const Product<T>& of) {
  constexpr Size rows_each = 12, columns_each = 128 / sizeof(T);
  constexpr double work_each = 1 << 18;
  const bool by_rows = of.m / rows_each > of.n / columns_each;
  const Size each = by_rows ? rows_each : columns_each, count = by_rows ? of.m : of.n;
  const Size blocks = (count + each - 1) / each;
  const double work = static_cast<double>(of.m) * of.n * static_cast<double>(of.k);
  if (blocks < 2 || work < 2 * work_each) return multiply_part(of, by_rows, 0, count);
  const double blocks_each = 1 + work_each * blocks / work;
  split_loop(static_cast<std::size_t>(blocks), static_cast<std::size_t>(blocks_each),
             [&](std::size_t begin, std::size_t end) {
               const Size from = static_cast<Size>(begin) * each;
               multiply_part(of, by_rows, from, std::min(count, static_cast<Size>(end) * each) - from);
             });
}

template <typename T>
void multiply(Product<T> of) {
  if (of.m == 0 || of.n == 0) return;
  if (of.k == 0) {
    for (Size r = 0; r < of.m && !of.adds; ++r) std::fill_n(of.c.data + r * of.c.row, of.n, T{0});
    return;
  }
  if (of.n == 1 && of.m > 1 && of.c.row == 1) {  // a single row is the quicker one
    std::swap(of.m, of.n);
    const Matrix<const T> a = of.a;
    of.a = {of.b.data, of.b.column, of.b.row};
    of.b = {a.data, a.column, a.row};
  }
  multiply_on_threads(of);
}

}  // namespace

void gemm(std::int64_t m, std::int64_t n, std::int64_t k, Matrix<const float> a, Matrix<const float> b,
          Matrix<float> c, bool adds) {
  multiply<float>({m, n, k, a, b, c, adds, nullptr});
}

void gemm(std::int64_t m, std::int64_t n, std::int64_t k, Matrix<const double> a, Matrix<const double> b,
          Matrix<double> c, bool adds) {
  multiply<double>({m, n, k, a, b, c, adds, nullptr});
}

}  // namespace assay::array
#endif

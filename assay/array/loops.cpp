#include "assay/array/loops.h"

#include <algorithm>

namespace assay::array {

template <std::size_t N>
Walk<N>::Walk(const Shape& shape, const std::array<const Array*, N>& operands) {
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
  for (std::size_t axis = 0; axis + 1 < sizes_.size(); ++axis) rows_ *= sizes_[axis];
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) rows_ = 0;
}

template <std::size_t N>
bool Walk<N>::continues(const std::array<Shape, N>& all, std::size_t axis, std::int64_t size) const {
  for (std::size_t k = 0; k < N; ++k) {
    if (strides_[k].back() != all[k][axis] * size) return false;
  }
  return true;
}

template <std::size_t N>
void Walk<N>::run_rows(const Rows& rows, std::size_t grain) const {
  if (rows_ == 0) return;
  if (rows_ == 1) {
    split_loop(static_cast<std::size_t>(inner_size_), grain, [&](std::size_t begin, std::size_t end) {
      Places at;
      for (std::size_t k = 0; k < N; ++k) at[k] = static_cast<std::int64_t>(begin) * inner_[k];
      rows(at, inner_, 1, static_cast<std::int64_t>(end - begin));
    });
    return;
  }
  const std::size_t rows_each = std::max<std::size_t>(1, grain / static_cast<std::size_t>(inner_size_));
  split_loop(static_cast<std::size_t>(rows_), rows_each, [&](std::size_t begin, std::size_t end) {
    run_between(rows, static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end));
  });
}

// As many rows at once as lie along the axis before the innermost.
template <std::size_t N>
void Walk<N>::run_between(const Rows& rows, std::int64_t begin, std::int64_t end) const {
  Places at{}, step;
  Shape index(sizes_.size() - 1);
  std::int64_t rest = begin;
  for (std::size_t axis = index.size(); axis-- > 0;) {
    index[axis] = rest % sizes_[axis];
    rest /= sizes_[axis];
    for (std::size_t k = 0; k < N; ++k) at[k] += index[axis] * strides_[k][axis];
  }
  const std::size_t last = index.size() - 1;
  for (std::size_t k = 0; k < N; ++k) step[k] = strides_[k][last];
  for (std::int64_t row = begin; row < end;) {
    const std::int64_t count = std::min(end - row, sizes_[last] - index[last]);
    rows(at, step, count, inner_size_);
    row += count;
    index[last] += count;
    for (std::size_t k = 0; k < N; ++k) at[k] += count * step[k];
    for (std::size_t axis = last; axis > 0 && index[axis] == sizes_[axis]; --axis) {
      index[axis] = 0;
      ++index[axis - 1];
      for (std::size_t k = 0; k < N; ++k) at[k] += strides_[k][axis - 1] - sizes_[axis] * strides_[k][axis];
    }
  }
}

template class Walk<1>;
template class Walk<2>;
template class Walk<3>;
template class Walk<4>;

}  // namespace assay::array

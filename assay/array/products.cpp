// Products of matrices and batches of them.

#include <algorithm>
#include <type_traits>

#include "assay/array/gemm.h"
#include "assay/array/loops.h"
#include "assay/array/tape.h"

namespace assay::array {
namespace {

// Integers wrap around.
template <typename T>
void whole_product(std::int64_t m, std::int64_t n, std::int64_t k, Matrix<const T> a, Matrix<const T> b,
                   Matrix<T> c, bool adds) {
  using U = std::make_unsigned_t<T>;
  const std::size_t grain = 1 + 32768 / std::max<std::int64_t>(1, n * k);
  split_loop(m, grain, [&](std::size_t begin, std::size_t end) {
    for (std::int64_t r = begin; r < static_cast<std::int64_t>(end); ++r) {
      T* const to = c.data + r * c.row;
      if (!adds) std::fill_n(to, n, T{0});
      for (std::int64_t p = 0; p < k; ++p) {
        const auto x = static_cast<U>(a.data[r * a.row + p * a.column]);
        const T* const y = b.data + p * b.row;
        for (std::int64_t j = 0; j < n; ++j)
          to[j] = static_cast<T>(
              static_cast<U>(static_cast<U>(to[j]) + static_cast<U>(x * static_cast<U>(y[j * b.column]))));
      }
    }
  });
}

template <typename T>
void product_of(std::int64_t m, std::int64_t n, std::int64_t k, Matrix<const T> a, Matrix<const T> b,
                Matrix<T> c, bool adds) {
  if constexpr (std::is_integral_v<T>)
    whole_product(m, n, k, a, b, c, adds);
  else
    gemm(m, n, k, a, b, c, adds);
}

// The last two axes.
template <typename T>
Matrix<const T> matrix_in(const Array& array, std::int64_t offset) {
  return {elements<T>(array) + offset, array.stride(-2), array.stride(-1)};
}

Shape axes_before(const Shape& shape, std::size_t last) { return Shape(shape.begin(), shape.end() - last); }

// Where the matrices of an operand lie that is broadcast to a batch.
class Places {
 public:
  Places(const Array& array, const Shape& batch) : batch_(batch), strides_(batch.size(), 0) {
    const std::size_t own = array.shape().size() - 2;
    for (std::size_t i = 0; i < own; ++i) {
      if (array.shape()[own - 1 - i] != 1) strides_[batch.size() - 1 - i] = array.strides()[own - 1 - i];
    }
  }

  std::int64_t of(std::int64_t position) const {
    std::int64_t offset = 0;
    for (std::size_t axis = batch_.size(); axis-- > 0;) {
      offset += position % batch_[axis] * strides_[axis];
      position /= batch_[axis];
    }
    return offset;
  }

 private:
  const Shape& batch_;
  Shape strides_;
};

// out[i] = a[i] b[i], or out[i] + a[i] b[i]. REQUIRES that out is contiguous.
template <typename T>
void multiply_matrices(Array& out, const Array& a, const Array& b, bool adds) {
  const Shape batch = axes_before(out.shape(), 2);
  const Places of_a(a, batch), of_b(b, batch);
  const std::int64_t m = out.size(-2), n = out.size(-1), k = a.size(-1), count = element_count(batch);
  const auto one = [&](std::int64_t i) {
    product_of<T>(m, n, k, matrix_in<T>(a, of_a.of(i)), matrix_in<T>(b, of_b.of(i)),
                  {elements<T>(out) + i * m * n, n, 1}, adds);
  };
  // Small products share threads as a batch, large ones each take them all.
  constexpr double large = 1 << 22, least = 1 << 18;
  const double work = static_cast<double>(m) * n * k;
  if (work >= large || static_cast<std::size_t>(count) < loop_threads()) {
    for (std::int64_t i = 0; i < count; ++i) one(i);
    return;
  }
  const auto grain = static_cast<std::size_t>(1 + least / std::max(work, 1.0));
  split_loop(count, grain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) one(i);
  });
}

[[noreturn]] void refuse_product(const Array& a, const Array& b) {
  fail(Fault::model, "shapes {} and {} do not meet in a product of matrices", to_string(a.shape()),
       to_string(b.shape()));
}

void require_types_of_product(const Array& a, const Array& b) {
  if (a.dtype() != b.dtype())
    fail(Fault::model, "a product of matrices of {} and {}: both must be of one type", to_string(a.dtype()),
         to_string(b.dtype()));
  if (a.dtype() == DType::boolean) fail(Fault::unsupported, "truth values are not multiplied as matrices");
}

void multiply_into(Array& out, const Array& a, const Array& b, bool adds) {
  with_number(out.dtype(), [&](auto zero) { multiply_matrices<decltype(zero)>(out, a, b, adds); });
}

// [..., m, k] by [..., k, n].
Array batched_product(const Array& a, const Array& b) {
  require_types_of_product(a, b);
  if (is_narrow(a.dtype()))
    return computed_wide(a, [&](const Array& wide) { return batched_product(wide, widened(b)); });
  if (a.size(-1) != b.size(-2)) refuse_product(a, b);
  Shape shape = broadcast_shape(axes_before(a.shape(), 2), axes_before(b.shape(), 2));
  shape.push_back(a.size(-2));
  shape.push_back(b.size(-1));
  Array out = Array::uninitialised(a.dtype(), std::move(shape));
  multiply_into(out, a, b, false);
  if (!records(a, b)) return out;
  return recorded_one(
      std::move(out), {a, b},
      [x = a.detach(), y = b.detach()](const Array& g, const std::vector<bool>& wanted) -> Arrays {
        return {wanted[0] ? sum_to(batched_product(g, y.transpose(-1, -2)), x.shape()) : Array(),
                wanted[1] ? sum_to(batched_product(x.transpose(-1, -2), g), y.shape()) : Array()};
      });
}

void require_rank_of_operand(const Array& array, std::int64_t rank, const Array& a, const Array& b) {
  if (array.rank() != rank) refuse_product(a, b);
}

// The same rows in one matrix.
Array rows_of(const Array& a) { return a.reshape({element_count(axes_before(a.shape(), 1)), a.size(-1)}); }

Array with_last_axis(const Array& result, const Array& rows_from) {
  Shape shape = axes_before(rows_from.shape(), 1);
  shape.push_back(result.size(-1));
  return result.reshape(std::move(shape));
}

}  // namespace

Array mm(const Array& a, const Array& b) {
  require_rank_of_operand(a, 2, a, b);
  require_rank_of_operand(b, 2, a, b);
  return batched_product(a, b);
}

Array bmm(const Array& a, const Array& b) {
  require_rank_of_operand(a, 3, a, b);
  require_rank_of_operand(b, 3, a, b);
  if (a.size(0) != b.size(0)) refuse_product(a, b);
  return batched_product(a, b);
}

Array mv(const Array& a, const Array& b) {
  require_rank_of_operand(a, 2, a, b);
  require_rank_of_operand(b, 1, a, b);
  return batched_product(a, b.unsqueeze(1)).select(1, 0);
}

Array matmul(const Array& a, const Array& b) {
  if (a.rank() == 0 || b.rank() == 0) refuse_product(a, b);
  if (a.rank() == 1) return matmul(a.unsqueeze(0), b).select(b.rank() == 1 ? 0 : -2, 0);
  if (b.rank() == 1) return matmul(a, b.unsqueeze(1)).select(-1, 0);
  // One matrix on the right meets the rows of all on the left at once.
  if (a.rank() > 2 && b.rank() == 2) return with_last_axis(batched_product(rows_of(a), b), a);
  return batched_product(a, b);
}

Array addmm(const Array& c, const Array& a, const Array& b) {
  require_rank_of_operand(a, 2, a, b);
  require_rank_of_operand(b, 2, a, b);
  require_types_of_product(a, b);
  require_types_of_product(a, c);
  if (is_narrow(a.dtype()))
    return computed_wide(a, [&](const Array& wide) { return addmm(widened(c), wide, widened(b)); });
  if (a.size(1) != b.size(0)) refuse_product(a, b);
  Array out = Array::uninitialised(a.dtype(), {a.size(0), b.size(1)});
  with_number(a.dtype(), [&](auto zero) {
    map_into<decltype(zero), decltype(zero)>(out, c, [](auto value) { return value; });
  });
  multiply_into(out, a, b, true);
  if (!records(a, b, c)) return out;
  return recorded_one(std::move(out), {c, a, b},
                      [shape = c.shape(), x = a.detach(), y = b.detach()](
                          const Array& g, const std::vector<bool>& wanted) -> Arrays {
                        return {wanted[0] ? sum_to(g, shape) : Array(), wanted[1] ? mm(g, y.t()) : Array(),
                                wanted[2] ? mm(x.t(), g) : Array()};
                      });
}

Array linear(const Array& a, const Array& weight, const Array& bias) {
  if (a.rank() == 0 || weight.rank() == 0 || weight.rank() > 2) refuse_product(a, weight);
  if (!bias.defined() || weight.rank() == 1) {
    if (is_narrow(a.dtype()) && bias.defined())
      return computed_wide(a,
                           [&](const Array& wide) { return linear(wide, widened(weight), widened(bias)); });
    const Array product = matmul(a, weight.t());
    return bias.defined() ? product + bias : product;
  }
  return with_last_axis(addmm(bias, rows_of(a), weight.t()), a);
}

}  // namespace assay::array

#pragma once

// Products of matrices, packed and vectorised: for dense layers, convolutions and attention.

#include <cstdint>

namespace assay::array {

// A matrix in memory: element (r, c) lies at data[r * row + c * column].
template <typename T>
struct Matrix {
  T* data = nullptr;
  std::int64_t row = 0, column = 1;
};

// c[m, n] = a[m, k] b[k, n], or c + a b with `adds`. Each element is summed in the order of k, in one way
// that depends on k alone: not on m, n, strides or the number of threads. On loop_threads() threads. c must
// have column == 1.
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, Matrix<const float> a, Matrix<const float> b,
          Matrix<float> c, bool adds);
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, Matrix<const double> a, Matrix<const double> b,
          Matrix<double> c, bool adds);

}  // namespace assay::array

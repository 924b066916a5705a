#pragma once

// Dense float64 matrix work in blocks that stay in cache: products of rows and Cholesky factors. Each element
// is a sum in one fixed order, so that the number of threads does not change a bit.

#include <cstddef>
#include <vector>

namespace assay::inline support {

// Rows of a matrix rearranged for products: `width` rows side by side, zeros where there are none.
class Panels {
 public:
  static constexpr std::size_t width = 16;
  Panels(std::size_t rows, std::size_t depth)
      : rows_(rows), depth_(depth), values_((rows + width - 1) / width * width * depth, 0.0) {}

  std::size_t rows() const { return rows_; }
  std::size_t depth() const { return depth_; }
  std::size_t count() const { return (rows_ + width - 1) / width; }
  double& at(std::size_t row, std::size_t k) {
    return values_[(row / width * depth_ + k) * width + row % width];
  }
  const double* panel(std::size_t i) const { return values_.data() + i * depth_ * width; }
  // Of each row, over ascending k.
  std::vector<double> sums() const;

 private:
  std::size_t rows_, depth_;
  std::vector<double> values_;
};

// c[i * stride + j] += factor * (row i . row j) for j <= i < rows. O(rows^2 depth / 2).
void add_own_products(const Panels& rows, double factor, double* c, std::size_t stride, std::size_t threads);

// Replaces the lower triangle of the symmetric n x n matrix by its Cholesky factor and the rest by zeros;
// returns false, leaving rubbish, when the matrix is singular to working precision. O(n^3 / 3).
bool factorise(std::vector<double>& matrix, std::size_t n, std::size_t threads);

}  // namespace assay::inline support

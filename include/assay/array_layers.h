#pragma once

// Building blocks of layers: products, convolutions, pools and norms. Part of <assay/array_math.h>.

#include <span>
#include <string_view>

#include <assay/array_math.h>

namespace assay::array {

// Products.
Array matmul(const Array&a, const Array&b), mm(const Array&a, const Array&b),
    bmm(const Array&a, const Array&b), mv(const Array&a, const Array&b),
    addmm(const Array&c, const Array&a, const Array&b),
    linear(const Array&a, const Array&weight, const Array&bias = {});
Array einsum(std::string_view equation, std::span<const Array> operands), det(const Array&a);

// Over one, two or three spatial axes of [n, channels, ...]; one entry an axis.
struct Convolution {
  Shape stride, padding, dilation, output_padding;
  bool transposed = false;
  std::int64_t groups = 1;
};
Array convolution(const Array& a, const Array& filter, const Array& bias, const Convolution& how);
struct Pooling {
  Shape kernel, stride, padding, dilation;
  bool ceil = false, count_padding = false;
};
Sorted max_pool(const Array& a, const Pooling& how);  // positions within a plane
Array avg_pool(const Array& a, const Pooling& how);
enum class Interpolation { nearest, bilinear, bicubic };
enum class Outside { zeros, border, reflection };
Array grid_sample(const Array&a, const Array&grid, Interpolation mode, Outside outside, bool align_corners),
    affine_grid(const Array&theta, const Shape&size, bool align_corners);

// Mean 0 and variance 1: over all axes but the second; over the last axes; over groups of channels.
struct Normalised {
  Array result, mean, variance;
};
Normalised batch_norm(const Array& a, const Array& scale, const Array& shift,
                      double epsilon);  // of the batch itself
Array batch_norm(const Array&a, const Array&scale, const Array&shift, const Array&mean, const Array&variance,
                 double epsilon),
    layer_norm(const Array&a, std::int64_t axes, const Array&scale, const Array&shift, double epsilon),
    group_norm(const Array&a, std::int64_t groups, const Array&scale, const Array&shift, double epsilon);

}  // namespace assay::array

#pragma once

// Steps and balls in the norms that attacks are bounded by. Tensors have one row per record; lengths are per
// record.

#include <string>
#include <vector>

#include <assay/tensor.h>

namespace assay::attack {

enum class Norm { linf, l2, l1 };

// "linf", "l2", "l1".
const std::vector<std::string>& norm_names();
Norm norm_named(const std::string& name);

// The step of length 1 that raises a function with this gradient most, however short the gradient is: its
// sign, the gradient over its length, or in L1 the sign shared equally by the elements of greatest size. A
// gradient of zero gives no step.
Tensor steepest(const Tensor& gradient, Norm norm);

// Each record over its length in the norm l1 or l2, and that length [n] in float64; zeros stay.
struct Unit {
  Tensor direction, length;
};
Unit unit_of(const Tensor& gradient, Norm norm);

// `step` times a direction from a point on, clipped to [0, 1].
Tensor stepped(const Tensor& from, const Tensor& direction, double step);

// `change` cut down to length `eps`: element by element (linf), or scaled (l2). REQUIRES norm is not l1.
Tensor project(const Tensor& change, Norm norm, double eps);

// [n] lengths in float64.
Tensor l2_lengths(const Tensor& change);

}  // namespace assay::attack

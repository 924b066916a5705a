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

// The step of length 1 that raises a function with this gradient most, for a gradient of any length: its
// sign, the gradient over its length, or in L1 the sign shared equally by the elements of greatest size. A
// gradient of zero gives no step.
Array steepest(const Array& gradient, Norm norm);

// Each record over its length in the norm l1 or l2, and that length [n] in float64; zeros stay.
struct Unit {
  Array direction, length;
};
Unit unit_of(const Array& gradient, Norm norm);

// `step` times a direction from a point on, clipped to [0, 1].
Array stepped(const Array& from, const Array& direction, double step);

// `change` cut down to length `eps`: element by element (linf), or scaled (l2). REQUIRES norm is not l1.
Array project(const Array& change, Norm norm, double eps);

// Whether elements are float32 and lie one after the other: what plain loops read.
bool floats_in_order(const Array& array);

}  // namespace assay::attack

// Methods of Array that are functions of array_math.h as well.

#include <assay/array_math.h>

namespace assay::array {

Array Array::abs() const { return array::abs(*this); }
Array Array::neg() const { return array::neg(*this); }
Array Array::sign() const { return array::sign(*this); }
Array Array::square() const { return array::square(*this); }
Array Array::sqrt() const { return array::sqrt(*this); }
Array Array::exp() const { return array::exp(*this); }
Array Array::log() const { return array::log(*this); }
Array Array::log1p() const { return array::log1p(*this); }
Array Array::tanh() const { return array::tanh(*this); }
Array Array::sigmoid() const { return array::sigmoid(*this); }
Array Array::round() const { return array::round(*this); }
Array Array::floor() const { return array::floor(*this); }
Array Array::isnan() const { return array::isnan(*this); }
Array Array::isfinite() const { return array::isfinite(*this); }
Array Array::logical_not() const { return array::logical_not(*this); }

Array Array::eq(const Array& other) const { return array::eq(*this, other); }
Array Array::ne(const Array& other) const { return array::ne(*this, other); }
Array Array::lt(const Array& other) const { return array::lt(*this, other); }
Array Array::le(const Array& other) const { return array::le(*this, other); }
Array Array::gt(const Array& other) const { return array::gt(*this, other); }
Array Array::ge(const Array& other) const { return array::ge(*this, other); }
Array Array::logical_and(const Array& other) const { return array::logical_and(*this, other); }
Array Array::logical_or(const Array& other) const { return array::logical_or(*this, other); }
Array Array::eq(Scalar value) const { return *this == value; }
Array Array::ne(Scalar value) const { return *this != value; }
Array Array::lt(Scalar value) const { return *this < value; }
Array Array::le(Scalar value) const { return *this <= value; }
Array Array::gt(Scalar value) const { return *this > value; }
Array Array::ge(Scalar value) const { return *this >= value; }
Array Array::clamp(Scalar low, Scalar high) const { return array::clamp(*this, low, high); }
Array Array::clamp_min(Scalar low) const { return array::clamp_min(*this, low); }
Array Array::clamp_max(Scalar high) const { return array::clamp_max(*this, high); }
Array Array::pow(Scalar exponent) const { return array::pow(*this, exponent); }
Array Array::masked_fill(const Array& mask, Scalar value) const {
  return array::masked_fill(*this, mask, value);
}

Array Array::sum() const { return array::sum(*this); }
Array Array::mean() const { return array::mean(*this); }
Array Array::amax() const { return array::amax(*this); }
Array Array::amin() const { return array::amin(*this); }
Array Array::max() const { return array::amax(*this); }
Array Array::min() const { return array::amin(*this); }
Array Array::any() const { return array::any(*this); }
Array Array::all() const { return array::all(*this); }
Array Array::sum(const Shape& axes, bool keep) const { return array::sum(*this, axes, keep); }
Array Array::mean(const Shape& axes, bool keep) const { return array::mean(*this, axes, keep); }
Array Array::amax(const Shape& axes, bool keep) const { return array::amax(*this, axes, keep); }
Array Array::amin(const Shape& axes, bool keep) const { return array::amin(*this, axes, keep); }
Array Array::sum(std::int64_t axis, bool keep) const { return array::sum(*this, {axis}, keep); }
Array Array::mean(std::int64_t axis, bool keep) const { return array::mean(*this, {axis}, keep); }
Array Array::amax(std::int64_t axis, bool keep) const { return array::amax(*this, {axis}, keep); }
Array Array::amin(std::int64_t axis, bool keep) const { return array::amin(*this, {axis}, keep); }
Array Array::any(std::int64_t axis, bool keep) const { return array::any(*this, {axis}, keep); }
Array Array::all(std::int64_t axis, bool keep) const { return array::all(*this, {axis}, keep); }
Array Array::argmax(std::int64_t axis, bool keep) const { return array::argmax(*this, axis, keep); }
Array Array::argmin(std::int64_t axis, bool keep) const { return array::argmin(*this, axis, keep); }
bool Array::equal(const Array& other) const { return array::equal(*this, other); }

Array Array::index_select(std::int64_t axis, const Array& positions) const {
  return array::index_select(*this, axis, positions);
}
Array Array::gather(std::int64_t axis, const Array& positions) const {
  return array::gather(*this, axis, positions);
}

}  // namespace assay::array

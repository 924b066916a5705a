// Functions of vectors of float32, for every instruction set: to be included after hwy/foreach_target.h,
// hence the unusual guard. Highway's own leave NaN and what lies beyond their range to the caller; these do
// not.

#if defined(ASSAY_ARRAY_VECTOR_FUNCTIONS) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_ARRAY_VECTOR_FUNCTIONS
#undef ASSAY_ARRAY_VECTOR_FUNCTIONS
#else
#define ASSAY_ARRAY_VECTOR_FUNCTIONS
#endif

#include <hwy/highway.h>
// After it.
#include <hwy/contrib/math/math-inl.h>

#include <limits>

HWY_BEFORE_NAMESPACE();
namespace assay::array::vectors::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// The number in every lane of a vector like x.
template <class V>
HWY_INLINE V number(V, double value) {
  return hn::Set(hn::DFromV<V>(), static_cast<float>(value));
}
template <class V>
HWY_INLINE V keeping_nan(V x, V result) {
  return hn::IfThenElse(hn::IsNaN(x), x, result);
}
template <class V>
HWY_INLINE V exponential(V x) {
  const hn::DFromV<V> d;
  const V greatest = number(x, 88.72283), infinity = number(x, std::numeric_limits<double>::infinity());
  // Below this the result is 1, and powers would be subnormal numbers, which take a hundred cycles each.
  const V telling = hn::IfThenElseZero(hn::Gt(hn::Abs(x), number(x, 1e-9)), hn::Min(x, greatest));
  const V result = hn::IfThenElse(hn::Gt(x, greatest), infinity, hn::Exp(d, telling));
  return keeping_nan(x, result);
}
template <class V>
HWY_INLINE V exponential_less_one(V x) {
  const hn::DFromV<V> d;
  const V far = number(x, 80);
  return hn::IfThenElse(hn::Gt(x, far), exponential(x), keeping_nan(x, hn::Expm1(d, hn::Min(x, far))));
}
template <class V>
HWY_INLINE V logarithm(V x) {
  const hn::DFromV<V> d;
  const V infinity = number(x, std::numeric_limits<double>::infinity()), zero = hn::Zero(d);
  V result = hn::Log(d, x);
  result = hn::IfThenElse(hn::Eq(x, zero), hn::Neg(infinity), result);
  result = hn::IfThenElse(hn::Eq(x, infinity), infinity, result);
  result = hn::IfThenElse(hn::Lt(x, zero), number(x, std::numeric_limits<double>::quiet_NaN()), result);
  return keeping_nan(x, result);
}
template <class V>
HWY_INLINE V logistic(V x) {
  const V one = number(x, 1);
  return hn::Div(one, hn::Add(one, exponential(hn::Neg(x))));
}
template <class V>
HWY_INLINE V hyperbolic_tangent(V x) {
  const hn::DFromV<V> d;
  return keeping_nan(x, hn::Tanh(d, hn::Min(hn::Max(x, number(x, -20)), number(x, 20))));
}
// erf: its power series up to 1/2, then 1 - t p(t) exp(-x^2) with t = 1 / (1 + x/2), p fitted to erfc at
// Chebyshev nodes from 0.45 to 4.2. Within 1.6e-7 of the function.
template <class V>
HWY_INLINE V error_function(V x) {
  const V one = number(x, 1), size = hn::Abs(x), square = hn::Mul(x, x);
  V series = number(x, 1.0 / 9360);
  for (const double c : {-1.0 / 1320, 1.0 / 216, -1.0 / 42, 1.0 / 10, -1.0 / 3, 1.0})
    series = hn::MulAdd(series, square, number(x, c));
  series = hn::Mul(hn::Mul(x, number(x, 1.1283791670955126)), series);
  const V t = hn::Div(one, hn::MulAdd(size, number(x, 0.5), one));
  V fitted = number(x, 0.0112248812);
  for (const double c :
       {0.0598967083, -0.339863618, 0.403683231, 0.0137228419, 0.294147745, 0.274628425, 0.282591799})
    fitted = hn::MulAdd(fitted, t, number(x, c));
  const V rest = hn::Mul(hn::Mul(t, fitted), exponential(hn::Neg(square)));
  const V far = hn::CopySign(hn::Sub(one, rest), x);
  return keeping_nan(x, hn::IfThenElse(hn::Lt(size, number(x, 0.5)), series, far));
}
// The share of a normal distribution below x.
template <class V>
HWY_INLINE V normal_below(V x) {
  return hn::Mul(number(x, 0.5),
                 hn::Add(number(x, 1), error_function(hn::Mul(x, number(x, 0.70710678118654752)))));
}
// log(1 + exp(x)) = max(x, 0) + log(1 + exp(-|x|))
template <class V>
HWY_INLINE V soft_plus(V x) {
  const hn::DFromV<V> d;
  const V over = hn::Log1p(d, exponential(hn::Neg(hn::Abs(x))));
  return hn::Add(hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Zero(d), x), keeping_nan(x, over));
}

}  // namespace assay::array::vectors::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif

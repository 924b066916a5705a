// Functions of single elements and of pairs, and softmax.

#include "assay/engine/lanes/kernels.h"

#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "assay/engine/lanes/kernels_elementwise.cpp"
#include "assay/array/targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "assay/array/vector_functions.h"

HWY_BEFORE_NAMESPACE();
namespace assay::lanes::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Lanes16 = hn::CappedTag<float, width>;
using Vec = hn::Vec<Lanes16>;

HWY_INLINE Vec number(double value) { return hn::Set(Lanes16(), static_cast<float>(value)); }

using array::vectors::HWY_NAMESPACE::error_function;
using array::vectors::HWY_NAMESPACE::exponential;
using array::vectors::HWY_NAMESPACE::exponential_less_one;
using array::vectors::HWY_NAMESPACE::hyperbolic_tangent;
using array::vectors::HWY_NAMESPACE::keeping_nan;
using array::vectors::HWY_NAMESPACE::logarithm;
using array::vectors::HWY_NAMESPACE::logistic;
using array::vectors::HWY_NAMESPACE::normal_below;
using array::vectors::HWY_NAMESPACE::soft_plus;
constexpr double gelu_cubic = 0.044715, gelu_gradient = 0.79788456080286536;  // sqrt(2 / pi)
HWY_INLINE Vec tangent_of_gelu(Vec x) {
  const Vec cubic = hn::MulAdd(hn::Mul(hn::Mul(x, x), number(gelu_cubic)), x, x);
  return hyperbolic_tangent(hn::Mul(number(gelu_gradient), cubic));
}
// Bounds that keep a NaN.
HWY_INLINE Vec at_least(Vec x, Vec low) { return hn::IfThenElse(hn::Lt(x, low), low, x); }
HWY_INLINE Vec at_most(Vec x, Vec high) { return hn::IfThenElse(hn::Gt(x, high), high, x); }

// Not yet within the range of the type.
HWY_INLINE Vec whole_number_of(const UnaryFunction& f, Vec x) {
  const Lanes16 d;
  return hn::Add(hn::Round(hn::Div(x, hn::Set(d, f.alpha))), hn::Set(d, f.beta));
}
HWY_INLINE Vec quantised(const UnaryFunction& f, Vec x) {
  const Lanes16 d;
  return at_most(at_least(whole_number_of(f, x), hn::Set(d, f.low)), hn::Set(d, f.high));
}
// As if it did not round.
HWY_INLINE Vec derivative_of_quantised(const UnaryFunction& f, Vec x, float inside) {
  const Lanes16 d;
  const Vec whole = whole_number_of(f, x);
  const auto outside = hn::Or(hn::Lt(whole, hn::Set(d, f.low)), hn::Gt(whole, hn::Set(d, f.high)));
  return hn::IfThenElse(outside, hn::Zero(d), hn::Set(d, inside));
}

constexpr double selu_alpha = 1.67326319217681884765625, selu_gamma = 1.05070102214813232421875;

HWY_INLINE Vec value_of(const UnaryFunction& f, Vec x) {
  const Lanes16 d;
  const Vec zero = hn::Zero(d), alpha = hn::Set(d, f.alpha), beta = hn::Set(d, f.beta);
  switch (f.kind) {
    case Unary::absolute:
      return hn::Abs(x);
    case Unary::arc_tangent:
      return keeping_nan(x, hn::Atan(d, x));
    case Unary::clip:
      return at_most(at_least(x, alpha), beta);
    case Unary::cube:
      return hn::Mul(hn::Mul(x, x), x);
    case Unary::dequantise:
      return hn::Mul(hn::Sub(x, beta), alpha);
    case Unary::elu:
      return hn::IfThenElse(hn::Lt(x, zero), hn::Mul(alpha, exponential_less_one(x)), x);
    case Unary::error:
      return error_function(x);
    case Unary::exponential:
      return exponential(x);
    case Unary::gelu:
      return hn::Mul(x, normal_below(x));
    case Unary::gelu_by_tanh:
      return hn::Mul(hn::Mul(number(0.5), x), hn::Add(number(1), tangent_of_gelu(x)));
    case Unary::hard_sigmoid:
      return at_most(at_least(hn::MulAdd(alpha, x, beta), zero), number(1));
    case Unary::hard_swish:
      return hn::Mul(x, at_most(at_least(hn::MulAdd(number(1.0 / 6), x, number(0.5)), zero), number(1)));
    case Unary::leaky:
      return hn::IfThenElse(hn::Lt(x, zero), hn::Mul(alpha, x), x);
    case Unary::logarithm:
      return logarithm(x);
    case Unary::mish:
      return hn::Mul(x, hyperbolic_tangent(soft_plus(x)));
    case Unary::negate:
      return hn::Neg(x);
    case Unary::quantise:
      return quantised(f, x);
    case Unary::reciprocal:
      return hn::Div(number(1), x);
    case Unary::rectify:
      return at_least(x, zero);
    case Unary::selu:
      return hn::Mul(
          number(selu_gamma),
          hn::IfThenElse(hn::Gt(x, zero), x, hn::Mul(number(selu_alpha), exponential_less_one(x))));
    case Unary::sigmoid:
      return logistic(x);
    case Unary::softplus:
      return soft_plus(x);
    case Unary::softsign:
      return hn::Div(x, hn::Add(number(1), hn::Abs(x)));
    case Unary::square:
      return hn::Mul(x, x);
    case Unary::square_root:
      return hn::Sqrt(x);
    case Unary::steps:
      return hn::Mul(hn::Sub(quantised(f, x), beta), alpha);
    case Unary::tanh:
      return hyperbolic_tangent(x);
  }
  return x;
}

// At x, where the function is y.
HWY_INLINE Vec derivative_of(const UnaryFunction& f, Vec x, Vec y) {
  const Lanes16 d;
  const Vec zero = hn::Zero(d), one = number(1), alpha = hn::Set(d, f.alpha), beta = hn::Set(d, f.beta);
  switch (f.kind) {
    case Unary::absolute:
      return hn::IfThenElse(hn::Gt(x, zero), one, hn::IfThenElse(hn::Lt(x, zero), number(-1), zero));
    case Unary::arc_tangent:
      return hn::Div(one, hn::MulAdd(x, x, one));
    case Unary::clip:
      return hn::IfThenElse(hn::Or(hn::Lt(x, alpha), hn::Gt(x, beta)), zero, one);
    case Unary::cube:
      return hn::Mul(number(3), hn::Mul(x, x));
    case Unary::dequantise:
      return alpha;
    case Unary::elu:
      return hn::IfThenElse(hn::Gt(x, zero), one, hn::Add(y, alpha));
    case Unary::error:
      return hn::Mul(number(1.1283791670955126), exponential(hn::Neg(hn::Mul(x, x))));
    case Unary::exponential:
      return y;
    case Unary::gelu: {
      const Vec density =
          hn::Mul(number(0.3989422804014327), exponential(hn::Mul(hn::Mul(x, x), number(-0.5))));
      return hn::MulAdd(x, density, normal_below(x));
    }
    case Unary::gelu_by_tanh: {
      const Vec tangent = tangent_of_gelu(x), half = number(0.5);
      const Vec inner =
          hn::MulAdd(hn::Mul(x, x), number(3 * gelu_cubic * gelu_gradient), number(gelu_gradient));
      return hn::MulAdd(hn::Mul(half, x), hn::Mul(hn::NegMulAdd(tangent, tangent, one), inner),
                        hn::MulAdd(half, tangent, half));
    }
    case Unary::hard_sigmoid:
      return hn::IfThenElse(hn::And(hn::Gt(y, zero), hn::Lt(y, one)), alpha, zero);
    case Unary::hard_swish:
      return hn::IfThenElse(
          hn::Gt(x, number(3)), one,
          hn::IfThenElse(hn::Lt(x, number(-3)), zero, hn::MulAdd(x, number(1.0 / 3), number(0.5))));
    case Unary::leaky:
      return hn::IfThenElse(hn::Gt(x, zero), one, alpha);
    case Unary::logarithm:
      return hn::Div(one, x);
    case Unary::mish: {
      const Vec tangent = hyperbolic_tangent(soft_plus(x));
      const Vec gradient = hn::Mul(hn::NegMulAdd(tangent, tangent, one), logistic(x));
      return hn::MulAdd(x, gradient, tangent);
    }
    case Unary::negate:
      return number(-1);
    case Unary::quantise:
      return derivative_of_quantised(f, x, 1 / f.alpha);
    case Unary::reciprocal:
      return hn::Neg(hn::Mul(y, y));
    case Unary::rectify:
      return hn::IfThenElse(hn::Gt(y, zero), one, zero);
    case Unary::selu:
      return hn::IfThenElse(hn::Gt(x, zero), number(selu_gamma), hn::Add(y, number(selu_gamma * selu_alpha)));
    case Unary::sigmoid:
      return hn::Mul(y, hn::Sub(one, y));
    case Unary::softplus:
      return logistic(x);
    case Unary::softsign: {
      const Vec below = hn::Add(one, hn::Abs(x));
      return hn::Div(one, hn::Mul(below, below));
    }
    case Unary::square:
      return hn::Add(x, x);
    case Unary::square_root:
      return hn::Div(number(0.5), y);
    case Unary::steps:
      return derivative_of_quantised(f, x, 1);
    case Unary::tanh:
      return hn::NegMulAdd(y, y, one);
  }
  return one;
}

// work(offset) for every vector of so many elements.
template <typename Work>
HWY_INLINE void each_vector(std::int64_t elements, const Work& work) {
  const std::int64_t step = hn::Lanes(Lanes16());
  for (std::int64_t i = 0; i < elements * width; i += step) work(i);
}

// The same with the element's number.
template <typename Work>
HWY_INLINE void each_element(std::int64_t elements, const Work& work) {
  const std::int64_t step = hn::Lanes(Lanes16());
  for (std::int64_t e = 0; e < elements; ++e) {
    for (std::int64_t lane = 0; lane < width; lane += step) work(e, lane);
  }
}

HWY_INLINE Vec combine(Binary kind, Vec a, Vec b) {
  switch (kind) {
    case Binary::add:
      return hn::Add(a, b);
    case Binary::subtract:
      return hn::Sub(a, b);
    case Binary::multiply:
      return hn::Mul(a, b);
    case Binary::divide:
      return hn::Div(a, b);
    case Binary::maximum:
      return hn::IfThenElse(hn::Or(hn::Gt(b, a), hn::IsNaN(b)), b, a);
    case Binary::minimum:
      return hn::IfThenElse(hn::Or(hn::Lt(b, a), hn::IsNaN(b)), b, a);
  }
  return a;
}

// One operand of a pair.
struct Side {
  const float* values;
  const std::int32_t* at;  // null: in order
  bool constant;
  HWY_INLINE std::int64_t element(std::int64_t e) const { return at ? at[e] : e; }
  HWY_INLINE Vec load(std::int64_t e, std::int64_t lane) const {
    const Lanes16 d;
    return constant ? hn::Set(d, values[element(e)]) : hn::Load(d, values + element(e) * width + lane);
  }
};
HWY_INLINE Side side(const float* values, const std::vector<std::int32_t>& at, bool constant) {
  return {values, at.empty() ? nullptr : at.data(), constant};
}

HWY_INLINE Vec value_or_gate(const UnaryFunction& function, bool gates, Vec x) {
  const Vec y = value_of(function, x);
  return gates ? hn::Mul(x, y) : y;
}

// With the kind known to the compiler, the function's constants stay in registers, and two vectors overlap.
template <Unary kind>
void values_of_kind(const UnaryFunction& function, bool gates, std::int64_t elements, const float* operand,
                    float* result) {
  const Lanes16 d;
  const UnaryFunction known{kind, function.alpha, function.beta, function.low, function.high};
  const std::int64_t step = hn::Lanes(d);
  const std::int64_t count = elements * width;
  std::int64_t i = 0;
  for (; i + 2 * step <= count; i += 2 * step) {
    const Vec first = value_or_gate(known, gates, hn::Load(d, operand + i)),
              second = value_or_gate(known, gates, hn::Load(d, operand + i + step));
    hn::Store(first, d, result + i);
    hn::Store(second, d, result + i + step);
  }
  if (i < count) hn::Store(value_or_gate(known, gates, hn::Load(d, operand + i)), d, result + i);
}

}  // namespace

void unary_entry(const UnaryFunction& function, bool gates, std::int64_t elements, const float* operand,
                 float* result) {
  switch (function.kind) {
    case Unary::dequantise:
      return values_of_kind<Unary::dequantise>(function, gates, elements, operand, result);
    case Unary::gelu:
      return values_of_kind<Unary::gelu>(function, gates, elements, operand, result);
    case Unary::quantise:
      return values_of_kind<Unary::quantise>(function, gates, elements, operand, result);
    case Unary::rectify:
      return values_of_kind<Unary::rectify>(function, gates, elements, operand, result);
    case Unary::sigmoid:
      return values_of_kind<Unary::sigmoid>(function, gates, elements, operand, result);
    case Unary::steps:
      return values_of_kind<Unary::steps>(function, gates, elements, operand, result);
    case Unary::tanh:
      return values_of_kind<Unary::tanh>(function, gates, elements, operand, result);
    default:
      break;
  }
  const Lanes16 d;
  each_vector(elements, [&](std::int64_t i) HWY_ATTR {
    hn::Store(value_or_gate(function, gates, hn::Load(d, operand + i)), d, result + i);
  });
}

void unary_gradients_entry(const UnaryFunction& function, std::int64_t elements, const float* operand,
                           const float* result, const float* gradient_out, bool add, float* gradient_in) {
  const Lanes16 d;
  each_vector(elements, [&](std::int64_t i) HWY_ATTR {
    const Vec derivative = derivative_of(function, hn::Load(d, operand + i), hn::Load(d, result + i));
    const Vec gradient = hn::Mul(hn::Load(d, gradient_out + i), derivative);
    hn::Store(add ? hn::Add(gradient, hn::Load(d, gradient_in + i)) : gradient, d, gradient_in + i);
  });
}

void ratio_gradients_entry(std::int64_t elements, const float* operand, const float* result,
                           const float* gradient_out, bool add, float* gradient_in) {
  const Lanes16 d;
  each_vector(elements, [&](std::int64_t i) HWY_ATTR {
    const Vec x = hn::Load(d, operand + i);
    const Vec ratio = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), number(1), hn::Div(hn::Load(d, result + i), x));
    const Vec gradient = hn::Mul(hn::Load(d, gradient_out + i), ratio);
    hn::Store(add ? hn::Add(gradient, hn::Load(d, gradient_in + i)) : gradient, d, gradient_in + i);
  });
}

void stabilise_gradients_entry(std::int64_t elements, float epsilon, const float* value, float* gradient) {
  const Lanes16 d;
  const Vec zero = hn::Zero(d);
  each_vector(elements, [&](std::int64_t i) HWY_ATTR {
    const Vec z = hn::Load(d, value + i);
    const Vec below = hn::Add(z, hn::IfThenElse(hn::Lt(z, zero), hn::Set(d, -epsilon), hn::Set(d, epsilon)));
    const Vec share = hn::IfThenElse(hn::Eq(below, zero), zero, hn::Div(z, below));
    hn::Store(hn::Mul(hn::Load(d, gradient + i), share), d, gradient + i);
  });
}

void binary_entry(const BinaryMap& map, const float* left, const float* right, float* result) {
  const Lanes16 d;
  const Side a = side(left, map.left_at, map.left_constant),
             b = side(right, map.right_at, map.right_constant);
  each_element(map.elements, [&](std::int64_t e, std::int64_t lane) HWY_ATTR {
    hn::Store(combine(map.kind, a.load(e, lane), b.load(e, lane)), d, result + e * width + lane);
  });
}

void binary_gradients_entry(const BinaryMap& map, bool of_left, const float* left, const float* right,
                            const float* gradient_out, float* gradient_in) {
  const Lanes16 d;
  const Side a = side(left, map.left_at, map.left_constant),
             b = side(right, map.right_at, map.right_constant);
  each_element(map.elements, [&](std::int64_t e, std::int64_t lane) HWY_ATTR {
    Vec gradient = hn::Load(d, gradient_out + e * width + lane);
    switch (map.kind) {
      case Binary::add:
        break;
      case Binary::subtract:
        if (!of_left) gradient = hn::Neg(gradient);
        break;
      case Binary::multiply:
        gradient = hn::Mul(gradient, of_left ? b.load(e, lane) : a.load(e, lane));
        break;
      case Binary::divide: {
        const Vec below = b.load(e, lane);
        gradient = of_left ? hn::Div(gradient, below)
                           : hn::Neg(hn::Mul(gradient, hn::Div(a.load(e, lane), hn::Mul(below, below))));
        break;
      }
      case Binary::maximum:
      case Binary::minimum: {  // as the reference: equal operands share
        const Vec x = a.load(e, lane), y = b.load(e, lane);
        const bool first = of_left == (map.kind == Binary::maximum);
        const auto takes = first ? hn::Gt(x, y) : hn::Lt(x, y);
        gradient = hn::IfThenElse(hn::Eq(x, y), hn::Mul(gradient, hn::Set(d, 0.5F)),
                                  hn::IfThenElseZero(takes, gradient));
        break;
      }
    }
    float* const to = gradient_in + (of_left ? a : b).element(e) * width + lane;
    hn::Store(hn::Add(hn::Load(d, to), gradient), d, to);
  });
}

void fill_entry(std::int64_t elements, float value, float* target) {
  const Lanes16 d;
  each_vector(elements, [&](std::int64_t i) HWY_ATTR { hn::Store(hn::Set(d, value), d, target + i); });
}

void add_to_entry(std::int64_t elements, const float* source, float* target) {
  const Lanes16 d;
  each_vector(elements, [&](std::int64_t i) HWY_ATTR {
    hn::Store(hn::Add(hn::Load(d, target + i), hn::Load(d, source + i)), d, target + i);
  });
}

void softmax_entry(const AxisMap& map, bool as_logarithm, const float* operand, float* result) {
  const Lanes16 d;
  for (const std::int32_t begin : map.begins) {
    for (std::int64_t lane = 0; lane < width; lane += static_cast<std::int64_t>(hn::Lanes(d))) {
      const auto at = [&](std::int64_t i) { return begin + i * map.step + lane; };
      Vec most = hn::Load(d, operand + at(0));
      for (std::int64_t i = 1; i < map.count; ++i)
        most = combine(Binary::maximum, most, hn::Load(d, operand + at(i)));
      Vec sum = hn::Zero(d);
      for (std::int64_t i = 0; i < map.count; ++i) {
        const Vec power = exponential(hn::Sub(hn::Load(d, operand + at(i)), most));
        sum = hn::Add(sum, power);
        if (!as_logarithm) hn::Store(power, d, result + at(i));
      }
      const Vec log_sum = as_logarithm ? logarithm(sum) : sum;
      for (std::int64_t i = 0; i < map.count; ++i) {
        const Vec value = as_logarithm ? hn::Sub(hn::Sub(hn::Load(d, operand + at(i)), most), log_sum)
                                       : hn::Div(hn::Load(d, result + at(i)), sum);
        hn::Store(value, d, result + at(i));
      }
    }
  }
}

void softmax_gradients_entry(const AxisMap& map, bool as_logarithm, const float* result,
                             const float* gradient_out, float* gradient_in) {
  const Lanes16 d;
  for (const std::int32_t begin : map.begins) {
    for (std::int64_t lane = 0; lane < width; lane += static_cast<std::int64_t>(hn::Lanes(d))) {
      const auto at = [&](std::int64_t i) { return begin + i * map.step + lane; };
      Vec sum = hn::Zero(d);
      for (std::int64_t i = 0; i < map.count; ++i) {
        const Vec gradient = hn::Load(d, gradient_out + at(i));
        sum = hn::Add(sum, as_logarithm ? gradient : hn::Mul(gradient, hn::Load(d, result + at(i))));
      }
      for (std::int64_t i = 0; i < map.count; ++i) {
        const Vec gradient = hn::Load(d, gradient_out + at(i)), y = hn::Load(d, result + at(i));
        const Vec passed =
            as_logarithm ? hn::NegMulAdd(exponential(y), sum, gradient) : hn::Mul(y, hn::Sub(gradient, sum));
        hn::Store(hn::Add(hn::Load(d, gradient_in + at(i)), passed), d, gradient_in + at(i));
      }
    }
  }
}

}  // namespace assay::lanes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::lanes {

HWY_EXPORT(unary_entry);
HWY_EXPORT(unary_gradients_entry);
HWY_EXPORT(ratio_gradients_entry);
HWY_EXPORT(stabilise_gradients_entry);
HWY_EXPORT(binary_entry);
HWY_EXPORT(binary_gradients_entry);
HWY_EXPORT(fill_entry);
HWY_EXPORT(add_to_entry);
HWY_EXPORT(softmax_entry);
HWY_EXPORT(softmax_gradients_entry);

void apply(const UnaryFunction& function, std::int64_t elements, const float* operand, float* result) {
  HWY_DYNAMIC_DISPATCH(unary_entry)(function, false, elements, operand, result);
}
void apply_gate(const UnaryFunction& function, std::int64_t elements, const float* operand, float* result) {
  HWY_DYNAMIC_DISPATCH(unary_entry)(function, true, elements, operand, result);
}
void gradients(const UnaryFunction& function, std::int64_t elements, const float* operand,
               const float* result, const float* gradient_out, bool add, float* gradient_in) {
  HWY_DYNAMIC_DISPATCH(unary_gradients_entry)
  (function, elements, operand, result, gradient_out, add, gradient_in);
}
void ratio_gradients(std::int64_t elements, const float* operand, const float* result,
                     const float* gradient_out, bool add, float* gradient_in) {
  HWY_DYNAMIC_DISPATCH(ratio_gradients_entry)(elements, operand, result, gradient_out, add, gradient_in);
}
void stabilise_gradients(std::int64_t elements, float epsilon, const float* value, float* gradient) {
  HWY_DYNAMIC_DISPATCH(stabilise_gradients_entry)(elements, epsilon, value, gradient);
}
void apply(const BinaryMap& map, const float* left, const float* right, float* result) {
  HWY_DYNAMIC_DISPATCH(binary_entry)(map, left, right, result);
}
void gradients(const BinaryMap& map, bool of_left, const float* left, const float* right,
               const float* gradient_out, float* gradient_in) {
  HWY_DYNAMIC_DISPATCH(binary_gradients_entry)(map, of_left, left, right, gradient_out, gradient_in);
}
void fill(std::int64_t elements, float value, float* target) {
  HWY_DYNAMIC_DISPATCH(fill_entry)(elements, value, target);
}
void add_to(std::int64_t elements, const float* source, float* target) {
  HWY_DYNAMIC_DISPATCH(add_to_entry)(elements, source, target);
}
void softmax(const AxisMap& map, bool logarithm, const float* operand, float* result) {
  HWY_DYNAMIC_DISPATCH(softmax_entry)(map, logarithm, operand, result);
}
void softmax_gradients(const AxisMap& map, bool logarithm, const float* result, const float* gradient_out,
                       float* gradient_in) {
  HWY_DYNAMIC_DISPATCH(softmax_gradients_entry)(map, logarithm, result, gradient_out, gradient_in);
}

}  // namespace assay::lanes
#endif

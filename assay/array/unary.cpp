// One operand, element by element.

#include <cmath>
#include <numbers>
#include <optional>

#include "assay/array/loops.h"
#include "assay/array/tape.h"
#include "assay/array/unary_kernels.h"

namespace assay::array {
namespace {

constexpr std::size_t costly = 4096;  // elements that are worth a thread where each takes a call

// Real numbers; whole ones become float32.
Array real(const Array& a) { return is_real(a.dtype()) ? a : a.to(DType::float32); }

// The nearest bound that the type has.
std::optional<Scalar> held_bound(DType type, const std::optional<Scalar>& bound) {
  if (!bound) return bound;
  return with_type(type, [&](auto zero) -> std::optional<Scalar> {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T>)
      return Scalar(bound_from<T>(*bound));
    else
      return bound;
  });
}

template <typename F>
Array mapped(const Array& a, const F& f, std::size_t grain) {
  if (is_narrow(a.dtype()))
    return computed_wide(a.detach(), [&](const Array& wide) { return mapped(wide, f, grain); });
  Array out = Array::uninitialised(a.dtype(), a.shape());
  with_number(a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    map_into<T, T>(
        out, a, [&f](T x) { return static_cast<T>(f(x)); }, grain);
  });
  return out;
}

// By vectors, of float32.
void run_on_threads(UnaryKernel kernel, const Array& given, Array& out) {
  const Array a = given.contiguous();
  const float* const from = elements<float>(a);
  float* const to = elements<float>(out);
  split_loop(static_cast<std::size_t>(a.count()), 32768,
             [&](std::size_t begin, std::size_t end) { run(kernel, from + begin, to + begin, end - begin); });
}

// A function of real numbers whose derivative follows from argument and result.
template <typename F, typename Derivative>
Array function(const Array& given, const F& f, const Derivative& derivative, std::size_t grain = costly,
               UnaryKernel kernel = UnaryKernel::none) {
  const Array a = real(given);
  if (is_narrow(a.dtype()))
    return computed_wide(a, [&](const Array& wide) { return function(wide, f, derivative, grain, kernel); });
  Array out = Array::uninitialised(a.dtype(), a.shape());
  if (kernel != UnaryKernel::none && a.dtype() == DType::float32) {
    run_on_threads(kernel, a.detach(), out);
  } else {
    with_real(a.dtype(), [&](auto zero) {
      using T = decltype(zero);
      map_into<T, T>(out, a, f, grain);
    });
  }
  if (!records(a)) return out;
  return recorded_map(out, a, [a = a.detach(), out, derivative](const Array& g) {
    Array slopes = Array::uninitialised(a.dtype(), a.shape());
    with_real(a.dtype(), [&](auto zero) {
      using T = decltype(zero);
      map_into<T, T, T>(
          slopes, a, out, [&](T x, T y) { return static_cast<T>(derivative(x, y)); }, costly);
    });
    return slopes.mul_(g);
  });
}

// A function without a gradient.
template <typename F>
Array steps(const Array& a, const F& f) {
  Array out = is_real(a.dtype()) ? mapped(a, f, 32768) : a;
  if (!records(a)) return out.detach();
  return recorded_map(out.detach(), a, [](const Array& g) { return zeros_like(g); });
}

template <typename F>
Array tested(const Array& given, const F& f) {
  const Array a = widened(given.detach());
  Array out = Array::uninitialised(DType::boolean, a.shape());
  with_number(a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    map_into<T, bool>(out, a, [&f](T x) { return f(static_cast<double>(x)); });
  });
  return out;
}

template <typename T>
T logistic(T x) {
  return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
}
template <typename T>
T soft(T x) {
  return x > 20 ? x : std::log1p(std::exp(x));
}
template <typename T>
T normal_density(T x) {
  return std::exp(-x * x / 2) * static_cast<T>(std::numbers::inv_sqrtpi / std::numbers::sqrt2);
}
template <typename T>
T normal_share(T x) {
  return std::erfc(-x * static_cast<T>(1 / std::numbers::sqrt2)) / 2;
}

constexpr double tanh_scale = std::numbers::sqrt2 * std::numbers::inv_sqrtpi, tanh_cube = 0.044715;

Array gelu_by_tanh(const Array& a) {
  const auto inner = [](auto x) {
    using T = decltype(x);
    return std::tanh(static_cast<T>(tanh_scale) * (x + static_cast<T>(tanh_cube) * x * x * x));
  };
  return function(
      a, [inner](auto x) { return x / 2 * (1 + inner(x)); },
      [inner](auto x, auto) {
        using T = decltype(x);
        const T t = inner(x);
        return (1 + t) / 2 +
               x / 2 * (1 - t * t) * static_cast<T>(tanh_scale) * (1 + 3 * static_cast<T>(tanh_cube) * x * x);
      });
}

}  // namespace

Array acos(const Array& a) {
  return function(
      a, [](auto x) { return std::acos(x); }, [](auto x, auto) { return -1 / std::sqrt(1 - x * x); });
}
Array acosh(const Array& a) {
  return function(
      a, [](auto x) { return std::acosh(x); }, [](auto x, auto) { return 1 / std::sqrt(x * x - 1); });
}
Array asin(const Array& a) {
  return function(
      a, [](auto x) { return std::asin(x); }, [](auto x, auto) { return 1 / std::sqrt(1 - x * x); });
}
Array asinh(const Array& a) {
  return function(
      a, [](auto x) { return std::asinh(x); }, [](auto x, auto) { return 1 / std::sqrt(x * x + 1); });
}
Array atan(const Array& a) {
  return function(
      a, [](auto x) { return std::atan(x); }, [](auto x, auto) { return 1 / (1 + x * x); });
}
Array atanh(const Array& a) {
  return function(
      a, [](auto x) { return std::atanh(x); }, [](auto x, auto) { return 1 / (1 - x * x); });
}
Array cos(const Array& a) {
  return function(
      a, [](auto x) { return std::cos(x); }, [](auto x, auto) { return -std::sin(x); });
}
Array cosh(const Array& a) {
  return function(
      a, [](auto x) { return std::cosh(x); }, [](auto x, auto) { return std::sinh(x); });
}
Array erf(const Array& a) {
  return function(
      a, [](auto x) { return std::erf(x); },
      [](auto x, auto) { return 2 * static_cast<decltype(x)>(std::numbers::inv_sqrtpi) * std::exp(-x * x); });
}
Array exp(const Array& a) {
  return function(
      a, [](auto x) { return std::exp(x); }, [](auto, auto y) { return y; }, costly, UnaryKernel::exp);
}
Array expm1(const Array& a) {
  return function(
      a, [](auto x) { return std::expm1(x); }, [](auto, auto y) { return y + 1; }, costly,
      UnaryKernel::expm1);
}
Array log(const Array& a) {
  return function(
      a, [](auto x) { return std::log(x); }, [](auto x, auto) { return 1 / x; }, costly, UnaryKernel::log);
}
Array log1p(const Array& a) {
  return function(
      a, [](auto x) { return std::log1p(x); }, [](auto x, auto) { return 1 / (1 + x); });
}
Array reciprocal(const Array& a) {
  return function(
      a, [](auto x) { return 1 / x; }, [](auto, auto y) { return -y * y; });
}
Array rsqrt(const Array& a) {
  return function(
      a, [](auto x) { return 1 / std::sqrt(x); }, [](auto x, auto y) { return -y / (2 * x); });
}
Array sigmoid(const Array& a) {
  return function(
      a, [](auto x) { return logistic(x); }, [](auto, auto y) { return y * (1 - y); }, costly,
      UnaryKernel::sigmoid);
}
Array sin(const Array& a) {
  return function(
      a, [](auto x) { return std::sin(x); }, [](auto x, auto) { return std::cos(x); });
}
Array sinh(const Array& a) {
  return function(
      a, [](auto x) { return std::sinh(x); }, [](auto x, auto) { return std::cosh(x); });
}
Array softplus(const Array& a) {
  return function(
      a, [](auto x) { return soft(x); }, [](auto x, auto) { return x > 20 ? decltype(x){1} : logistic(x); },
      costly, UnaryKernel::softplus);
}
Array sqrt(const Array& a) {
  return function(
      a, [](auto x) { return std::sqrt(x); }, [](auto, auto y) { return 1 / (2 * y); }, costly,
      UnaryKernel::sqrt);
}
Array tan(const Array& a) {
  return function(
      a, [](auto x) { return std::tan(x); }, [](auto, auto y) { return 1 + y * y; });
}
Array tanh(const Array& a) {
  return function(
      a, [](auto x) { return std::tanh(x); }, [](auto, auto y) { return 1 - y * y; }, costly,
      UnaryKernel::tanh);
}
Array mish(const Array& a) {
  return function(
      a, [](auto x) { return x * std::tanh(soft(x)); },
      [](auto x, auto) {
        const auto t = std::tanh(soft(x));
        return t + x * (1 - t * t) * logistic(x);
      });
}
Array hardswish(const Array& a) {
  return function(
      a,
      [](auto x) {
        using T = decltype(x);
        return x * std::min(std::max(x + 3, T{0}), T{6}) / 6;
      },
      [](auto x, auto) {
        using T = decltype(x);
        return x < -3 ? T{0} : x <= 3 ? x / 3 + T{0.5} : T{1};
      });
}
Array gelu(const Array& a, bool by_tanh) {
  if (by_tanh) return gelu_by_tanh(a);
  return function(
      a, [](auto x) { return x * normal_share(x); },
      [](auto x, auto) { return normal_share(x) + x * normal_density(x); });
}

Array elu(const Array& a, double alpha, double scale, double input_scale) {
  return function(
      a,
      [=](auto x) {
        using T = decltype(x);
        return x > 0 ? x * static_cast<T>(scale)
                     : static_cast<T>(alpha * scale) * std::expm1(x * static_cast<T>(input_scale));
      },
      [=](auto x, auto y) {
        using T = decltype(x);
        return x > 0 ? static_cast<T>(scale)
                     : static_cast<T>(input_scale) * (y + static_cast<T>(alpha * scale));
      });
}
Array celu(const Array& a, double alpha) { return elu(a, alpha, 1, 1 / alpha); }
Array leaky_relu(const Array& a, double slope) {
  return function(
      a, [=](auto x) { return x > 0 ? x : x * static_cast<decltype(x)>(slope); },
      [=](auto x, auto) { return x > 0 ? 1 : static_cast<decltype(x)>(slope); }, 32768);
}

Array relu(const Array& a) {
  Array out = mapped(
      a, [](auto x) { return x < 0 ? decltype(x){0} : x; }, 32768);
  if (!records(a)) return out;
  return recorded_map(out, a, [out](const Array& g) { return where(out > 0, g, 0); });
}
Array abs(const Array& a) {
  Array out = mapped(
      a,
      [](auto x) {
        if constexpr (std::is_floating_point_v<decltype(x)>) return std::fabs(x);
        return x < 0 ? static_cast<decltype(x)>(decltype(x){0} - x) : x;
      },
      32768);
  if (!records(a)) return out;
  return recorded_map(std::move(out), a, [a = a.detach()](const Array& g) { return g * sign(a); });
}
Array neg(const Array& a) {
  if (is_real(a.dtype()))
    return recorded_map(mapped(
                            a, [](auto x) { return -x; }, 32768),
                        a, [](const Array& g) { return neg(g); });
  return 0 - a;
}
Array square(const Array& a) { return a * a; }
Array sign(const Array& a) {
  const auto f = [](auto x) {
    using T = decltype(x);
    return x != x ? x : static_cast<T>((x > 0) - (x < 0));
  };
  return is_real(a.dtype()) ? steps(a, f) : mapped(a, f, 32768);
}
Array ceil(const Array& a) {
  return steps(a, [](auto x) { return std::ceil(x); });
}
Array floor(const Array& a) {
  return steps(a, [](auto x) { return std::floor(x); });
}
Array round(const Array& a) {
  return steps(a, [](auto x) { return std::nearbyint(x); });
}
Array trunc(const Array& a) {
  return steps(a, [](auto x) { return std::trunc(x); });
}

Array isnan(const Array& a) {
  return tested(a, [](double x) { return std::isnan(x); });
}
Array isinf(const Array& a) {
  return tested(a, [](double x) { return std::isinf(x); });
}
Array isfinite(const Array& a) {
  return tested(a, [](double x) { return std::isfinite(x); });
}
Array logical_not(const Array& a) {
  return tested(a, [](double x) { return x == 0; });
}

Array bitwise_not(const Array& a) {
  if (a.dtype() == DType::boolean) return logical_not(a);
  if (is_narrow(a.dtype()) && !is_short(a.dtype()))
    return computed_wide(a, [](const Array& wide) { return bitwise_not(wide); });
  Array out = Array::uninitialised(a.dtype(), a.shape());
  with_whole(a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    map_into<T, T>(out, a, [](T x) { return static_cast<T>(~x); });
  });
  return out;
}

Array nan_to_num(const Array& a, double nan, double positive, double negative) {
  if (!is_real(a.dtype())) return a;
  Array out = mapped(
      a,
      [=](auto x) {
        using T = decltype(x);
        return std::isnan(x)    ? static_cast<T>(nan)
               : !std::isinf(x) ? x
                                : static_cast<T>(x > 0 ? positive : negative);
      },
      32768);
  if (!records(a)) return out;
  return recorded_map(std::move(out), a,
                      [finite = isfinite(a.detach())](const Array& g) { return where(finite, g, 0); });
}

Array clamp(const Array& given, std::optional<Scalar> low, std::optional<Scalar> high) {
  const bool widens = !is_real(given.dtype()) && ((low && !low->is_whole()) || (high && !high->is_whole()));
  const Array a = widens ? given.to(DType::float32) : given;
  if (is_narrow(a.dtype())) {
    const auto least = held_bound(a.dtype(), low), most = held_bound(a.dtype(), high);
    return computed_wide(a, [&](const Array& wide) { return clamp(wide, least, most); });
  }
  Array out = Array::uninitialised(a.dtype(), a.shape());
  with_number(a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T least = low ? bound_from<T>(*low) : T{}, most = high ? bound_from<T>(*high) : T{};
    const bool below = low.has_value(), above = high.has_value();
    map_into<T, T>(out, a, [=](T x) {
      if (below && x < least) x = least;
      return above && x > most ? most : x;
    });
  });
  if (!records(a)) return out;
  return recorded_map(out, a, [a = a.detach(), low, high](const Array& g) {
    Array inside = ones_like(a, DType::boolean);
    if (low) inside = logical_and(inside, a >= *low);
    if (high) inside = logical_and(inside, a <= *high);
    return where(inside, g, 0);
  });
}
Array clamp_min(const Array& a, Scalar low) { return clamp(a, low, std::nullopt); }
Array clamp_max(const Array& a, Scalar high) { return clamp(a, std::nullopt, high); }

Array masked_fill(const Array& a, const Array& mask, Scalar value) {
  return where(mask, scalar(value, a.dtype()), a).expand(broadcast_shape(a.shape(), mask.shape()));
}

}  // namespace assay::array

#pragma once

// Arithmetic with arrays, with gradients. Names, shapes and broadcasting are those of NumPy and PyTorch.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <assay/array.h>
#include <assay/array_gradients.h>

namespace assay::array {

// Element by element, both broadcast; the type is the wider one of both, and a Scalar does not widen within
// its kind. Quotients of integers are float32; elements of 16 bits are computed with as wider ones, and
// results rounded once or wrapped around. Throws Error{model} where the shapes do not meet.
Array operator+(const Array& a, const Array& b), operator-(const Array& a, const Array& b),
                                                 operator*(const Array& a, const Array& b),
                                                 operator/(const Array& a, const Array& b);
Array operator+(const Array& a, Scalar b),
operator-(const Array& a, Scalar b), operator*(const Array& a, Scalar b), operator/(const Array& a, Scalar b);
Array operator+(Scalar a, const Array& b),
operator-(Scalar a, const Array& b), operator*(Scalar a, const Array& b), operator/(Scalar a, const Array& b);
Array operator-(const Array& a);
Array operator==(const Array& a, Scalar b), operator!=(const Array& a, Scalar b),
                                            operator<(const Array& a, Scalar b),
                                            operator<=(const Array& a, Scalar b),
                                            operator>(const Array& a, Scalar b),
                                            operator>=(const Array& a, Scalar b);
Array operator<(const Array& a, const Array& b), operator<=(const Array& a, const Array& b),
                                                 operator>(const Array& a, const Array& b),
                                                 operator>=(const Array& a, const Array& b);
Array operator&(const Array& a, const Array& b), operator|(const Array& a, const Array& b),
                                                 operator~(const Array& a);
// New arrays.
Array zeros(Shape shape, DType type = DType::float32), ones(Shape shape, DType type = DType::float32),
    empty(Shape shape, DType type = DType::float32),
    full(Shape shape, Scalar value, DType type = DType::float32),
    full(Shape shape, Scalar value, const Array&like), scalar(Scalar value, DType type = DType::float32);
Array zeros_like(const Array&a), ones_like(const Array&a), empty_like(const Array&a),
    full_like(const Array&a, Scalar value);
Array zeros_like(const Array&a, DType type), ones_like(const Array&a, DType type);
Array arange(Scalar end, DType type = DType::int64), arange(Scalar begin, Scalar end, DType type),
    arange(Scalar begin, Scalar end, Scalar step, DType type);
DType result_type(const Array& a, const Array& b);
// Element by element.
Array abs(const Array&a), acos(const Array&a), acosh(const Array&a), asin(const Array&a),
    asinh(const Array&a), atan(const Array&a), atanh(const Array&a), ceil(const Array&a), cos(const Array&a),
    cosh(const Array&a), erf(const Array&a), exp(const Array&a), expm1(const Array&a), floor(const Array&a),
    log(const Array&a), log1p(const Array&a), neg(const Array&a), reciprocal(const Array&a),
    relu(const Array&a), round(const Array&a), rsqrt(const Array&a), sigmoid(const Array&a),
    sign(const Array&a), sin(const Array&a), sinh(const Array&a), softplus(const Array&a),
    sqrt(const Array&a), square(const Array&a), tan(const Array&a), tanh(const Array&a), trunc(const Array&a),
    mish(const Array&a), hardswish(const Array&a), gelu(const Array&a, bool by_tanh = false);
Array elu(const Array&a, double alpha, double scale = 1, double input_scale = 1),
    celu(const Array&a, double alpha), leaky_relu(const Array&a, double slope);
Array isnan(const Array&a), isinf(const Array&a), isfinite(const Array&a), logical_not(const Array&a),
    bitwise_not(const Array&a), nan_to_num(const Array&a, double nan, double positive, double negative);
Array clamp(const Array&a, std::optional<Scalar> low, std::optional<Scalar> high),
    clamp_min(const Array&a, Scalar low), clamp_max(const Array&a, Scalar high);
Array maximum(const Array&a, const Array&b), minimum(const Array&a, const Array&b),
    pow(const Array&a, const Array&b), pow(const Array&a, Scalar b), pow(Scalar a, const Array&b),
    fmod(const Array&a, const Array&b), remainder(const Array&a, const Array&b),
    remainder(const Array&a, Scalar b), atan2(const Array&a, const Array&b);
enum class Rounding { floor, truncate };
Array div(const Array&a, const Array&b, Rounding rounding), div(const Array&a, Scalar b, Rounding rounding);
Array eq(const Array&a, const Array&b), ne(const Array&a, const Array&b), lt(const Array&a, const Array&b),
    le(const Array&a, const Array&b), gt(const Array&a, const Array&b), ge(const Array&a, const Array&b);
Array logical_and(const Array&a, const Array&b), logical_or(const Array&a, const Array&b),
    logical_xor(const Array&a, const Array&b), bitwise_and(const Array&a, const Array&b),
    bitwise_and(const Array&a, Scalar b), bitwise_or(const Array&a, const Array&b),
    bitwise_xor(const Array&a, const Array&b), shift_left(const Array&a, const Array&b),
    shift_right(const Array&a, const Array&b);
Array where(const Array&condition, const Array&a, const Array&b),
    where(const Array&condition, const Array&a, Scalar b),
    where(const Array&condition, Scalar a, const Array&b), where(const Array&condition, Scalar a, Scalar b);
// Over axes; over all of them if none are given.
Array sum(const Array&a, const Shape&axes = {}, bool keep = false),
    prod(const Array&a, const Shape&axes = {}, bool keep = false),
    mean(const Array&a, const Shape&axes = {}, bool keep = false),
    amax(const Array&a, const Shape&axes = {}, bool keep = false),
    amin(const Array&a, const Shape&axes = {}, bool keep = false),
    any(const Array&a, const Shape&axes = {}, bool keep = false),
    all(const Array&a, const Shape&axes = {}, bool keep = false),
    logsumexp(const Array&a, const Shape&axes, bool keep = false),
    var(const Array&a, const Shape&axes = {}, bool keep = false, bool unbiased = false),
    norm(const Array&a, double p, const Shape&axes = {}, bool keep = false);
Array sum_to(const Array& a, const Shape& shape);  // over what broadcasting from the shape repeated
Array argmax(const Array&a, std::int64_t axis, bool keep = false),
    argmin(const Array&a, std::int64_t axis, bool keep = false);
Array softmax(const Array&a, std::int64_t axis), log_softmax(const Array&a, std::int64_t axis),
    cumsum(const Array&a, std::int64_t axis), cumprod(const Array&a, std::int64_t axis);
bool equal(const Array& a, const Array& b);  // in shape and every element
bool allclose(const Array& a, const Array& b, double relative = 1e-5, double absolute = 1e-8,
              bool equal_nan = false);
// Joining and splitting.
Array cat(std::span<const Array> parts, std::int64_t axis = 0),
    cat(std::initializer_list<Array> parts, std::int64_t axis = 0),
    stack(std::span<const Array> parts, std::int64_t axis = 0),
    stack(std::initializer_list<Array> parts, std::int64_t axis = 0);
Arrays split(const Array&a, const Shape&sizes, std::int64_t axis),
    chunk(const Array&a, std::int64_t pieces, std::int64_t axis),
    unbind(const Array&a, std::int64_t axis = 0), broadcast(std::span<const Array> parts);
Array pad(const Array& a, const Shape& amounts,
          Scalar value = 0);  // before and after, from the last axis; negative: cut
Array flip(const Array&a, const Shape&axes), roll(const Array&a, std::int64_t shift, std::int64_t axis),
    repeat(const Array&a, const Shape&times),
    repeat_interleave(const Array&a, std::int64_t times, std::int64_t axis),
    tril(const Array&a, std::int64_t diagonal = 0), triu(const Array&a, std::int64_t diagonal = 0);
// By positions (int64, from 0) along an axis; Error{model} for those that there are not.
Array index_select(const Array&a, std::int64_t axis, const Array&positions),
    gather(const Array&a, std::int64_t axis, const Array&positions),
    scatter(const Array&a, std::int64_t axis, const Array&positions, const Array&values),
    scatter(const Array&a, std::int64_t axis, const Array&positions, Scalar value),
    scatter_add(const Array&a, std::int64_t axis, const Array&positions, const Array&values),
    index_add(const Array&a, std::int64_t axis, const Array&positions, const Array&values),
    index_copy(const Array&a, std::int64_t axis, const Array&positions, const Array&values);
enum class Combine { sum, product, minimum, maximum, mean };
Array scatter_reduce(const Array& a, std::int64_t axis, const Array& positions, const Array& values,
                     Combine combine);
Array masked_select(const Array&a, const Array&mask), nonzero(const Array&a),
    masked_fill(const Array&a, const Array&mask, Scalar value), one_hot(const Array&a, std::int64_t classes);
struct Sorted {
  Array values, positions;
};
Sorted sort(const Array& a, std::int64_t axis, bool descending = false);  // stable; NaN is the greatest
Sorted topk(const Array& a, std::int64_t count, std::int64_t axis, bool largest = true);
Sorted max(const Array&a, std::int64_t axis, bool keep = false),
    min(const Array&a, std::int64_t axis, bool keep = false);
}  // namespace assay::array

#include <assay/array_layers.h>

// Types without loops of their own (16 bits, uint32) and uint64: converted, moved, compared and computed
// with, against plain loops.

#include <assay/array_math.h>
#include <assay/error.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "tests/random_arrays.h"

namespace assay {
namespace {

using array::tensor;
using testing::ElementsAre;

constexpr DType all_types[] = {DType::float32, DType::float64, DType::int64,   DType::int32,    DType::int8,
                               DType::uint8,   DType::boolean, DType::float16, DType::bfloat16, DType::int16,
                               DType::uint16,  DType::uint32,  DType::uint64};

template <typename T>
constexpr bool is_half = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;

// As a number that plain loops compute with.
template <typename T>
auto wide(T value) {
  if constexpr (is_half<T>)
    return static_cast<float>(value);
  else
    return value;
}
template <typename T, typename Number>
T narrow(Number value) {
  if constexpr (is_half<T>)
    return T(static_cast<float>(value));
  else
    return static_cast<T>(value);
}
template <typename T>
auto bits_of(T value) {
  if constexpr (is_half<T>)
    return value.bits;
  else
    return value;
}

template <typename T>
std::vector<T> held_elements(const Array& array) {
  EXPECT_EQ(array.dtype(), dtype_of<T>());
  const Array held = array.contiguous();
  return {held.as<T>().begin(), held.as<T>().end()};
}

// Numbers over the whole range of whole types, and of some size of real ones.
template <typename T>
std::vector<T> some_numbers(std::size_t count, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<T> numbers;
  for (std::size_t i = 0; i < count; ++i) {
    if constexpr (is_half<T>)
      numbers.push_back(T(static_cast<float>(rng.normal() * 3)));
    else
      numbers.push_back(static_cast<T>(rng.below(std::numeric_limits<std::uint64_t>::max())));
  }
  return numbers;
}

template <typename T>
class NarrowTypes : public testing::Test {};
using Types = testing::Types<Float16, BFloat16, std::int16_t, std::uint16_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(NarrowTypes, Types);

// f of both elements by a loop of its own, for whole arrays, a broadcast row and a view with steps.
template <typename T, typename F>
void expect_by_loop(const std::function<Array(const Array&, const Array&)>& compute, const F& f) {
  const std::vector<T> x = some_numbers<T>(24, 1), y = some_numbers<T>(24, 2);
  const Array a = Array::of<T>({4, 6}, x), b = Array::of<T>({4, 6}, y);
  const Array whole = compute(a, b), by_row = compute(a, b[0]), turned = compute(a.t(), b.t());
  using Result = decltype(f(x[0], y[0]));
  const std::vector<Result> found = held_elements<Result>(whole), row = held_elements<Result>(by_row),
                            columns = held_elements<Result>(turned);
  for (std::size_t i = 0; i < 24; ++i) {
    EXPECT_EQ(bits_of<Result>(found[i]), bits_of(f(x[i], y[i]))) << i;
    EXPECT_EQ(bits_of<Result>(row[i]), bits_of(f(x[i], y[i % 6]))) << i;
    EXPECT_EQ(bits_of<Result>(columns[i % 6 * 4 + i / 6]), bits_of(f(x[i], y[i]))) << i;
  }
}

TYPED_TEST(NarrowTypes, AddSubtractAndMultiply) {
  using T = TypeParam;
  const auto by = [](auto f) {
    return [f](T x, T y) {
      if constexpr (is_half<T>)
        return narrow<T>(f(wide(x), wide(y)));
      else
        return static_cast<T>(f(static_cast<std::uint64_t>(x), static_cast<std::uint64_t>(y)));
    };
  };
  expect_by_loop<T>([](const Array& a, const Array& b) { return a + b; },
                    by([](auto x, auto y) { return x + y; }));
  expect_by_loop<T>([](const Array& a, const Array& b) { return a - b; },
                    by([](auto x, auto y) { return x - y; }));
  expect_by_loop<T>([](const Array& a, const Array& b) { return a * b; },
                    by([](auto x, auto y) { return x * y; }));
  const auto changed = [](auto change) {
    return [change](const Array& a, const Array& b) {
      Array to = a.clone();
      change(to, b);
      return to;
    };
  };
  expect_by_loop<T>(changed([](Array& a, const Array& b) { a.add_(b); }),
                    by([](auto x, auto y) { return x + y; }));
  expect_by_loop<T>(changed([](Array& a, const Array& b) { a.sub_(b); }),
                    by([](auto x, auto y) { return x - y; }));
  expect_by_loop<T>(changed([](Array& a, const Array& b) { a.mul_(b); }),
                    by([](auto x, auto y) { return x * y; }));
}

TYPED_TEST(NarrowTypes, DivideAndChoose) {
  using T = TypeParam;
  if constexpr (is_half<T>) {
    expect_by_loop<T>([](const Array& a, const Array& b) { return a / b; },
                      [](T x, T y) { return narrow<T>(wide(x) / wide(y)); });
    expect_by_loop<T>([](const Array& a, const Array& b) { return array::fmod(a, b); },
                      [](T x, T y) { return narrow<T>(std::fmod(wide(x), wide(y))); });
    expect_by_loop<T>([](const Array& a, const Array& b) { return array::atan2(a, b); },
                      [](T x, T y) { return narrow<T>(std::atan2(wide(x), wide(y))); });
  } else {
    expect_by_loop<T>(
        [](const Array& a, const Array& b) { return array::div(a, b, array::Rounding::truncate); },
        [](T x, T y) { return y == 0 ? T{0} : static_cast<T>(x / y); });
    expect_by_loop<T>([](const Array& a, const Array& b) { return array::fmod(a, b); },
                      [](T x, T y) { return y == 0 ? T{0} : static_cast<T>(x % y); });
    expect_by_loop<T>([](const Array& a, const Array& b) { return a & b; },
                      [](T x, T y) { return static_cast<T>(x & y); });
    expect_by_loop<T>([](const Array& a, const Array& b) { return a | b; },
                      [](T x, T y) { return static_cast<T>(x | y); });
    expect_by_loop<T>([](const Array& a, const Array&) { return ~a; },
                      [](T x, T) { return static_cast<T>(~x); });
    expect_by_loop<T>(
        [](const Array& a, const Array& b) { return array::shift_right(a, array::remainder(b, 16)); },
        [](T x, T y) { return static_cast<T>(x >> ((y % 16 + 16) % 16)); });
    expect_by_loop<T>(
        [](const Array& a, const Array& b) { return array::shift_left(a, array::remainder(b, 64)); },
        [](T x, T y) {
          const auto by = static_cast<unsigned>((y % 64 + 64) % 64);
          return by >= 8 * sizeof(T) ? T{0} : static_cast<T>(static_cast<std::uint64_t>(x) << by);
        });
    expect_by_loop<T>([](const Array& a, const Array&) { return array::pow(a, 3); },
                      [](T x, T) {
                        const auto all = static_cast<std::uint64_t>(x);
                        return static_cast<T>(all * all * all);
                      });
  }
  expect_by_loop<T>([](const Array& a, const Array& b) { return array::maximum(a, b); },
                    [](T x, T y) { return wide(x) > wide(y) ? x : y; });
  expect_by_loop<T>([](const Array& a, const Array& b) { return array::minimum(a, b); },
                    [](T x, T y) { return wide(x) < wide(y) ? x : y; });
  expect_by_loop<T>([](const Array& a, const Array& b) { return array::where(a > b, b, a); },
                    [](T x, T y) { return wide(x) > wide(y) ? y : x; });
}

TYPED_TEST(NarrowTypes, AreCompared) {
  using T = TypeParam;
  const auto of = [](auto f) { return [f](T x, T y) { return bool{f(wide(x), wide(y))}; }; };
  using A = const Array&;
  expect_by_loop<T>([](A a, A b) { return array::eq(a, b); }, of([](auto x, auto y) { return x == y; }));
  expect_by_loop<T>([](A a, A b) { return array::ne(a, b); }, of([](auto x, auto y) { return x != y; }));
  expect_by_loop<T>([](A a, A b) { return a < b; }, of([](auto x, auto y) { return x < y; }));
  expect_by_loop<T>([](A a, A b) { return a <= b; }, of([](auto x, auto y) { return x <= y; }));
  expect_by_loop<T>([](A a, A b) { return a > b; }, of([](auto x, auto y) { return x > y; }));
  expect_by_loop<T>([](A a, A b) { return a >= b; }, of([](auto x, auto y) { return x >= y; }));
  const Array a = Array::of<T>({4, 6}, some_numbers<T>(24, 1));
  EXPECT_TRUE(a.equal(a.clone()));
  EXPECT_FALSE(a.equal(array::flip(a, {0})));
}

TYPED_TEST(NarrowTypes, AreReduced) {
  using T = TypeParam;
  const std::vector<T> x = some_numbers<T>(40, 3);
  const Array a = Array::of<T>({5, 8}, x);
  const std::vector<T> most = held_elements<T>(a.amax(1)), least = held_elements<T>(a.amin(0)),
                       sorted = held_elements<T>(array::sort(a, 1).values);
  const std::vector<std::int64_t> at = held_elements<std::int64_t>(a.argmax(1));
  for (std::size_t r = 0; r < 5; ++r) {
    std::vector<T> row(x.begin() + static_cast<std::ptrdiff_t>(8 * r),
                       x.begin() + static_cast<std::ptrdiff_t>(8 * r + 8));
    const auto less = [](T p, T q) { return wide(p) < wide(q); };
    EXPECT_EQ(at[r], std::max_element(row.begin(), row.end(), less) - row.begin());
    std::sort(row.begin(), row.end(), less);
    EXPECT_EQ(bits_of(most[r]), bits_of(row[7]));
    for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(bits_of(sorted[8 * r + i]), bits_of(row[i]));
  }
  for (std::size_t c = 0; c < 8; ++c) {
    T lowest = x[c];
    for (std::size_t r = 1; r < 5; ++r) lowest = wide(x[8 * r + c]) < wide(lowest) ? x[8 * r + c] : lowest;
    EXPECT_EQ(bits_of(least[c]), bits_of(lowest));
  }
  EXPECT_EQ(a.any().template item<bool>(), true);
}

TYPED_TEST(NarrowTypes, AreAddedUp) {
  using T = TypeParam;
  const std::vector<T> x = some_numbers<T>(40, 4);
  const Array a = Array::of<T>({40}, x);
  if constexpr (is_half<T>) {
    double sum = 0;
    for (const T value : x) sum += static_cast<double>(wide(value));
    EXPECT_EQ(held_elements<T>(a.sum())[0].bits, T(static_cast<float>(sum)).bits);
    EXPECT_EQ(held_elements<T>(a.mean())[0].bits, T(static_cast<float>(sum) / 40).bits);
  } else {
    std::uint64_t sum = 0, growing = 0;
    for (const T value : x) sum += static_cast<std::uint64_t>(value);
    EXPECT_EQ(static_cast<std::uint64_t>(a.sum().template item<std::int64_t>()), sum);
    EXPECT_EQ(a.sum().dtype(), dtype_of<T>() == DType::uint64 ? DType::uint64 : DType::int64);
    const std::vector<T> sums = held_elements<T>(array::cumsum(a, 0));
    for (std::size_t i = 0; i < x.size(); ++i) {
      growing += static_cast<std::uint64_t>(x[i]);
      EXPECT_EQ(sums[i], static_cast<T>(growing));
    }
  }
}

// Movement is that of any type: as of the same numbers in int64, whose bits hold them all.
TYPED_TEST(NarrowTypes, AreMoved) {
  using T = TypeParam;
  const Array a = Array::of<T>({4, 3, 5}, some_numbers<T>(60, 5)),
              b = Array::of<T>({4, 3, 5}, some_numbers<T>(60, 6));
  const auto held = [](const Array& array) {
    return is_half<T> ? array.to(DType::float64) : array.to(DType::int64);
  };
  const Array at = array::randint(0, 4, {2, 3, 5}), rows = tensor({3, 0, 1, 1}),
              mask = array::rand({4, 3, 5}) > 0.5;
  using A = const Array&;
  const std::vector<std::function<Array(A, A)>> ways{
      [](A x, A y) {
        return array::cat({x, y}, 1);
      },
      [](A x, A y) {
        return array::stack({x, y}, 2);
      },
      [](A x, A) {
        return array::flip(x, {0, 2});
      },
      [](A x, A) { return array::roll(x, 2, 2); },
      [](A x, A) {
        return array::repeat(x, {2, 1, 3});
      },
      [](A x, A) { return array::repeat_interleave(x, 2, 1); },
      [](A x, A) {
        return array::pad(x, {1, 2, 0, 1}, 7);
      },
      [](A x, A) { return array::tril(x); },
      [](A x, A) { return array::triu(x, 1); },
      [](A x, A) {
        return x.permute({2, 0, 1}).reshape({10, 6});
      },
      [](A x, A) { return x.unfold(2, 3, 2).clone(); },
      [](A x, A) { return x.slice(2, 0, 5, 2).contiguous(); },
      [](A x, A) {
        return array::split(x, {2, 3}, 2)[1].clone();
      },
      [](A x, A) { return x[1].t().contiguous(); },
      [&](A x, A) { return array::gather(x, 0, at); },
      [&](A x, A) { return array::index_select(x, 0, rows); },
      [&](A x, A y) { return array::scatter(x, 0, at, y.narrow(0, 0, 2)); },
      [&](A x, A y) { return array::index_copy(x, 0, rows, y); },
      [&](A x, A) { return array::masked_select(x, mask); },
      [&](A x, A) { return array::masked_fill(x, mask, 3); },
      [&](A x, A) { return x.clone().masked_fill_(mask, 3); },
      [](A x, A) { return x.clone().fill_(9); },
      [](A x, A y) {
        Array to = x.clone();
        to.select(1, 2).copy_(y.select(1, 0));
        return to;
      },
      [](A x, A) { return array::nonzero(x); },
      [](A x, A y) { return array::where(x > y, x, y); }};
  for (std::size_t i = 0; i < ways.size(); ++i) {
    const Array moved = ways[i](a, b);
    const Array expected = ways[i](held(a), held(b));
    EXPECT_EQ(moved.shape(), expected.shape()) << i;
    if (dtype_of<T>() == DType::uint64 && i + 1 == ways.size()) continue;  // compared as int64
    EXPECT_TRUE(held(moved).equal(expected)) << i;
  }
}

TYPED_TEST(NarrowTypes, AreWrittenAtPositions) {
  using T = TypeParam;
  const Array a = Array::of<T>({4, 3}, some_numbers<T>(12, 7)),
              b = Array::of<T>({6, 3}, some_numbers<T>(18, 8));
  const Array at = array::randint(0, 4, {6, 3});
  const DType type = is_half<T> ? DType::float32 : DType::int64;
  using array::Combine;
  EXPECT_TRUE(
      array::scatter_add(a, 0, at, b).equal(array::scatter_add(a.to(type), 0, at, b.to(type)).to(a.dtype())));
  EXPECT_TRUE(
      array::scatter_reduce(a, 0, at, b, Combine::product)
          .equal(array::scatter_reduce(a.to(type), 0, at, b.to(type), Combine::product).to(a.dtype())));
  if (a.dtype() == DType::uint64) return;  // int64 orders them otherwise
  for (const Combine way : {Combine::minimum, Combine::maximum})
    EXPECT_TRUE(array::scatter_reduce(a, 0, at, b, way)
                    .equal(array::scatter_reduce(a.to(type), 0, at, b.to(type), way).to(a.dtype())));
}

// Each function computes in float32 and rounds once.
TEST(ShortReals, RoundOncePerFunction) {
  using A = const Array&;
  array::manual_seed(3);
  const std::vector<std::function<Array(A)>> functions{
      [](A x) { return array::exp(x); },
      [](A x) { return array::tanh(x); },
      [](A x) { return array::sigmoid(x); },
      [](A x) { return array::erf(x); },
      [](A x) { return array::gelu(x); },
      [](A x) { return array::softplus(x); },
      [](A x) { return array::leaky_relu(x, 0.1); },
      [](A x) { return array::relu(x); },
      [](A x) { return array::abs(x); },
      [](A x) { return array::neg(x); },
      [](A x) { return array::sign(x); },
      [](A x) { return array::floor(x); },
      [](A x) { return array::round(x); },
      [](A x) { return array::square(x); },
      [](A x) { return array::clamp(x, -1, 0.5); },
      [](A x) { return array::nan_to_num(x, 1, 2, 3); },
      [](A x) { return array::softmax(x, 1); },
      [](A x) { return array::log_softmax(x, 0); },
      [](A x) { return array::logsumexp(x, {1}); },
      [](A x) { return array::cumsum(x, 1); },
      [](A x) { return array::cumprod(x, 1); },
      [](A x) { return array::prod(x, {0}); },
      [](A x) { return array::mean(x, {1}); },
      [](A x) { return array::var(x, {1}); },
      [](A x) { return array::norm(x, 2, {1}); },
      [](A x) { return array::layer_norm(x, 1, {}, {}, 1e-5); },
      [](A x) { return array::matmul(x, x.t()); },
      [](A x) { return array::linear(x, x, x.select(1, 0).narrow(0, 0, 6)); },
      [](A x) { return array::det(x); },
      [](A x) {
        return array::einsum("ij,kj->ik", std::vector<Array>{x, x});
      },
      [](A x) {
        return array::max_pool(x.reshape({1, 1, 6, 6}), {{2, 2}, {}, {}, {}}).values;
      },
      [](A x) {
        return array::avg_pool(x.reshape({1, 1, 6, 6}), {{2, 2}, {}, {}, {}});
      },
      [](A x) {
        return array::convolution(x.reshape({1, 1, 6, 6}),
                                  x.narrow(0, 0, 3).narrow(1, 0, 3).reshape({1, 1, 3, 3}), {}, {});
      },
      [](A x) { return array::topk(x, 3, 1).values; }};
  for (const DType type : {DType::float16, DType::bfloat16}) {
    const Array x = array::randn({6, 6}).to(type);
    for (std::size_t i = 0; i < functions.size(); ++i) {
      const Array found = functions[i](x), wide = functions[i](x.to(DType::float32));
      EXPECT_EQ(found.dtype(), type) << i;
      EXPECT_TRUE(found.equal(wide.to(type))) << i << " of " << to_string(type);
    }
    EXPECT_TRUE(x.isfinite().all().item<bool>());
    EXPECT_FALSE(x.isnan().any().item<bool>());
  }
}

TEST(ShortReals, GoBackThroughConversions) {
  const Array x = tensor({1.5F, -2.0F, 3.0F}).to(DType::float16).requires_grad_();
  const Array y = (x * x).sum();
  const Array slopes = array::gradients(std::span(&y, 1), std::span(&x, 1))[0];
  EXPECT_EQ(slopes.dtype(), DType::float16);
  const Array held = slopes.to(DType::float32);
  EXPECT_THAT(held.as<float>(), ElementsAre(3, -4, 6));
}

TEST(ElementTypes, ConvertExactlyOrToTheNearest) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    Float16 half;
    half.bits = static_cast<std::uint16_t>(bits);
    if (!std::isnan(static_cast<float>(half))) {
      EXPECT_EQ(Float16(static_cast<double>(static_cast<float>(half))).bits, half.bits);
    }
  }
  // Above the middle of two neighbours by less than a float32 shows: rounded up, not to the even one.
  EXPECT_EQ(Float16(1 + 0x1p-11 + 0x1p-40).bits, Float16(1 + 0x1p-10).bits);
  EXPECT_EQ(Float16(1 + 0x1p-11).bits, Float16(1.0).bits);
  EXPECT_EQ(BFloat16((std::int64_t{257} << 40) + 1).bits, BFloat16(258.0 * 0x1p40).bits);
  EXPECT_EQ(BFloat16(std::int64_t{257} << 40).bits, BFloat16(256.0 * 0x1p40).bits);
  EXPECT_EQ(BFloat16(-((std::int64_t{257} << 40) + 1)).bits, BFloat16(-258.0 * 0x1p40).bits);
  EXPECT_EQ(Float16(std::numeric_limits<std::uint64_t>::max()).bits, 0x7c00);
  const Array wild = tensor({1e30, -1e30, std::nan(""), 2.9});
  EXPECT_THAT(wild.to(DType::uint16).as<std::uint16_t>(), ElementsAre(65535, 0, 0, 2));
  EXPECT_THAT(wild.to(DType::int16).as<std::int16_t>(), ElementsAre(32767, -32768, 0, 2));
  EXPECT_THAT(wild.to(DType::uint64).as<std::uint64_t>(),
              ElementsAre(std::numeric_limits<std::uint64_t>::max(), 0u, 0u, 2u));
  const Array small = tensor({0, 1, 2, 100});
  for (const DType from : all_types) {
    for (const DType to : all_types) {
      const bool truths = from == DType::boolean || to == DType::boolean;
      const Array found = small.to(from).to(to).to(DType::int64);
      EXPECT_TRUE(found.equal(truths ? tensor({0, 1, 1, 1}) : small)) << to_string(from) << to_string(to);
    }
    EXPECT_EQ(array::full({2}, 5, from).to(DType::int64)[1].item<int>(), from == DType::boolean ? 1 : 5);
    EXPECT_EQ(array::arange(0, 2, from).to(DType::int64)[1].item<int>(), 1);
  }
}

TEST(ElementTypes, HaveOneThatHoldsBoth) {
  const auto both = [](DType a, DType b) {
    const DType found = array::result_type(array::zeros({1}, a), array::zeros({1}, b));
    EXPECT_EQ(found, array::result_type(array::zeros({1}, b), array::zeros({1}, a)));
    return found;
  };
  EXPECT_EQ(both(DType::float16, DType::bfloat16), DType::float32);
  EXPECT_EQ(both(DType::float16, DType::float32), DType::float32);
  EXPECT_EQ(both(DType::float16, DType::int64), DType::float16);
  EXPECT_EQ(both(DType::bfloat16, DType::boolean), DType::bfloat16);
  EXPECT_EQ(both(DType::int16, DType::uint8), DType::int16);
  EXPECT_EQ(both(DType::int16, DType::uint16), DType::int32);
  EXPECT_EQ(both(DType::int8, DType::uint16), DType::int32);
  EXPECT_EQ(both(DType::int8, DType::uint8), DType::int32);
  EXPECT_EQ(both(DType::uint8, DType::uint16), DType::uint16);
  EXPECT_EQ(both(DType::int32, DType::uint32), DType::int64);
  EXPECT_EQ(both(DType::int64, DType::uint32), DType::int64);
  EXPECT_EQ(both(DType::int64, DType::uint64), DType::float64);
}

TEST(ElementTypes, OfUnsignedNumbersAboveThoseOfInt64) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  const Array a = Array::of<std::uint64_t>({3}, std::vector<std::uint64_t>{most, 1, most / 2 + 1});
  EXPECT_EQ(a.max().item<std::uint64_t>(), most);
  EXPECT_EQ(a[0].scalar().to<double>(), 0x1p64);
  EXPECT_EQ(array::full({}, a[0].scalar(), DType::float64).item<double>(), 0x1p64);
  EXPECT_EQ(array::full({}, a[0].scalar(), DType::uint64).item<std::uint64_t>(), most);
  EXPECT_THAT(array::sort(a, 0).positions.as<std::int64_t>(), ElementsAre(1, 2, 0));
  EXPECT_THAT(array::div(a, 2, array::Rounding::floor).as<std::uint64_t>(),
              ElementsAre(most / 2, 0u, (most / 2 + 1) / 2));
  EXPECT_THAT(a.to(DType::float64).as<double>(), ElementsAre(0x1p64, 1, 0x1p63));
  EXPECT_EQ(Array(a).clone().clamp_(0, 5).max().item<int>(), 5);
}

TEST(ElementTypes, SayTheirNamesAndSizes) {
  const std::vector<std::string> names{"float32", "float64",  "int64", "int32",  "int8",   "uint8", "bool",
                                       "float16", "bfloat16", "int16", "uint16", "uint32", "uint64"};
  const std::vector<std::size_t> sizes{4, 8, 8, 4, 1, 1, 1, 2, 2, 2, 2, 4, 8};
  for (std::size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(to_string(all_types[i]), names[i]);
    EXPECT_EQ(size_of(all_types[i]), sizes[i]);
    EXPECT_EQ(is_real(all_types[i]), names[i].find("float") != std::string::npos);
  }
}

// Numbers that a type does not have lie above or below all of its own, as in NumPy.
TEST(ElementTypes, AreComparedWithNumbersThatTheyDoNotHave) {
  const Array most = array::full({1}, 65535, DType::uint16), one = array::full({1}, 1, DType::int16),
              large = array::full({1}, ~std::uint64_t{0}, DType::uint64);
  EXPECT_FALSE((most == -1).item<bool>());
  EXPECT_FALSE((most >= 65536).item<bool>());
  EXPECT_TRUE((most > -1).item<bool>());
  EXPECT_TRUE((one < 40000).item<bool>());
  EXPECT_FALSE((large == -1).item<bool>());
  EXPECT_TRUE((large != -1).item<bool>());
  const auto whole = [](std::int64_t value) { return array::full({1}, value, DType::int64); };
  const auto natural = [](std::uint64_t value) { return array::full({1}, value, DType::uint64); };
  const std::int64_t greatest = std::numeric_limits<std::int64_t>::max();
  EXPECT_FALSE(array::eq(whole(greatest), natural(std::uint64_t{1} << 63)).item<bool>());
  EXPECT_FALSE(array::eq(natural((std::uint64_t{1} << 53) + 1), whole(std::int64_t{1} << 53)).item<bool>());
  EXPECT_TRUE((whole(16777217) > 16777216.0).item<bool>());
  EXPECT_TRUE(array::lt(whole(-1), natural(0)).item<bool>());
  EXPECT_TRUE(array::gt(natural(0), whole(-1)).item<bool>());
}

TEST(ElementTypes, AreClampedToTheNearestBoundThatTheyHave) {
  const Array most = array::full({1}, 65535, DType::uint16);
  EXPECT_EQ(array::clamp(most, 0, 4294967295).to(DType::int64).item<std::int64_t>(), 65535);
  EXPECT_EQ(array::clamp(array::full({1}, 3, DType::uint64), -5, 10).to(DType::int64).item<std::int64_t>(),
            3);
  Array one = array::full({1}, 1, DType::int16);
  one.clamp_(40000, 50000);
  EXPECT_EQ(one.to(DType::int64).item<std::int64_t>(), 32767);
}

// Sums that the type does not hold, of means and norms.
TEST(ElementTypes, MeansAndNormsAreRoundedOnce) {
  const Array at = array::zeros({3, 1}, DType::int64);
  const auto mean = [&](DType type) {
    const Array a = array::full({1, 1}, 30000, type), b = array::full({3, 1}, 30000, type);
    return array::scatter_reduce(a, 0, at, b, array::Combine::mean).to(DType::float64).item<double>();
  };
  const Array many = array::full({3, 1}, 200, DType::uint8);
  EXPECT_EQ(array::scatter_reduce(many.narrow(0, 0, 1), 0, at, many, array::Combine::mean)
                .to(DType::int64)
                .item<std::int64_t>(),
            200);
  EXPECT_EQ(mean(DType::float16), 30000);
  EXPECT_EQ(mean(DType::int16), 30000);
  const Array two = array::full({2}, 200, DType::int16);
  EXPECT_NEAR(array::norm(two, 2, {0}).item<float>(), 282.8427F, 1e-3);
  for (const double p : {1.0, std::numeric_limits<double>::infinity()})
    EXPECT_EQ(array::norm(array::full({1}, -128, DType::int8), p, {0}).item<float>(), 128);
}

}  // namespace
}  // namespace assay

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <assay/array_math.h>
#include <assay/error.h>
#include "assay/array/gemm.h"
#include "assay/support/thread_pool.h"

namespace assay::array {
namespace {

template <typename T>
std::vector<T> drawn(std::int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  std::vector<T> values(static_cast<std::size_t>(count));
  for (T& value : values) value = static_cast<T>(normal(generator));
  return values;
}

Array drawn_array(Shape shape, unsigned seed) {
  const std::int64_t count = element_count(shape);
  return Array::of(std::move(shape), drawn<double>(count, seed));
}

Array halves(Shape shape) {
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) * 0.5F - 1;
  return Array::of(std::move(shape), values);
}

std::vector<double> listed(const Array& array) {
  const Array whole = array.detach().contiguous().to(DType::float64);
  return {whole.as<double>().begin(), whole.as<double>().end()};
}

void expect_listed(const Array& array, const Shape& shape, const std::vector<double>& values,
                   double tolerance = 0) {
  EXPECT_EQ(array.shape(), shape);
  const std::vector<double> found = listed(array);
  ASSERT_EQ(found.size(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(found[i], values[i], tolerance) << i;
}

bool same_bits(const Array& a, const Array& b) {
  const Array x = a.contiguous(), y = b.contiguous();
  return x.shape() == y.shape() && std::memcmp(x.data(), y.data(), x.byte_size()) == 0;
}

void expect_fault(Fault fault, const std::function<void()>& call, const std::string& part) {
  try {
    call();
    ADD_FAILURE() << "no error: " << part;
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), fault) << error.what();
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

// Gradients of a weighted sum of the result against central differences.
void expect_gradients(const std::function<Array(const Arrays&)>& call, const Arrays& inputs) {
  Arrays points;
  for (const Array& input : inputs) points.push_back(input.requires_grad_());
  const Array result = call(points);
  const Array seed = drawn_array(result.shape(), 99);
  const Arrays found = gradients(std::span(&result, 1), points, std::span(&seed, 1));
  const auto weighted = [&](const Arrays& at) {
    const std::vector<double> values = listed(call(at)), weights = listed(seed);
    double sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i) sum += values[i] * weights[i];
    return sum;
  };
  constexpr double step = 1e-5;
  for (std::size_t p = 0; p < inputs.size(); ++p) {
    ASSERT_EQ(found[p].shape(), inputs[p].shape());
    const std::vector<double> steep = listed(found[p]);
    for (std::size_t i = 0; i < steep.size(); ++i) {
      double beside[2];
      for (int side = 0; side < 2; ++side) {
        std::vector<double> moved = listed(inputs[p]);
        moved[i] += side == 0 ? -step : step;
        Arrays at = inputs;
        at[p] = Array::of(inputs[p].shape(), moved);
        beside[side] = weighted(at);
      }
      EXPECT_NEAR(steep[i], (beside[1] - beside[0]) / (2 * step), 1e-6 * (1 + std::abs(steep[i])))
          << p << " " << i;
    }
  }
}

// --- gemm ---

enum class Layout { rows, columns, spread };

// A matrix that lies in memory in some way.
template <typename T>
struct Laid {
  std::vector<T> memory;
  std::int64_t row, column;

  Laid(std::int64_t rows, std::int64_t columns, Layout layout, unsigned seed) {
    const std::int64_t gap = layout == Layout::spread ? 2 : 1;
    row = layout == Layout::columns ? 1 : gap * columns + (layout == Layout::spread ? 3 : 0);
    column = layout == Layout::columns ? rows : gap;
    memory.assign(static_cast<std::size_t>(std::max<std::int64_t>(1, rows * columns * 2 + rows * 3)),
                  T{1000});
    const std::vector<T> values = drawn<T>(rows * columns, seed);
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < columns; ++c) at(r, c) = values[static_cast<std::size_t>(r * columns + c)];
    }
  }
  T& at(std::int64_t r, std::int64_t c) { return memory[static_cast<std::size_t>(r * row + c * column)]; }
  Matrix<const T> matrix() const { return {memory.data(), row, column}; }
};

template <typename T>
void expect_product(std::int64_t m, std::int64_t n, std::int64_t k, Layout of_a, Layout of_b, bool adds) {
  SCOPED_TRACE(testing::Message() << m << " " << n << " " << k << " " << static_cast<int>(of_a)
                                  << static_cast<int>(of_b));
  Laid<T> a(m, k, of_a, 1), b(k, n, of_b, 2);
  const std::int64_t row = n + 3;  // what lies between rows is not touched
  std::vector<T> c(static_cast<std::size_t>(m * row + 1), T{7});
  gemm(m, n, k, a.matrix(), b.matrix(), {c.data(), row, 1}, adds);
  const double tolerance = std::is_same_v<T, float> ? 1e-6 : 1e-14;
  for (std::int64_t r = 0; r < m; ++r) {
    for (std::int64_t j = 0; j < row; ++j) {
      double sum = j >= n || adds ? 7 : 0, size = std::abs(sum) + 1;
      for (std::int64_t p = 0; p < k && j < n; ++p) {
        const double part = static_cast<double>(a.at(r, p)) * static_cast<double>(b.at(p, j));
        sum += part;
        size += std::abs(part);
      }
      ASSERT_NEAR(static_cast<double>(c[static_cast<std::size_t>(r * row + j)]), sum, tolerance * size)
          << r << " " << j;
    }
  }
  EXPECT_EQ(c.back(), T{7});
}

template <typename T>
void expect_all_products() {
  const std::vector<std::vector<std::int64_t>> sizes{
      {1, 1, 1},     {1, 7, 5},   {7, 1, 5},    {4, 4, 4},    {12, 32, 8},  {13, 33, 9},   {5, 49, 300},
      {100, 3, 257}, {3, 100, 1}, {97, 65, 70}, {1, 1100, 9}, {1100, 1, 9}, {2, 900, 260}, {200, 130, 515},
      {0, 3, 2},     {3, 0, 2},   {3, 2, 0},    {11, 17, 3},  {1, 37, 600}};
  for (const auto& size : sizes) {
    for (const Layout of_a : {Layout::rows, Layout::columns, Layout::spread}) {
      for (const Layout of_b : {Layout::rows, Layout::columns, Layout::spread})
        expect_product<T>(size[0], size[1], size[2], of_a, of_b, size[0] % 2 == 0);
    }
  }
}

// On every instruction set that the processor has.
void on_all_targets(const std::function<void()>& test) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    test();
  }
  hwy::SetSupportedTargetsForTest(0);
}

TEST(Gemm, MultipliesFloats) { on_all_targets(expect_all_products<float>); }
TEST(Gemm, MultipliesDoubles) { on_all_targets(expect_all_products<double>); }

// Whatever the shape, strides and threads are.
TEST(Gemm, SumsEveryElementInOneOrder) {
  on_all_targets([] {
    const std::int64_t m = 61, n = 83, k = 700;
    Laid<float> a(m, k, Layout::rows, 1), b(k, n, Layout::rows, 2), a_columns(m, k, Layout::columns, 1),
        b_columns(k, n, Layout::columns, 2), b_spread(k, n, Layout::spread, 2);
    std::vector<float> whole(static_cast<std::size_t>(m * n)), other(whole.size());
    gemm(m, n, k, a.matrix(), b.matrix(), {whole.data(), n, 1}, false);
    for (const Laid<float>* right : {&b, &b_columns, &b_spread}) {
      for (const Laid<float>* left : {&a, &a_columns}) {
        for (std::int64_t rows : {1, 2, 7, 61}) {
          for (std::int64_t r = 0; r < m; r += rows) {
            Matrix<const float> part = left->matrix();
            part.data += r * part.row;
            gemm(std::min(rows, m - r), n, k, part, right->matrix(), {other.data() + r * n, n, 1}, false);
          }
          EXPECT_EQ(whole, other) << rows;
        }
        for (std::int64_t c = 0; c < n; ++c) {
          std::vector<float> column(static_cast<std::size_t>(m));
          Matrix<const float> part = right->matrix();
          part.data += c * part.column;
          gemm(m, 1, k, left->matrix(), part, {column.data(), 1, 1}, false);
          for (std::int64_t r = 0; r < m; ++r)
            ASSERT_EQ(column[static_cast<std::size_t>(r)], whole[static_cast<std::size_t>(r * n + c)]);
        }
      }
    }
    set_loop_threads(5);
    gemm(m, n, k, a.matrix(), b.matrix(), {other.data(), n, 1}, false);
    set_loop_threads(0);
    EXPECT_EQ(whole, other);
  });
}

TEST(Gemm, NotANumberStaysInItsRowAndColumn) {
  Laid<float> a(20, 30, Layout::rows, 1), b(30, 40, Layout::columns, 2);
  a.at(13, 4) = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> c(800);
  gemm(20, 40, 30, a.matrix(), b.matrix(), {c.data(), 40, 1}, false);
  for (std::size_t i = 0; i < c.size(); ++i) EXPECT_EQ(std::isnan(c[i]), i / 40 == 13) << i;
}

// --- Products of arrays ---

// A product by its definition, of operands with as many axes.
Array plain_matmul(const Array& a, const Array& b) {
  const Array x = a.contiguous(), y = b.contiguous();
  const std::int64_t m = a.size(-2), k = a.size(-1), n = b.size(-1);
  const std::int64_t batch_a = a.count() / (m * k), batch_b = b.count() / (k * n),
                     batch = std::max(batch_a, batch_b);
  std::vector<double> out(static_cast<std::size_t>(batch * m * n));
  for (std::int64_t i = 0; i < batch * m * n; ++i) {
    const std::int64_t at = i / (m * n), r = i / n % m, c = i % n;
    for (std::int64_t p = 0; p < k; ++p)
      out[static_cast<std::size_t>(i)] +=
          x.as<double>()[static_cast<std::size_t>((at % batch_a * m + r) * k + p)] *
          y.as<double>()[static_cast<std::size_t>((at % batch_b * k + p) * n + c)];
  }
  Shape shape = batch_a >= batch_b ? a.shape() : b.shape();
  shape[shape.size() - 2] = m;
  shape[shape.size() - 1] = n;
  return Array::of(shape, out);
}

TEST(Products, MatmulTakesVectorsMatricesAndBatches) {
  const Array a = halves({2, 3}), b = halves({3, 2}), v = halves({3});
  expect_listed(matmul(a, b), {2, 2}, {1, 0.25, 1, 2.5});
  expect_listed(matmul(v, v), {}, {1.25});
  expect_listed(matmul(a, v), {2}, {1.25, -1});
  expect_listed(matmul(v, b), {2}, {1, 0.25});
  expect_listed(mv(a, v), {2}, {1.25, -1});
  EXPECT_EQ(matmul(v, halves({4, 5, 3, 2})).shape(), (Shape{4, 5, 2}));
  EXPECT_EQ(matmul(halves({4, 5, 3}), v).shape(), (Shape{4, 5}));
  EXPECT_EQ(matmul(halves({4, 1, 2, 3}), halves({5, 3, 6})).shape(), (Shape{4, 5, 2, 6}));
  EXPECT_EQ(matmul(halves({0, 2, 3}), b).shape(), (Shape{0, 2, 2}));
  expect_listed(matmul(halves({2, 0}), halves({0, 2})), {2, 2}, {0, 0, 0, 0});
}

TEST(Products, OfBatchesAreThoseOfTheirMatrices) {
  const Array a = drawn_array({6, 9, 5}, 1), b = drawn_array({6, 5, 11}, 2), one = drawn_array({5, 11}, 3);
  EXPECT_TRUE(allclose(bmm(a, b), plain_matmul(a, b)));
  EXPECT_TRUE(allclose(matmul(a, one), plain_matmul(a, one.unsqueeze(0))));
  EXPECT_TRUE(allclose(matmul(one.t(), b), plain_matmul(one.t().unsqueeze(0), b)));
  const Array turned = drawn_array({6, 11, 5}, 4).transpose(1, 2);
  EXPECT_TRUE(allclose(bmm(a, turned), plain_matmul(a, turned)));
  EXPECT_TRUE(same_bits(bmm(a, turned), bmm(a, turned.contiguous())));
  const Array same = drawn_array({1, 9, 5}, 5).expand({6, 9, 5});
  EXPECT_TRUE(allclose(bmm(same, b), plain_matmul(same, b)));
}

TEST(Products, DoNotDependOnThreads) {
  const Array a = drawn_array({7, 33, 40}, 1).to(DType::float32),
              b = drawn_array({7, 40, 50}, 2).to(DType::float32);
  set_loop_threads(1);
  const Array alone = bmm(a, b);
  set_loop_threads(4);
  const Array together = bmm(a, b);
  set_loop_threads(0);
  EXPECT_TRUE(same_bits(alone, together));
}

TEST(Products, OfWholeNumbersWrapAround) {
  const Array a = Array::of({2, 2}, std::vector<std::int64_t>{1, -2, std::int64_t{1} << 62, 4});
  expect_listed(mm(a, a.t()).select(0, 0), {2}, {5, -8 + std::ldexp(1.0, 62)});
  const Array bytes = Array::of({1, 2}, std::vector<std::uint8_t>{16, 200});
  expect_listed(mm(bytes, bytes.t()), {1, 1}, {(256 + 40000) % 256});
  const Array narrow = Array::of({2, 3}, std::vector<std::int32_t>{1, 2, 3, 4, 5, 6});
  expect_listed(matmul(narrow, narrow.t()), {2, 2}, {14, 32, 32, 77});
  EXPECT_EQ(matmul(narrow, narrow.t()).dtype(), DType::int32);
}

TEST(Products, AddmmAndLinear) {
  const Array a = halves({2, 3}), b = halves({3, 2}), bias = halves({2});
  expect_listed(addmm(bias, a, b), {2, 2}, {0, -0.25, 0, 2});
  expect_listed(addmm(halves({2, 1}), a, b), {2, 2}, {0, -0.75, 0.5, 2});
  expect_listed(linear(a, b.t(), bias), {2, 2}, {0, -0.25, 0, 2});
  expect_listed(linear(a, b.t()), {2, 2}, {1, 0.25, 1, 2.5});
  expect_listed(linear(halves({3}), b.t(), bias), {2}, {0, -0.25});
  expect_listed(linear(a, halves({3})), {2}, {1.25, -1});
  EXPECT_EQ(linear(halves({4, 0, 3}), b.t(), bias).shape(), (Shape{4, 0, 2}));
  EXPECT_EQ(linear(halves({4, 5, 3}), b.t(), bias).shape(), (Shape{4, 5, 2}));
}

TEST(Products, RefuseOperandsThatDoNotMeet) {
  const Array a = halves({2, 3});
  expect_fault(
      Fault::model, [&] { matmul(a, a); }, "[2, 3]");
  expect_fault(
      Fault::model, [&] { mm(a, halves({3})); }, "[3]");
  expect_fault(
      Fault::model,
      [&] {
        bmm(halves({2, 2, 3}), halves({1, 3, 2}));
      },
      "[1, 3, 2]");
  expect_fault(
      Fault::model,
      [&] {
        matmul(halves({2, 2, 3}), halves({3, 3, 2}));
      },
      "broadcast");
  expect_fault(
      Fault::model, [&] { matmul(a, halves({})); }, "[]");
  expect_fault(
      Fault::model,
      [&] {
        matmul(a, halves({3, 2}).to(DType::float64));
      },
      "float64");
  expect_fault(
      Fault::model,
      [&] {
        addmm(halves({3}), a, halves({3, 2}));
      },
      "[3]");
  expect_fault(
      Fault::model, [&] { addmm(halves({2}), a, a); }, "[2, 3]");
  expect_fault(
      Fault::model,
      [&] {
        linear(a, halves({2, 4}), halves({2}));
      },
      "[4, 2]");
  expect_fault(
      Fault::unsupported, [&] { mm(a.to(DType::boolean), a.t().to(DType::boolean)); }, "truth");
}

TEST(Products, HaveGradients) {
  const Array a = drawn_array({2, 3}, 1), b = drawn_array({3, 4}, 2), batch = drawn_array({2, 2, 3}, 3),
              other = drawn_array({2, 3, 2}, 4), wide = drawn_array({3, 1, 3, 2}, 5), v = drawn_array({3}, 6);
  const auto product = [](const Arrays& of) { return matmul(of[0], of[1]); };
  expect_gradients(product, {a, b});
  expect_gradients(product, {batch, b});
  expect_gradients(product, {a, other});
  expect_gradients(product, {batch, other});
  expect_gradients(product, {batch, wide});
  expect_gradients(product, {v, v});
  expect_gradients(product, {v, other});
  expect_gradients(product, {batch, v});
  expect_gradients([](const Arrays& of) { return mv(of[0], of[1]); }, {a, v});
  expect_gradients([](const Arrays& of) { return addmm(of[0], of[1], of[2]); }, {drawn_array({4}, 7), a, b});
  expect_gradients([](const Arrays& of) { return addmm(of[0], of[1], of[2]); },
                   {drawn_array({2, 1}, 7), a, b});
  expect_gradients([](const Arrays& of) { return linear(of[0], of[1], of[2]); },
                   {batch, drawn_array({4, 3}, 8), drawn_array({4}, 9)});
  expect_gradients([](const Arrays& of) { return linear(of[0].t(), of[1], of[2]); },
                   {drawn_array({3, 2}, 1), drawn_array({4, 3}, 8), drawn_array({4}, 9)});
}

TEST(Products, GiveNoGradientThatIsNotWanted) {
  const Array a = halves({2, 3}).requires_grad_(), b = halves({3, 2});
  const Array result = mm(a, b);
  const Arrays found = gradients(std::span(&result, 1), std::vector<Array>{a, b.requires_grad_()});
  expect_listed(found[0], {2, 3}, {-1.5, 0.5, 2.5, -1.5, 0.5, 2.5});
  EXPECT_FALSE(found[1].defined());
}

// --- einsum ---

Array einsum_of(std::string_view equation, const Arrays& operands) { return einsum(equation, operands); }

TEST(Einsum, IsThatOfTorch) {
  const Array a = halves({2, 3}), b = halves({3, 2}), square = halves({3, 3}), cube = halves({2, 2, 2});
  expect_listed(einsum_of("ij,jk", {a, b}), {2, 2}, {1, 0.25, 1, 2.5});
  expect_listed(einsum_of(" i j , j k -> k i", {a, b}), {2, 2}, {1, 1, 0.25, 2.5});
  expect_listed(einsum_of("ii", {square}), {}, {3});
  expect_listed(einsum_of("ii->i", {square}), {3}, {-1, 1, 3});
  expect_listed(einsum_of("ij->", {a}), {}, {1.5});
  expect_listed(einsum_of("ij->j", {a}), {3}, {-0.5, 0.5, 1.5});
  expect_listed(einsum_of("ji", {a}), {3, 2}, {-1, 0.5, -0.5, 1, 0, 1.5});
  expect_listed(einsum_of("aB,aC", {a, a}), {3, 3}, {1.25, 1, 0.75, 1, 1.25, 1.5, 0.75, 1.5, 2.25});
  expect_listed(einsum_of("bA,ca->", {a, b.t()}), {}, {2.25});
  expect_listed(einsum_of("ij,jk,kl->il", {a, b, a}), {2, 3}, {-0.875, -0.25, 0.375, 0.25, 2, 3.75});
  expect_listed(einsum_of("i,j->ij", {halves({2}), halves({3})}), {2, 3}, {1, 0.5, 0, 0.5, 0.25, 0});
  expect_listed(einsum_of("i,i", {halves({3}), halves({3})}), {}, {1.25});
  expect_listed(einsum_of("ij,j->ij", {a, halves({3})}), {2, 3}, {1, 0.25, 0, -0.5, -0.5, 0});
  expect_listed(einsum_of("ij,kl->ik", {a, b}), {2, 3}, {2.25, -0.75, -3.75, -4.5, 1.5, 7.5});
  expect_listed(einsum_of("iij->ij", {cube}), {2, 2}, {-1, -0.5, 2, 2.5});
  expect_listed(einsum_of("iii", {cube}), {}, {1.5});
  expect_listed(einsum_of("", {full({}, 2)}), {}, {2});
  expect_listed(einsum_of("i,->i", {halves({3}), full({}, 2)}), {3}, {-2, -1, 0});
}

TEST(Einsum, TakesEllipsesAndAxesOfOneElement) {
  const Array a = halves({2, 3}), cube = halves({2, 2, 2});
  const std::vector<double> products{1, 0.25, 0, 0.25, -1, 0.25, -2, 0.25};
  expect_listed(einsum_of("...ij,jk->...ik", {cube, halves({2, 2})}), {2, 2, 2}, products);
  expect_listed(einsum_of("...ij,...jk->...ik", {cube, halves({2, 2})}), {2, 2, 2}, products);
  expect_listed(einsum_of("...ij,...jk", {cube, halves({2, 2})}), {2, 2, 2}, products);
  expect_listed(einsum_of("b...,b...->b", {cube, cube}), {2}, {1.5, 13.5});
  expect_listed(einsum_of("...ii->...i", {cube}), {2, 2}, {-1, 0.5, 1, 2.5});
  expect_listed(einsum_of("...i,...i->i", {cube, halves({2})}), {2}, {-2, -2});
  expect_listed(einsum_of("...->", {a}), {}, {1.5});
  expect_listed(einsum_of("ij->...ij", {a}), {2, 3}, {-1, -0.5, 0, 0.5, 1, 1.5});
  expect_listed(einsum_of("ij,jk->ik", {halves({2, 1}), halves({3, 2})}), {2, 2}, {0, -1.5, 0, -0.75});
  EXPECT_EQ(einsum_of("bhid,bhjd->bhij", {halves({2, 3, 4, 5}), halves({2, 3, 6, 5})}).shape(),
            (Shape{2, 3, 4, 6}));
  EXPECT_EQ(einsum_of("ij,jk->ik", {halves({2, 0}), halves({0, 4})}).shape(), (Shape{2, 4}));
  EXPECT_EQ(
      einsum_of("ij,jk->ik", {Array::of({1, 2}, Shape{3, 4}), Array::of({2, 1}, Shape{5, 6})}).item<int>(),
      39);
}

TEST(Einsum, RefusesWhatHasNoMeaning) {
  const Array a = halves({2, 3}), cube = halves({2, 2, 2});
  const auto refused = [](std::string_view equation, const Arrays& operands, const std::string& part) {
    expect_fault(
        Fault::model, [&] { einsum(equation, operands); }, part);
  };
  refused("ij->ii", {a}, "twice");
  refused("ij->ik", {a}, "no operand");
  refused("ij", {cube}, "[2, 2, 2]");
  refused("ijkl...", {cube}, "[2, 2, 2]");
  refused("i...j...", {cube}, "ellipsis");
  refused("ij,", {a}, "1 operands");
  refused("ij", {}, "0 operands");
  refused("ii", {a}, "different sizes");
  refused("i1", {a}, "letters");
  refused("ij,jk", {a, a}, "of 3 and of 2");
  refused("i.j", {a}, "letters");
  refused("ij->i->j", {a}, "letters");
  refused("ij-", {a}, "letters");
}

TEST(Einsum, HasGradients) {
  const auto by = [](std::string_view equation) {
    return [equation](const Arrays& of) { return einsum(equation, of); };
  };
  const Array a = drawn_array({2, 3}, 1), b = drawn_array({3, 2}, 2), cube = drawn_array({3, 2, 2}, 3);
  expect_gradients(by("ij,jk->ki"), {a, b});
  expect_gradients(by("ij,jk,ik->j"), {a, b, drawn_array({2, 2}, 4)});
  expect_gradients(by("b...ii,...i->b"), {cube, drawn_array({2}, 5)});
  expect_gradients(by("aij,aik->ajk"), {cube, cube});
  expect_gradients(by("ij,kj->ki"), {drawn_array({2, 1}, 6), a});
  expect_gradients(by("ij,ij->"), {a, a});
  expect_gradients(by("ij->"), {a});
}

// --- Determinants ---

TEST(Det, OfMatricesAndBatches) {
  const Array a = Array::of({3, 3}, std::vector<float>{2, -1, 0, 1, 3, 5, 4, 0, 1});
  expect_listed(det(a), {}, {-13}, 1e-5);
  expect_listed(det(a.t()), {}, {-13}, 1e-5);
  const Array pair = Array::of({2, 2, 2}, std::vector<double>{0, 1, 1, 0, 1, 2, 2, 4});
  expect_listed(det(pair), {2}, {-1, 0}, 1e-12);
  expect_listed(det(halves({0, 0})), {}, {1});
  EXPECT_EQ(det(halves({0, 2, 2})).shape(), Shape{0});
  EXPECT_TRUE(
      std::isnan(det(full({2, 2}, std::numeric_limits<double>::quiet_NaN(), DType::float32)).item<float>()));
  expect_fault(
      Fault::model,
      [] {
        det(halves({2, 3}));
      },
      "[2, 3]");
  expect_fault(
      Fault::model, [] { det(halves({3})); }, "[3]");
}

TEST(Det, HasGradientsOfMatricesWithoutInverse) {
  expect_gradients([](const Arrays& of) { return det(of[0]); }, {drawn_array({3, 4, 4}, 1)});
  expect_gradients([](const Arrays& of) { return det(of[0].transpose(0, 1)); }, {drawn_array({2, 2}, 2)});
  expect_gradients([](const Arrays& of) { return det(of[0]); },
                   {Array::of({3, 3}, std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9})});
  expect_gradients([](const Arrays& of) { return det(of[0]); }, {Array::of({1, 1}, std::vector<double>{0})});
}

}  // namespace
}  // namespace assay::array

#include "fixture.h"

namespace assay::testing {
namespace {

TEST(Gemm, AgreesWithTheSumWrittenOut) {
  for (const std::int64_t trans_a : {0, 1}) {
    for (const std::int64_t trans_b : {0, 1}) {
      for (const Ints& c_shape : {Ints{4}, Ints{3, 1}, Ints{3, 4}, Ints{}}) {
        const Array a = random_tensor(trans_a ? Ints{2, 3} : Ints{3, 2}, 1);
        const Array b = random_tensor(trans_b ? Ints{4, 2} : Ints{2, 4}, 2), c = random_tensor(c_shape, 3);
        const Array wide = c.expand({3, 4});
        const Array expected = tabulate({3, 4}, [&](const Ints& i) {
          double sum = 0.25 * at_index(wide, i);
          for (std::int64_t k = 0; k < 2; ++k) {
            sum += 0.5 * at_index(a, trans_a ? Ints{k, i[0]} : Ints{i[0], k}) *
                   at_index(b, trans_b ? Ints{i[1], k} : Ints{k, i[1]});
          }
          return sum;
        });
        const Attributes attributes{
            {"transA", trans_a}, {"transB", trans_b}, {"alpha", 0.5f}, {"beta", 0.25f}};
        EXPECT_TRUE(same(run("Gemm", {a, b, c}, attributes), expected));
        EXPECT_TRUE(gradients_agree("Gemm", {a, b, c}, attributes));
      }
    }
  }
}

TEST(Gemm, NeedsNoThirdInput) {
  const Array a = floats({1, 2}, {1, 2}), b = floats({2, 1}, {3, 5});
  EXPECT_TRUE(same(run("Gemm", {a, b}), floats({1, 1}, {13})));
  EXPECT_TRUE(same(run("Gemm", {a, b}, {{"alpha", 2.0f}}), floats({1, 1}, {26})));
  EXPECT_EQ(fault_of("Gemm", {a, a}), Fault::model);
  EXPECT_EQ(fault_of("Gemm", {array::ones({2}), b}), Fault::model);
}

TEST(MatMul, MultipliesStacksOfMatricesWithBroadcasting) {
  const Array a = random_tensor({2, 1, 3, 4}, 1), b = random_tensor({5, 4, 2}, 2);
  const Array expected = tabulate({2, 5, 3, 2}, [&](const Ints& i) {
    double sum = 0;
    for (std::int64_t k = 0; k < 4; ++k)
      sum += at_index(a, {i[0], 0, i[2], k}) * at_index(b, {i[1], k, i[3]});
    return sum;
  });
  EXPECT_TRUE(same(run("MatMul", {a, b}), expected));
  EXPECT_TRUE(gradients_agree("MatMul", {a, b}));
  EXPECT_EQ(run("MatMul", {array::ones({3}), array::ones({3, 2})}).shape(), (Ints{2}));
  EXPECT_EQ(run("MatMul", {array::ones({3}), array::ones({3})}).rank(), 0);
  EXPECT_EQ(fault_of("MatMul", {a, array::ones({3, 3})}), Fault::model);
  EXPECT_EQ(fault_of("MatMul", {a, array::ones({})}), Fault::model);
}

TEST(Einsum, ContractsTheLettersThatTheResultLacks) {
  const Array q = random_tensor({2, 3, 4}, 1), k = random_tensor({2, 5, 4}, 2);
  const Array expected = tabulate({2, 3, 5}, [&](const Ints& i) {
    double sum = 0;
    for (std::int64_t d = 0; d < 4; ++d) sum += at_index(q, {i[0], i[1], d}) * at_index(k, {i[0], i[2], d});
    return sum;
  });
  const auto equation = [](std::string text) { return Attributes{{"equation", std::move(text)}}; };
  EXPECT_TRUE(same(run("Einsum", {q, k}, equation("bid, bjd -> bij")), expected));
  EXPECT_TRUE(same(run("Einsum", {q, k}, equation("...id,...jd->...ij")), expected));
  EXPECT_TRUE(gradients_agree("Einsum", {q, k}, equation("bid,bjd->bij")));
  const Array square = floats({2, 2}, {1, 2, 3, 4});
  EXPECT_TRUE(same(run("Einsum", {square}, equation("ii")), floats({}, {5})));
  EXPECT_EQ(fault_of("Einsum", {q, k}, equation("bid,bjd->bix")), Fault::model);
  EXPECT_EQ(fault_of("Einsum", {q}, equation("")), Fault::model);
}

}  // namespace
}  // namespace assay::testing

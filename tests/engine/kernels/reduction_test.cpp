#include <algorithm>
#include <cmath>

#include "fixture.h"

namespace assay::testing {
namespace {

struct Reduction {
  std::string op;
  double (*written_out)(const std::vector<double>&);
};

double total(const std::vector<double>& v) {
  double sum = 0;
  for (const double x : v) sum += x;
  return sum;
}
template <typename F>
double total_of(const std::vector<double>& v, F f) {
  double sum = 0;
  for (const double x : v) sum += f(x);
  return sum;
}
double square(double x) { return x * x; }

class Reduce : public ::testing::TestWithParam<Reduction> {};

// The definition: every output element joins the inputs whose index agrees on the axes that stay.
Tensor written_out(const Tensor& x, const Ints& axes, bool keep, const Reduction& r) {
  Ints kept, full;
  for (std::int64_t i = 0; i < x.dim(); ++i) {
    const bool reduced = std::ranges::count(axes, i) > 0;
    full.push_back(reduced ? 1 : x.size(i));
    if (keep || !reduced) kept.push_back(full.back());
  }
  return tabulate(full,
                  [&](const Ints& out) {
                    std::vector<double> values;
                    for_each_index(x.sizes().vec(), [&](const Ints& i) {
                      for (std::size_t k = 0; k < i.size(); ++k) {
                        if (full[k] != 1 && i[k] != out[k]) return;
                      }
                      values.push_back(at_index(x, i));
                    });
                    return r.written_out(values);
                  })
      .reshape(kept);
}

TEST_P(Reduce, AgreesWithTheDefinition) {
  const Tensor x = at::abs(random_tensor({2, 3, 4}, 1)) + 0.1;
  for (const Ints& axes : {Ints{0}, Ints{1}, Ints{2, 0}, Ints{0, 1, 2}}) {
    for (const std::int64_t keep : {0, 1}) {
      const Tensor expected = written_out(x, axes, keep != 0, GetParam());
      const Attributes attributes{{"keepdims", keep}};
      EXPECT_TRUE(same(run(GetParam().op, {x, ints(axes)}, attributes), expected));
      Ints negative = axes;
      for (auto& axis : negative) axis -= 3;
      EXPECT_TRUE(same(run(GetParam().op, {x, ints(negative)}, attributes), expected));
    }
  }
}

TEST_P(Reduce, WithoutAxesMeansAllOrNone) {
  const Tensor x = at::abs(random_tensor({2, 3}, 1)) + 0.1;
  EXPECT_TRUE(same(run(GetParam().op, {x}), written_out(x, {0, 1}, true, GetParam())));
  EXPECT_TRUE(same(run(GetParam().op, {x, ints({})}), written_out(x, {0, 1}, true, GetParam())));
  EXPECT_TRUE(same(run(GetParam().op, {x}, {{"noop_with_empty_axes", std::int64_t{1}}}), x));
  EXPECT_TRUE(same(run(GetParam().op, {floats({}, {2})}),
                   floats({}, {static_cast<float>(GetParam().written_out({2}))})));
}

TEST_P(Reduce, HasTheRightGradient) {
  EXPECT_TRUE(gradients_agree(GetParam().op, {at::abs(random_tensor({2, 3, 2}, 1)) + 0.1, ints({0, 2})}));
}

TEST_P(Reduce, RefusesAxesThatAreNotThere) {
  EXPECT_EQ(fault_of(GetParam().op, {at::ones({2}), ints({1})}), Fault::model);
  EXPECT_EQ(fault_of(GetParam().op, {at::ones({2, 2}), ints({1, -1})}), Fault::model);
}

INSTANTIATE_TEST_SUITE_P(
    All, Reduce,
    ::testing::Values(
        Reduction{"ReduceSum", total},
        Reduction{"ReduceMean", [](const auto& v) { return total(v) / static_cast<double>(v.size()); }},
        Reduction{"ReduceMax", [](const auto& v) { return *std::ranges::max_element(v); }},
        Reduction{"ReduceMin", [](const auto& v) { return *std::ranges::min_element(v); }},
        Reduction{"ReduceProd",
                  [](const auto& v) { return std::exp(total_of(v, [](double x) { return std::log(x); })); }},
        Reduction{"ReduceL1",
                  [](const auto& v) { return total_of(v, [](double x) { return std::fabs(x); }); }},
        Reduction{"ReduceL2", [](const auto& v) { return std::sqrt(total_of(v, square)); }},
        Reduction{"ReduceSumSquare", [](const auto& v) { return total_of(v, square); }},
        Reduction{"ReduceLogSum", [](const auto& v) { return std::log(total(v)); }},
        Reduction{"ReduceLogSumExp",
                  [](const auto& v) { return std::log(total_of(v, [](double x) { return std::exp(x); })); }}),
    [](const auto& test) { return test.param.op; });

TEST(Reduce, KeepsIntegersIntegers) {
  const Tensor x = ints({3, -4, 6});
  EXPECT_TRUE(same(run("ReduceSum", {x}), ints({5})));
  EXPECT_TRUE(same(run("ReduceMean", {x}), ints({1})));  // truncated
  EXPECT_TRUE(same(run("ReduceProd", {x}), ints({-72})));
  EXPECT_TRUE(same(run("ReduceMax", {x}), ints({6})));
  EXPECT_TRUE(same(run("ReduceSum", {x.to(at::kInt)}), ints({5}).to(at::kInt)));
}

TEST(ArgMax, FindsTheFirstOrTheLastMaximum) {
  const Tensor x = floats({2, 3}, {1, 3, 3, 2, 2, 0});
  const Attributes last{{"axis", std::int64_t{1}}, {"select_last_index", std::int64_t{1}}};
  EXPECT_TRUE(same(run("ArgMax", {x}, {{"axis", std::int64_t{1}}}), ints({1, 0}).reshape({2, 1})));
  EXPECT_TRUE(same(run("ArgMax", {x}, last), ints({2, 1}).reshape({2, 1})));
  EXPECT_TRUE(
      same(run("ArgMin", {x}, {{"axis", std::int64_t{-1}}, {"keepdims", std::int64_t{0}}}), ints({0, 2})));
  EXPECT_TRUE(same(run("ArgMax", {x}, {{"keepdims", std::int64_t{0}}}), ints({1, 0, 0})));
  EXPECT_EQ(fault_of("ArgMax", {at::ones({2, 0})}, {{"axis", std::int64_t{1}}}), Fault::model);
}

TEST(TopK, PutsTheLowerIndexFirstAmongEquals) {
  const Tensor x = floats({2, 4}, {1, 3, 3, 0, 5, 5, 5, 6});
  const auto largest = run_all("TopK", {x, ints({3})}, {}, 2);
  EXPECT_TRUE(same(largest[0], floats({2, 3}, {3, 3, 1, 6, 5, 5})));
  EXPECT_TRUE(same(largest[1], ints({1, 2, 0, 3, 0, 1}).reshape({2, 3})));
  const auto least =
      run_all("TopK", {x, ints({1})}, {{"axis", std::int64_t{0}}, {"largest", std::int64_t{0}}}, 2);
  EXPECT_TRUE(same(least[0], floats({1, 4}, {1, 3, 3, 0})));
  EXPECT_TRUE(gradients_agree("TopK", {random_tensor({2, 4}, 1), ints({2})}, {}, 2));
  EXPECT_EQ(fault_of("TopK", {x, ints({5})}), Fault::model);
  EXPECT_EQ(fault_of("TopK", {x, ints({-1})}), Fault::model);
}

TEST(CumSum, AddsUpForwardsAndBackwards) {
  const Tensor x = floats({2, 3}, {1, 2, 3, 4, 5, 6}), axis = ints({1})[0];
  const std::int64_t yes = 1;
  EXPECT_TRUE(same(run("CumSum", {x, axis}), floats({2, 3}, {1, 3, 6, 4, 9, 15})));
  EXPECT_TRUE(same(run("CumSum", {x, axis}, {{"exclusive", yes}}), floats({2, 3}, {0, 1, 3, 0, 4, 9})));
  EXPECT_TRUE(same(run("CumSum", {x, axis}, {{"reverse", yes}}), floats({2, 3}, {6, 5, 3, 15, 11, 6})));
  EXPECT_TRUE(same(run("CumSum", {x, axis}, {{"reverse", yes}, {"exclusive", yes}}),
                   floats({2, 3}, {5, 3, 0, 11, 6, 0})));
  EXPECT_TRUE(same(run("CumSum", {x, ints({-2})}), floats({2, 3}, {1, 2, 3, 5, 7, 9})));
  EXPECT_TRUE(gradients_agree("CumSum", {x, axis}, {{"reverse", yes}}));
  EXPECT_EQ(fault_of("CumSum", {x, ints({2})}), Fault::model);
}

}  // namespace
}  // namespace assay::testing

#include "fixture.h"

namespace assay::testing {
namespace {

TEST(Cast, ConvertsTheElementType) {
  const Tensor x = floats({3}, {-1.7f, 0, 2.5f});
  const auto cast = [&](std::int64_t to) { return run("Cast", {x}, {{"to", to}}); };
  EXPECT_TRUE(same(cast(7), ints({-1, 0, 2})));
  EXPECT_TRUE(same(cast(6), ints({-1, 0, 2}).to(at::kInt)));
  EXPECT_TRUE(same(cast(9), truth({1, 0, 1})));
  EXPECT_TRUE(same(cast(10), x));  // 16-bit floats are held in single precision
  EXPECT_EQ(cast(11).scalar_type(), at::kDouble);
  EXPECT_EQ(fault_of("Cast", {x}, {{"to", std::int64_t{8}}}), Fault::unsupported);
  EXPECT_EQ(fault_of("Cast", {x}, {{"to", std::int64_t{-8}}}), Fault::unsupported);
  EXPECT_EQ(fault_of("Cast", {x}), Fault::model);
  EXPECT_TRUE(same(run("CastLike", {x, ints({1})}), ints({-1, 0, 2})));
  EXPECT_TRUE(gradients_agree("Cast", {x}, {{"to", std::int64_t{11}}}));
}

TEST(Dropout, PassesEverythingInInference) {
  const Tensor x = random_tensor({4, 5}, 1);
  const auto outputs = run_all("Dropout", {x, floats({}, {0.9f}), truth({1})[0]}, {}, 2);
  EXPECT_TRUE(same(outputs[0], x));
  EXPECT_TRUE(same(outputs[1], at::ones({4, 5}, at::kBool)));
}

TEST(Dropout, DropsTheShareAskedForInTrainingAndScalesTheRest) {
  const Tensor x = at::ones({100, 200}), ratio = floats({}, {0.25f});
  const Node node = make_node("Dropout", 2, {}, 2);
  const auto once = [&](std::uint64_t seed) {
    Rng random(seed);
    KernelContext context{true, &random, {}};
    return run_node(node, std::vector<Tensor>{x, ratio}, context);
  };
  const auto outputs = once(1);
  EXPECT_TRUE(same(outputs[0], outputs[1].to(at::kFloat) / 0.75));
  // 20,000 draws: the share kept is within five standard deviations of 0.75.
  EXPECT_NEAR(outputs[1].to(at::kFloat).mean().item<float>(), 0.75, 5 * 0.00306);
  EXPECT_TRUE(same(once(1)[1], outputs[1]));
  EXPECT_FALSE(at::equal(once(2)[1], outputs[1]));
}

TEST(Dropout, RefusesARatioThatDropsAll) {
  EXPECT_EQ(fault_of("Dropout", {at::ones({1}), floats({}, {1})}), Fault::model);
  EXPECT_EQ(fault_of("Dropout", {at::ones({1}), floats({}, {-0.1f})}), Fault::model);
}

}  // namespace
}  // namespace assay::testing

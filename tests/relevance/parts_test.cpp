// Methods that need no rules: noise, and parts taken away; each beside a plain second writing.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include <assay/array_math.h>
#include <assay/error.h>
#include <assay/extend/random.h>
#include <assay/relevance.h>
#include "assay/relevance/parts.h"
#include "tests/engine/graphs.h"

namespace assay::relevance {
namespace {

using namespace assay::test;

class WithoutRules : public testing::Test {
 protected:
  const Graph graph = lenet_like();
  const Session session{graph, {.threads = 1}};
  const ValueId x = graph.inputs()[0];
  const Array input = [] {
    Rng rng(3);
    return random_array(rng, {3, 1, 12, 12}).clone();
  }();
  const Target target{{2, 0, 1}};

  Array explain(const std::string& method, ValueId value) const {
    return make_attribution(method, session)
        ->attribute({{x, input}}, target, std::span(&value, 1))
        .values.at(value);
  }
  // The score of the target of each record.
  std::vector<double> scores(const Tensors& given) const {
    const ValueId logits = session.logits();
    const Array found = session.run(given, std::span(&logits, 1)).at(logits);
    std::vector<double> all;
    for (std::int64_t r = 0; r < 3; ++r)
      all.push_back(found[r][target.classes[static_cast<std::size_t>(r)]].item<double>());
    return all;
  }
  // With squares of 4 x 4 pixels set to 0 that have no bit in `kept`, row by row.
  std::vector<double> with_squares(unsigned kept) const {
    const Array changed = input.clone();
    for (std::int64_t square = 0; square < 9; ++square) {
      if ((kept >> square & 1U) != 0) continue;
      changed.slice(2, square / 3 * 4, square / 3 * 4 + 4)
          .slice(3, square % 3 * 4, square % 3 * 4 + 4)
          .zero_();
    }
    return scores({{x, changed}});
  }
  // By record and square, from the definition: the mean gain of a part over all orders.
  std::vector<std::vector<double>> shapley() const {
    constexpr int parts = 9;
    std::vector<std::vector<double>> value;
    for (unsigned kept = 0; kept < 1U << parts; ++kept) value.push_back(with_squares(kept));
    std::vector<std::vector<double>> found(3, std::vector<double>(parts));
    for (int part = 0; part < parts; ++part) {
      for (unsigned kept = 0; kept < 1U << parts; ++kept) {
        if ((kept >> part & 1U) != 0) continue;
        const int size = std::popcount(kept);
        const double weight = std::tgamma(size + 1) * std::tgamma(parts - size) / std::tgamma(parts + 1);
        for (std::size_t r = 0; r < 3; ++r)
          found[r][static_cast<std::size_t>(part)] += weight * (value[kept | 1U << part][r] - value[kept][r]);
      }
    }
    return found;
  }
};

TEST_F(WithoutRules, SmoothGradIsTheMeanGradientOfNoisyCopies) {
  Array sum = array::zeros({3, 1, 12, 12});
  for (std::uint64_t sample = 0; sample < 4; ++sample) {
    Rng random(7, {sample, static_cast<std::uint64_t>(x)});
    Array noisy = input.clone();
    for (std::int64_t i = 0; i < 144; ++i) {
      const double noise = random.normal();
      for (std::int64_t r = 0; r < 3; ++r) {
        const double spread = input[r].max().item<double>() - input[r].min().item<double>();
        noisy.elements<float>()[r * 144 + i] += static_cast<float>(0.1 * spread * noise);
      }
    }
    sum = sum + gradients_of(session, {{x, noisy}}, target, std::span(&x, 1)).at(x);
  }
  const Array found = explain("smoothgrad[samples=4,noise=0.1,seed=7]", x);
  EXPECT_TRUE(array::allclose(found, sum / 4, 1e-4, 1e-5));
  const Array gradient = gradients_of(session, {{x, input}}, target, std::span(&x, 1)).at(x);
  EXPECT_TRUE(array::allclose(explain("smoothgrad[samples=2,noise=0]", x), gradient, 1e-5, 1e-6));
}

TEST_F(WithoutRules, OcclusionIsTheLossWithoutASquare) {
  const std::vector<double> whole = with_squares(0x1ff);
  const Array found = explain("occlusion", x);
  for (unsigned square = 0; square < 9; ++square) {
    const std::vector<double> without = with_squares(0x1ff & ~(1U << square));
    for (std::int64_t r = 0; r < 3; ++r) {
      const auto i = static_cast<std::size_t>(r);
      const Array there = found[r][0][square / 3 * 4];
      for (std::int64_t column = 0; column < 4; ++column)
        EXPECT_NEAR(there[square % 3 * 4 + column].item<double>(), (whole[i] - without[i]) / 16, 1e-5);
    }
  }
}

// One axis: windows [0, 3) and [2, 5). Their losses are shared among their elements, and the element of both
// has the mean.
TEST(Occlusion, SharesTheLossOfWindowsThatOverlap) {
  Net net("sum");
  const ValueId x = net.input({-1, 5});
  Array weights = array::zeros({5, 2});
  for (std::int64_t i = 0; i < 5; ++i) weights[i][0].fill_(static_cast<double>(i + 1));
  const Graph graph = net.build(net.builder.add("MatMul", "z", {x, net.builder.constant("w", weights)}));
  const Session session(graph, {.threads = 1});
  const auto method = make_attribution("occlusion[patch=3,stride=2]", session);
  const Array found = method->attribute({{x, array::ones({1, 5})}}, {{0}}, std::span(&x, 1)).values.at(x)[0];
  // Losses 1 + 2 + 3 = 6 and 3 + 4 + 5 = 12.
  const double expected[] = {2, 2, 3, 4, 4};
  for (std::int64_t i = 0; i < 5; ++i) EXPECT_NEAR(found[i].item<double>(), expected[i], 1e-5) << i;
}

TEST_F(WithoutRules, KernelShapIsTheShapleyValueOfEverySquare) {
  const std::vector<std::vector<double>> expected = shapley();
  const Array every = explain("kernel-shap", x), some = explain("kernel-shap[samples=300]", x);
  for (std::int64_t r = 0; r < 3; ++r) {
    double total = 0, scale = 0;
    for (const double one : expected[static_cast<std::size_t>(r)]) scale = std::max(scale, std::abs(one));
    for (std::int64_t square = 0; square < 9; ++square) {
      const double share = expected[static_cast<std::size_t>(r)][static_cast<std::size_t>(square)];
      const auto at = [&](const Array& found) {
        return found[r][0][square / 3 * 4][square % 3 * 4].item<double>() * 16;
      };
      EXPECT_NEAR(at(every), share, 1e-3 * scale) << r << " " << square;
      EXPECT_NEAR(at(some), share, 0.4 * scale) << r << " " << square;
      total += at(some);
    }
    const std::vector<double> whole = with_squares(0x1ff), none = with_squares(0);
    EXPECT_NEAR(total, whole[static_cast<std::size_t>(r)] - none[static_cast<std::size_t>(r)], 1e-3);
  }
}

// Of a layer a part is a neuron: all positions of a channel.
TEST_F(WithoutRules, PartsOfALayerAreItsNeurons) {
  const Layer& layer = session.layers().front();
  const Array value = session.run({{x, input}}, std::span(&layer.value, 1)).at(layer.value);
  const std::vector<double> whole = scores({{x, input}});
  const Array found = explain("occlusion", layer.value);
  ASSERT_EQ(found.shape(), value.shape());
  for (std::int64_t channel = 0; channel < layer.neurons; ++channel) {
    const Array changed = value.clone();
    changed.narrow(1, channel, 1).zero_();
    const std::vector<double> without = scores({{x, input}, {layer.value, changed}});
    for (std::int64_t r = 0; r < 3; ++r) {
      const auto i = static_cast<std::size_t>(r);
      EXPECT_NEAR(found[r][channel].sum().item<double>(), whole[i] - without[i], 1e-4);
    }
  }
}

TEST_F(WithoutRules, RecordsDoNotDependOnTheirBatch) {
  for (const char* method :
       {"smoothgrad[samples=3]", "occlusion[patch=5,stride=3]", "kernel-shap[samples=60]"}) {
    const Array together = explain(method, x);
    const Array alone = make_attribution(method, session)
                            ->attribute({{x, input.narrow(0, 1, 1).contiguous()}}, {{0}}, std::span(&x, 1))
                            .values.at(x);
    EXPECT_TRUE(array::allclose(together.narrow(0, 1, 1).contiguous(), alone, 1e-4, 1e-5)) << method;
  }
}

TEST_F(WithoutRules, OptionsAreChecked) {
  EXPECT_THROW(make_attribution("occlusion[patch=-1]", session), Error);
  EXPECT_THROW(make_attribution("occlusion[size=4]", session), Error);
  EXPECT_THROW(make_attribution("epsilon[steps=4]", session), Error);
  EXPECT_THROW(make_attribution("ig[steps=0]", session), Error);
  EXPECT_THROW(explain("kernel-shap[samples=4]", x), Error) << "of 9 parts";
  EXPECT_EQ(attribution_named("smoothgrad[samples=3]").name, "smoothgrad");
}

TEST(Parts, WindowsHaveAllChannels) {
  EXPECT_EQ(windows_of({3}, 0, 0), (std::vector<Part>{{0}, {1}, {2}}));
  // Channels first: two channels of 1 x 3 pixels.
  EXPECT_EQ(windows_of({2, 1, 3}, 2, 0), (std::vector<Part>{{0, 1, 3, 4}, {2, 5}}));
  // Channels last: 5 x 1 pixels with two channels.
  EXPECT_EQ(windows_of({5, 1, 2}, 3, 2), (std::vector<Part>{{0, 1, 2, 3, 4, 5}, {4, 5, 6, 7, 8, 9}}));
  EXPECT_EQ(windows_of({2, 2}, 1, 1).size(), 4U);
}

}  // namespace
}  // namespace assay::relevance

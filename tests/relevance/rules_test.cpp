// Every rule against hand-worked numbers, against a plain second writing, and against its conservation law.

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include <assay/array_math.h>
#include <assay/error.h>
#include <assay/extend/random.h>
#include <assay/extend/rule.h>
#include "assay/relevance/linear_map.h"

namespace assay::relevance {
namespace {

Array random_tensor(Rng& rng, Shape shape) {
  Array t = array::empty(shape, DType::float32);
  for (std::int64_t i = 0; i < t.count(); ++i) t.elements<float>()[i] = static_cast<float>(rng.normal());
  return t;
}

Array row(std::vector<float> values) {
  return array::tensor(values, DType::float32).reshape({1, static_cast<std::int64_t>(values.size())});
}

Array redistribute(const std::string& rule, const LinearMap& layer, const Array& x, const Array& relevance,
                   double low = 0, double high = 1, double epsilon = 1e-12) {
  const RuleChoice choice = parse_rule(rule);
  RuleSettings settings;
  settings.numbers = choice.numbers;
  settings.epsilon = epsilon;
  settings.low = array::full({1}, low);
  settings.high = array::full({1}, high);
  return choice.info->make(settings)->redistribute(layer, x, layer.forward_with_bias(x), relevance);
}

struct Worked {
  std::string rule;
  std::vector<float> expected;
  double epsilon = 0;
};

class HandWorked : public testing::TestWithParam<Worked> {};

// x = (1, 2), w = [[1, -1], [2, 0.5]], b = (0.5, -1), R = (3, 1): z = (5.5, -1).
TEST_P(HandWorked, GivesTheNumbersOfTheFormula) {
  const LinearMap layer{matrix_product(), array::tensor({1.f, -1.f, 2.f, .5f}).reshape({2, 2}),
                        row({0.5f, -1})};
  const Array got = redistribute(GetParam().rule, layer, row({1, 2}), row({3, 1}), 0, 3);
  EXPECT_NEAR(got[0][0].item<float>(), GetParam().expected[0], 5e-5);
  EXPECT_NEAR(got[0][1].item<float>(), GetParam().expected[1], 5e-5);
}
INSTANTIATE_TEST_SUITE_P(
    Rules, HandWorked,
    testing::Values(Worked{"epsilon:0.1", {1.4448f, 1.2338f}}, Worked{"alpha-beta:2,1", {0.5909f, 6.3636f}},
                    Worked{"alpha-beta:1,0", {0.5455f, 3.1818f}}, Worked{"z-plus", {0.5455f, 3.1818f}},
                    Worked{"gamma-original:0.25", {1.8788f, 0.5152f}},
                    Worked{"gamma:0.25", {1.3788f, 1.5152f}}, Worked{"box", {1.2667f, 2.7333f}},
                    // w^2: 1/5 and 4/5 of 3, 1/1.25 and 0.25/1.25 of 1; flat: halves.
                    Worked{"w-square", {1.4f, 2.6f}}, Worked{"flat", {2, 2}}, Worked{"pass", {3, 1}}));

TEST(EpsilonRule, GivesZeroWhereTheInputIsZero) {
  const LinearMap layer{matrix_product(), array::tensor({1.f, -1.f, 2.f, .5f}).reshape({2, 2}), {}};
  for (const char* rule : {"epsilon", "lrp-0", "alpha-beta:2,1", "gamma", "z-plus"}) {
    const Array got = redistribute(rule, layer, row({0, 0}), row({3, 1}));
    EXPECT_EQ(got.abs().sum().item<float>(), 0) << rule;
  }
}

TEST(RuleNames, RejectWhatDoesNotExistOrDoesNotConserve) {
  EXPECT_THROW(parse_rule("epsilom"), Error);
  EXPECT_THROW(parse_rule("gamma:1,2"), Error);
  EXPECT_THROW(parse_rule("gamma:x"), Error);
  EXPECT_THROW(parse_rule("alpha-beta:2,2").info->make({.numbers = {2, 2}}), Error);
}

// A plain second writing of every rule of the catalogue: one output at a time, with the contributions of the
// inputs in a list.
// --------------------------

using List = std::vector<double>;
double plus(double v) { return v > 0 ? v : 0; }
double minus(double v) { return v < 0 ? v : 0; }
double quotient(double a, double b) { return b == 0 ? 0 : a / b; }

// Shares of one output's relevance among its inputs x with weights w and bias b.
List shares(const std::string& rule, const List& x, const List& w, double b, double low, double high) {
  const std::size_t n = x.size();
  List num(n, 0);
  double z = b;
  for (std::size_t i = 0; i < n; ++i) z += x[i] * w[i];
  const auto by_total = [&](double extra) {
    double total = extra;
    for (const double v : num) total += v;
    List result;
    for (const double v : num) result.push_back(quotient(v, total));
    return result;
  };
  const auto of_sign = [&](bool positive) {
    for (std::size_t i = 0; i < n; ++i) num[i] = positive ? plus(x[i] * w[i]) : minus(x[i] * w[i]);
    return by_total(positive ? plus(b) : minus(b));
  };
  const double g = 0.25;
  if (rule == "lrp-0" || rule == "epsilon") {
    for (std::size_t i = 0; i < n; ++i) num[i] = x[i] * w[i];
    return by_total(b);
  }
  if (rule == "z-plus") return of_sign(true);
  if (rule == "alpha-beta") {
    const List up = of_sign(true), down = of_sign(false);
    List result;
    for (std::size_t i = 0; i < n; ++i) result.push_back(2 * up[i] - down[i]);
    return result;
  }
  if (rule == "gamma-original") {
    for (std::size_t i = 0; i < n; ++i) num[i] = x[i] * (w[i] + g * plus(w[i]));
    return by_total(b + g * plus(b));
  }
  if (rule == "gamma") {
    if (z == 0) return num;
    for (std::size_t i = 0; i < n; ++i) {
      const double contribution = x[i] * w[i];
      num[i] = contribution + g * (z > 0 ? plus(contribution) : minus(contribution));
    }
    return by_total(b + g * (z > 0 ? plus(b) : minus(b)));
  }
  if (rule == "box") {
    for (std::size_t i = 0; i < n; ++i) num[i] = x[i] * w[i] - low * plus(w[i]) - high * minus(w[i]);
    return by_total(0);
  }
  if (rule == "w-square" || rule == "flat") {
    for (std::size_t i = 0; i < n; ++i) num[i] = rule == "flat" ? 1 : w[i] * w[i];
    return by_total(0);
  }
  ADD_FAILURE() << "write rule '" << rule << "' down here a second time";
  return num;
}

// Rules that share out, by their names. `pass` shares nothing: HandWorked has all there is of it.
std::vector<std::string> sharing_rules() {
  std::vector<std::string> names;
  for (const RuleInfo& info : rules())
    if (info.name != "pass") names.emplace_back(info.name);
  return names;
}

TEST(Rules, AreListedUnderDifferentNames) {
  ASSERT_FALSE(rules().empty());
  std::set<std::string_view> names;
  for (const RuleInfo& info : rules()) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_FALSE(info.summary.empty()) << info.name;
  }
}

void expect_near(const Array& got, const Array& expected, const std::string& what, double tolerance = 2e-4) {
  const double scale = std::max(1.0, expected.abs().max().item<double>());
  EXPECT_LT((got.to(DType::float64) - expected).abs().max().item<double>() / scale, tolerance) << what;
}

class RuleAndSeed : public testing::TestWithParam<std::tuple<std::string, int>> {};

TEST_P(RuleAndSeed, DenseAgreesWithThePlainWriting) {
  const auto [rule, seed] = GetParam();
  Rng rng(static_cast<std::uint64_t>(seed));
  const std::int64_t n = 3, in = 7, out = 5;
  const Array x = random_tensor(rng, {n, in}).clamp(-2, 2), w = random_tensor(rng, {in, out}),
              b = random_tensor(rng, {out});
  const Array relevance = random_tensor(rng, {n, out});
  Array expected = array::zeros({n, in}, DType::float64);
  for (std::int64_t r = 0; r < n; ++r) {
    for (std::int64_t j = 0; j < out; ++j) {
      List xs, ws;
      for (std::int64_t i = 0; i < in; ++i)
        xs.push_back(x[r][i].item<double>()), ws.push_back(w[i][j].item<double>());
      const List share = shares(rule, xs, ws, b[j].item<double>(), -2, 2);
      for (std::int64_t i = 0; i < in; ++i)
        expected[r][i].add_(share[static_cast<std::size_t>(i)] * relevance[r][j].item<double>());
    }
  }
  expect_near(redistribute(rule, {matrix_product(), w, b}, x, relevance, -2, 2), expected, rule);
}

// Groups, stride, dilation and asymmetric padding at once.
TEST_P(RuleAndSeed, ConvolutionAgreesWithThePlainWriting) {
  const auto [rule, seed] = GetParam();
  Rng rng(static_cast<std::uint64_t>(seed), {1});
  using Ints = std::vector<std::int64_t>;
  const bool even = seed % 2 == 0;
  const Ints pads = even ? Ints{1, 1, 1, 1} : Ints{2, 0, 1, 3};
  Node node{
      .name = "conv",
      .op = "Conv",
      .inputs = {},
      .outputs = {},
      .attributes = {
          {"group", std::int64_t{2}}, {"strides", Ints{2, 1}}, {"dilations", Ints{1, 2}}, {"pads", pads}}};
  const std::int64_t size = 6, per_group = 2;
  const Array x = random_tensor(rng, {2, 4, size, size}).clamp(-2, 2),
              w = random_tensor(rng, {6, per_group, 2, 2}), b = random_tensor(rng, {6});
  const LinearMap layer{convolution(node), w, b.reshape({1, 6, 1, 1})};
  const Array z = layer.forward_with_bias(x), relevance = random_tensor(rng, z.shape());
  Array expected = array::zeros(x.shape(), DType::float64);
  for (std::int64_t r = 0; r < 2; ++r)
    for (std::int64_t c = 0; c < 6; ++c)
      for (std::int64_t i = 0; i < z.size(2); ++i)
        for (std::int64_t j = 0; j < z.size(3); ++j) {
          List xs, ws;
          std::vector<std::array<std::int64_t, 3>> places;
          for (std::int64_t k = 0; k < per_group; ++k)
            for (std::int64_t u = 0; u < 2; ++u)
              for (std::int64_t v = 0; v < 2; ++v) {
                const std::int64_t y0 = i * 2 + u - pads[0], x0 = j + v * 2 - pads[1];
                if (y0 < 0 || y0 >= size || x0 < 0 || x0 >= size) continue;
                const std::int64_t channel = c / 3 * per_group + k;
                places.push_back({channel, y0, x0});
                xs.push_back(x[r][channel][y0][x0].item<double>());
                ws.push_back(w[c][k][u][v].item<double>());
              }
          const List share = shares(rule, xs, ws, b[c].item<double>(), -2, 2);
          for (std::size_t p = 0; p < places.size(); ++p) {
            expected[r][places[p][0]][places[p][1]][places[p][2]].add_(share[p] *
                                                                       relevance[r][c][i][j].item<double>());
          }
        }
  // Denominators that cancel magnify rounding, for some rules beyond what float32 holds: in double precision
  // everything must agree, in float32 all but what is magnified.
  const LinearMap exact{convolution(node), w.to(DType::float64), b.to(DType::float64).reshape({1, 6, 1, 1})};
  const Array got = redistribute(rule, exact, x.to(DType::float64), relevance.to(DType::float64), -2, 2);
  EXPECT_TRUE(array::allclose(got, expected, 1e-6, 1e-6))
      << rule << (got - expected).abs().max().item<double>();
  expect_near(redistribute(rule, layer, x, relevance, -2, 2), expected, rule, 2e-3);
}

// Without bias everything that goes in comes out. (Alpha-beta needs contributions of both signs: there are
// enough inputs.)
TEST_P(RuleAndSeed, ConservesWithoutBias) {
  const auto [rule, seed] = GetParam();
  Rng rng(static_cast<std::uint64_t>(seed), {2});
  const Array x = random_tensor(rng, {4, 30}).clamp(-2, 2), w = random_tensor(rng, {30, 6}),
              relevance = random_tensor(rng, {4, 6});
  const Array got = redistribute(rule, {matrix_product(), w, {}}, x, relevance, -2, 2);
  const double scale = got.abs().sum().item<double>();
  EXPECT_NEAR(got.sum().item<double>(), relevance.sum().item<double>(), 1e-5 * scale);
}

INSTANTIATE_TEST_SUITE_P(All, RuleAndSeed,
                         testing::Combine(testing::ValuesIn(sharing_rules()), testing::Values(1, 2, 3)));

// linear_node(): any other operator, by differentiation.
TEST(LinearNode, TransposeIsTheAdjointOfApply) {
  Rng rng(5);
  const Node node{.name = "up",
                  .op = "ConvTranspose",
                  .inputs = {ValueId{0}, ValueId{1}},
                  .outputs = {ValueId{2}},
                  .attributes = {{"strides", std::vector<std::int64_t>{2, 2}}}};
  const Array x = random_tensor(rng, {2, 3, 4, 4}), w = random_tensor(rng, {3, 2, 3, 3});
  const LinearMap layer{linear_node(node, 0, 1, std::vector<Array>(2)), w, {}};
  const Array y = layer.forward(x), r = random_tensor(rng, y.shape());
  EXPECT_NEAR((y * r).sum().item<double>(), (x * layer.pull_back(r, x)).sum().item<double>(),
              1e-5 * (y * r).abs().sum().item<double>());
  EXPECT_GT(y.abs().sum().item<double>(), 1);
}

}  // namespace
}  // namespace assay::relevance

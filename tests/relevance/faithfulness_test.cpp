// Measures of explanations: a linear network by hand, and plain second writings of what is drawn at random.

#include <assay/faithfulness.h>

#include <gtest/gtest.h>

#include <cmath>

#include <assay/array_math.h>
#include <assay/error.h>
#include <assay/extend/random.h>
#include "tests/engine/graphs.h"
#include "tests/support/records.h"

namespace assay::relevance {
namespace {

using namespace assay::test;

double sigmoid(double z) { return 1 / (1 + std::exp(-z)); }

// The scores are (4 a + 3 b - 2 c + d, 0), of one record (1, 0.5, 1, 0): 4 + 1.5 - 2 + 0 = 3.5, class 0.
class OfALinearNetwork : public testing::Test {
 protected:
  static constexpr double weights[] = {4, 3, -2, 1}, record[] = {1, 0.5, 1, 0};
  const Graph graph = [] {
    Net net("linear");
    const ValueId x = net.input({-1, 4});
    const std::vector<float> both{4, 0, 3, 0, -2, 0, 1, 0};
    return net.build(
        net.builder.add("MatMul", "z", {x, net.builder.constant("w", Array::of<float>({4, 2}, both))}));
  }();
  const Session session{graph, {.threads = 1}};
  const DatasetPtr data =
      from_arrays(Array::of<float>({1, 4}, std::vector<float>{1, 0.5, 1, 0}), std::vector<std::int64_t>{0});

  QualityFigures measured(const std::string& method, const std::string& measure) const {
    return measure_faithfulness(session, data, {.methods = {method}, .measures = {measure}}, silence())
        .figures.at(0);
  }
  static double loss(const std::vector<std::size_t>& subset) {
    double sum = 0;
    for (const std::size_t i : subset) sum += weights[i] * record[i];
    return sum;
  }
};

TEST_F(OfALinearNetwork, DeletionFollowsTheOrderOfRelevance) {
  const QualityFigures found = measured("gradient-x-input", "deletion[steps=4]");
  const std::vector<double> scores{3.5, -0.5, -2, -2, 0};
  ASSERT_EQ(found.curve.size(), 5U);
  double area = 0;
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_NEAR(found.curve[i], sigmoid(scores[i]), 1e-6);
    EXPECT_DOUBLE_EQ(found.shares[i], static_cast<double>(i) / 4);
    if (i > 0) area += (sigmoid(scores[i]) + sigmoid(scores[i - 1])) / 8;
  }
  EXPECT_NEAR(found.mean(), area, 1e-6);
  EXPECT_FALSE(found.higher_is_better);
}

TEST_F(OfALinearNetwork, InsertionBeginsWithTheBaseline) {
  const QualityFigures found = measured("gradient-x-input", "insertion[steps=2]");
  ASSERT_EQ(found.curve.size(), 3U);
  EXPECT_NEAR(found.curve[0], 0.5, 1e-6);
  EXPECT_NEAR(found.curve[1], sigmoid(5.5), 1e-6);
  EXPECT_NEAR(found.curve[2], sigmoid(3.5), 1e-6);
  EXPECT_NEAR(found.mean(), (0.5 + 2 * sigmoid(5.5) + sigmoid(3.5)) / 4, 1e-6);
}

// Relevance of a linear network is exactly what the score loses.
TEST_F(OfALinearNetwork, TrueSharesHaveNoInfidelityAndCorrelate) {
  for (const char* method : {"gradient-x-input", "lrp-0", "deeplift", "kernel-shap", "occlusion"}) {
    EXPECT_NEAR(measured(method, "infidelity[share=0.5]").mean(), 0, 1e-8) << method;
    EXPECT_NEAR(measured(method, "faithfulness-correlation[share=0.5]").mean(), 1, 1e-5) << method;
  }
}

TEST_F(OfALinearNetwork, FalseSharesAreMeasuredAsTheFormulasSay) {
  constexpr int samples = 30;
  double products = 0, squares = 0, a_mean = 0, d_mean = 0;
  std::vector<double> a, d;
  for (std::uint64_t sample = 0; sample < samples; ++sample) {
    const std::vector<std::size_t> subset = Rng(5, {sample}).sample(4, 2);
    a.push_back(0), d.push_back(loss(subset));
    for (const std::size_t i : subset) a.back() += std::abs(weights[i]);
    products += a.back() * d.back(), squares += a.back() * a.back();
    a_mean += a.back() / samples, d_mean += d.back() / samples;
  }
  double error = 0, both = 0, of_a = 0, of_d = 0;
  for (int s = 0; s < samples; ++s) {
    error += std::pow(products / squares * a[s] - d[s], 2) / samples;
    both += (a[s] - a_mean) * (d[s] - d_mean);
    of_a += std::pow(a[s] - a_mean, 2), of_d += std::pow(d[s] - d_mean, 2);
  }
  const std::string options = "[share=0.5,samples=30,seed=5]";
  EXPECT_NEAR(measured("saliency", "infidelity" + options).mean(), error, 1e-5);
  EXPECT_NEAR(measured("saliency", "faithfulness-correlation" + options).mean(),
              both / std::sqrt(of_a * of_d), 1e-5);
}

TEST_F(OfALinearNetwork, SensitivityIsTheGreatestRelativeMove) {
  double greatest = 0, length = 0;
  for (std::uint64_t sample = 0; sample < 3; ++sample) {
    Rng random(2, {sample});
    double squares = 0;
    for (const double weight : weights) squares += std::pow(weight * random.uniform(-0.1, 0.1), 2);
    greatest = std::max(greatest, std::sqrt(squares));
  }
  for (std::size_t i = 0; i < 4; ++i) length += std::pow(weights[i] * record[i], 2);
  // The record's spread is 1.
  EXPECT_NEAR(measured("gradient-x-input", "max-sensitivity[radius=0.1,samples=3,seed=2]").mean(),
              greatest / std::sqrt(length), 1e-6);
  EXPECT_EQ(measured("saliency", "max-sensitivity").mean(), 0) << "a gradient that is the same everywhere";
}

TEST_F(OfALinearNetwork, WhatIsNotDefinedIsLeftOut) {
  const DatasetPtr nothing = from_arrays(array::zeros({1, 4}), std::vector<std::int64_t>{0});
  const Faithfulness found = measure_faithfulness(
      session, nothing,
      {.methods = {"gradient-x-input"}, .measures = {"max-sensitivity", "faithfulness-correlation"}},
      silence());
  EXPECT_EQ(found.used, 1U);
  for (const QualityFigures& figures : found.figures) EXPECT_TRUE(figures.values.empty()) << figures.measure;
}

TEST_F(OfALinearNetwork, UnknownNamesAreRefused) {
  EXPECT_THROW(measured("no-such", "deletion"), Error);
  EXPECT_THROW(measured("epsilon", "no-such"), Error);
  EXPECT_THROW(measured("epsilon", "deletion[share=1]"), Error);
  EXPECT_THROW(measured("epsilon", "infidelity[share=2]"), Error);
}

// Every measure of every method gives a number for every record, whatever the batch.
TEST(EveryQuality, IsOfRecordsAndNotOfBatches) {
  ASSERT_FALSE(qualities().empty());
  const Graph graph = lenet_like();
  const Session session(graph, {.threads = 1});
  Rng rng(4);
  const DatasetPtr data = from_arrays(uniform_array(rng, {5, 1, 12, 12}), std::vector<std::int64_t>(5));
  FaithfulnessOptions options{.methods = {"epsilon", "saliency", "occlusion"}};
  for (const QualityInfo& info : qualities()) options.measures.push_back(info.name);
  options.batch = 2;
  const Faithfulness two = measure_faithfulness(session, data, options, silence());
  options.batch = 5;
  const Faithfulness five = measure_faithfulness(session, data, options, silence());
  ASSERT_EQ(two.figures.size(), 3 * qualities().size());
  for (std::size_t i = 0; i < two.figures.size(); ++i) {
    const QualityFigures &a = two.figures[i], &b = five.figures[i];
    ASSERT_EQ(a.values.size(), 5U) << a.method << " " << a.measure;
    for (std::size_t r = 0; r < 5; ++r)
      EXPECT_NEAR(a.values[r], b.values[r], 1e-4 * (1 + std::abs(a.values[r])));
  }
}

}  // namespace
}  // namespace assay::relevance

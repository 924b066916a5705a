#include "assay/coverage/criteria/idc.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include <assay/error.h>
#include "tests/coverage/build.h"

namespace assay::coverage {
namespace {

using test::Suite;

const std::vector<float> zeros(6, 0.0f);

// A plain second writing: the nearest centroid by trying all, ties to the lower index.
std::size_t nearest(const std::vector<double>& centroids, double value) {
  std::size_t best = 0;
  for (std::size_t c = 1; c < centroids.size(); ++c) {
    if (std::fabs(value - centroids[c]) < std::fabs(value - centroids[best])) best = c;
  }
  return best;
}

constexpr std::size_t second = 1;  // position of the layer "second"

std::map<std::vector<std::size_t>, std::vector<std::size_t>> by_combination(const Suite& suite,
                                                                            const LayerClusters& layer,
                                                                            std::size_t m) {
  std::map<std::vector<std::size_t>, std::vector<std::size_t>> found;
  for (std::size_t i = 0; i < suite.size(); ++i) {
    std::vector<std::size_t> combination;
    for (std::size_t n = 0; n < m; ++n) {
      combination.push_back(
          nearest(layer.important[n].clusters.centroids, suite.row(second, i)[layer.important[n].neuron]));
    }
    found[combination].push_back(i);
  }
  return found;
}

Idc idc_of(std::size_t m) { return Idc("idc", test::profile(), std::span(&second, 1), m); }

const Idc::LayerCombinations& combinations(const Idc& idc) { return idc.layers().front(); }

std::string text(const std::vector<std::size_t>& combination) {
  std::string result;
  for (const std::size_t c : combination) result += (result.empty() ? "" : ".") + std::to_string(c);
  return result;
}

TEST(Idc, AgreesWithAPlainSecondWriting) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Suite suite = Suite::random(5 + 10 * seed, seed);
    for (std::size_t m = 1; m <= 3; ++m) {
      const auto expected = by_combination(suite, test::profile().clusters[0], m);
      Idc idc = idc_of(m);
      suite.give(idc);
      ASSERT_EQ(combinations(idc).covered.size(), expected.size());
      for (const auto& [combination, entry] : combinations(idc).covered) {
        bool met = false;
        for (const auto& [key, records] : expected) {
          if (text(key) != to_text(combination)) continue;
          met = true;
          EXPECT_EQ(entry.records, records.size());
          EXPECT_EQ(entry.first, records.front());
        }
        EXPECT_TRUE(met) << to_text(combination);
      }
    }
  }
}

TEST(Idc, HandWorkedCounts) {
  // Neuron 4 into {0, 1}, neuron 0 into {0, 1, 2}, neuron 2 has one cluster: 2 * 3 * 1 = 6 combinations.
  Suite suite;
  suite.add(zeros, {0.4f, 0, 99, 0, 0.1f})
      .add(zeros, {0.6f, 0, -5, 0, 0.9f})
      .add(zeros, {0.1f, 0, 0, 0, -3})
      .add(zeros, {9, 0, 0, 0, 9});
  Idc idc = idc_of(3);
  suite.give(idc);
  const Coverage result = idc.result().front();
  EXPECT_EQ(result.covered, "3");  // 0.0.0 (records 0, 2), 1.1.0 (record 1), 1.2.0 (record 3)
  EXPECT_EQ(result.coverable, "6");
  EXPECT_DOUBLE_EQ(result.value, 0.5);
  EXPECT_EQ(to_text(combinations(idc).in_order().front()->first), "0.0.0");
  EXPECT_EQ(combinations(idc).in_order().front()->second.records, 2U);
}

TEST(Idc, ATieBelongsToTheLowerCluster) {
  Suite suite;
  suite.add(zeros, {1.5f, 0, 0, 0, 0.5f});
  Idc idc = idc_of(2);
  suite.give(idc);
  EXPECT_EQ(to_text(combinations(idc).in_order().front()->first), "0.1");
}

TEST(Idc, TheNumberOfCombinationsIsExactBeyond64Bits) {
  Profile wide;
  wide.statistics.push_back({"wide", "Gemm", std::vector<float>(100), std::vector<float>(100, 2),
                             std::vector<double>(100), std::vector<double>(100),
                             std::vector<std::uint32_t>(100)});
  wide.clusters.push_back({"wide", {}, 0});
  for (std::size_t n = 0; n < 100; ++n) wide.clusters[0].important.push_back(test::important(n, {0, 1, 2}));
  const std::size_t position = 0;
  Idc idc("idc", wide, std::span(&position, 1), 100);
  const std::size_t record = 0;
  const Activations activations{1, 100, std::vector<float>(100, 0.0f)};
  idc.observe({std::span(&record, 1), std::span(&activations, 1)});
  EXPECT_EQ(idc.result()[0].coverable, "515377520732011331036461129765621272702107522001");  // 3^100
  EXPECT_NEAR(idc.result()[0].value * std::pow(3.0, 100), 1, 1e-9);
}

TEST(Idc, NamesTheUncoveredNeighboursNearestFirst) {
  // Record 0 falls into 0.0: neuron 4 is 0.4 below its boundary 0.5, neuron 0 is 0.1 below its boundary 0.5.
  // Record 1 falls into 1.2: neuron 4 is 0.3 above its boundary, neuron 0 is 0.5 above its boundary 1.5.
  Suite suite;
  suite.add(zeros, {0.4f, 0, 0, 0, 0.1f}).add(zeros, {2.0f, 0, 0, 0, 0.8f});
  Idc idc = idc_of(2);
  suite.give(idc);
  const auto nearest_first = combinations(idc).nearest_uncovered(10);
  ASSERT_EQ(nearest_first.size(), 4U);
  const std::vector<std::string> texts{"0.1", "0.2", "1.0", "1.1"};
  const std::vector<double> gaps{0.1, 0.3, 0.4, 0.5};
  const std::vector<std::size_t> neurons{1, 0, 0, 1}, records{0, 1, 0, 1};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(to_text(nearest_first[i].combination), texts[i]);
    EXPECT_NEAR(nearest_first[i].gap, gaps[i], 1e-6);
    EXPECT_EQ(nearest_first[i].neuron, neurons[i]);
    EXPECT_EQ(nearest_first[i].record, records[i]);
  }
  EXPECT_EQ(combinations(idc).nearest_uncovered(2).size(), 2U);
}

TEST(Idc, AutomaticMIsTheProfiles) {
  const auto automatic = test::criterion("idc[m=auto]");
  EXPECT_EQ(automatic->result()[0].coverable, "6");  // two neurons of 2 and 3 clusters
}

TEST(Idc, RefusesMoreClustersThanACombinationCanTell) {
  std::vector<double> many;
  for (int i = 0; i < 256; ++i) many.push_back(i);
  Profile profile = test::profile();
  profile.clusters[0].important[0] = test::important(0, many);
  EXPECT_THROW(test::criterion("idc[m=1]", profile), Error);
}

}  // namespace
}  // namespace assay::coverage

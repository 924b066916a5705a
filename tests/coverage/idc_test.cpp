#include "assay/coverage/idc.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "assay/support/error.h"
#include "tests/coverage/build.h"

namespace assay {
namespace {

using test::Suite;

// A plain second writing: the nearest centroid by trying all, ties to the lower index.
std::size_t nearest(const std::vector<double>& centroids, double value) {
  std::size_t best = 0;
  for (std::size_t c = 1; c < centroids.size(); ++c) {
    if (std::fabs(value - centroids[c]) < std::fabs(value - centroids[best])) best = c;
  }
  return best;
}

std::map<std::vector<std::size_t>, std::vector<std::size_t>> by_combination(const Suite& suite, const LayerProfile& layer, std::size_t m) {
  std::map<std::vector<std::size_t>, std::vector<std::size_t>> found;
  for (std::size_t i = 0; i < suite.size(); ++i) {
    std::vector<std::size_t> combination;
    for (std::size_t n = 0; n < m; ++n) {
      combination.push_back(nearest(layer.important[n].clusters.centroids, suite.row(i)[layer.important[n].neuron]));
    }
    found[combination].push_back(i);
  }
  return found;
}

std::string text(const std::vector<std::size_t>& combination) {
  std::string result;
  for (const std::size_t c : combination) result += (result.empty() ? "" : ".") + std::to_string(c);
  return result;
}

TEST(Idc, AgreesWithAPlainSecondWriting) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Suite suite = Suite::random(5 + 10 * seed, seed);
    for (std::size_t m = 1; m <= 3; ++m) {
      const LayerProfile layer = test::small_layer();
      const auto expected = by_combination(suite, layer, m);
      Idc idc(layer, m);
      suite.give(idc);
      ASSERT_EQ(idc.covered().size(), expected.size());
      for (const auto& [combination, entry] : idc.covered()) {
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
  Suite suite(5);
  suite.add({0.4f, 0, 99, 0, 0.1f}).add({0.6f, 0, -5, 0, 0.9f}).add({0.1f, 0, 0, 0, -3}).add({9, 0, 0, 0, 9});
  Idc idc(test::small_layer(), 3);
  suite.give(idc);
  const Coverage result = idc.result();
  EXPECT_EQ(result.covered, "3");  // 0.0.0 (records 0, 2), 1.1.0 (record 1), 1.2.0 (record 3)
  EXPECT_EQ(result.coverable, "6");
  EXPECT_DOUBLE_EQ(result.fraction, 0.5);
  EXPECT_EQ(to_text(idc.covered().begin()->first), "0.0.0");
  EXPECT_EQ(idc.covered().begin()->second.records, 2U);
}

TEST(Idc, ATieBelongsToTheLowerCluster) {
  Suite suite(5);
  suite.add({1.5f, 0, 0, 0, 0.5f});
  Idc idc(test::small_layer(), 2);
  suite.give(idc);
  EXPECT_EQ(to_text(idc.covered().begin()->first), "0.1");
}

TEST(Idc, TheNumberOfCombinationsIsExactBeyond64Bits) {
  LayerProfile layer{"wide", 100, {}, {100}};
  for (std::size_t n = 0; n < 100; ++n) layer.important.push_back(test::important(n, {0, 1, 2}));
  Idc idc(layer, 100);
  Suite suite(100, "wide");
  suite.add(std::vector<float>(100, 0.0f));
  suite.give(idc);
  EXPECT_EQ(idc.result().coverable, "515377520732011331036461129765621272702107522001");  // 3^100
  EXPECT_NEAR(idc.result().fraction * std::pow(3.0, 100), 1, 1e-9);
}

TEST(Idc, NonFiniteActivationsAreCountedNamedAndLeftOut) {
  Suite suite(5);
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  suite.add({0, 0, 0, 0, nan}).add({infinity, 0, 0, 0, 0}).add({0, nan, 0, nan, 0});  // neurons 1 and 3 are not important
  Idc idc(test::small_layer(), 3);
  suite.give(idc);
  EXPECT_EQ(idc.non_finite(), 2U);
  EXPECT_EQ(idc.result().covered, "1");
}

TEST(Idc, NamesTheUncoveredNeighboursNearestFirst) {
  // Record 0 falls into 0.0: neuron 4 is 0.4 below its boundary 0.5, neuron 0 is 0.1 below its boundary 0.5.
  // Record 1 falls into 1.2: neuron 4 is 0.3 above its boundary, neuron 0 is 0.5 above its boundary 1.5.
  Suite suite(5);
  suite.add({0.4f, 0, 0, 0, 0.1f}).add({2.0f, 0, 0, 0, 0.8f});
  Idc idc(test::small_layer(), 2);
  suite.give(idc);
  const auto nearest_first = idc.nearest_uncovered(10);
  ASSERT_EQ(nearest_first.size(), 4U);
  const std::vector<std::string> combinations{"0.1", "0.2", "1.0", "1.1"};
  const std::vector<double> gaps{0.1, 0.3, 0.4, 0.5};
  const std::vector<std::size_t> neurons{1, 0, 0, 1}, records{0, 1, 0, 1};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(to_text(nearest_first[i].combination), combinations[i]);
    EXPECT_NEAR(nearest_first[i].gap, gaps[i], 1e-6);
    EXPECT_EQ(nearest_first[i].neuron, neurons[i]);
    EXPECT_EQ(nearest_first[i].record, records[i]);
  }
  EXPECT_EQ(idc.nearest_uncovered(2).size(), 2U);
}

TEST(Idc, DetailsDoNotDependOnOrderAndSplitting) {
  const Suite suite = Suite::random(40, 3);
  Idc whole(test::small_layer(), 3), first(test::small_layer(), 3), second(test::small_layer(), 3);
  suite.give(whole);
  suite.give(second, 0, 25, 7);
  suite.give(first, 25, 40, 4);
  first.merge(second);  // the later part first
  ASSERT_EQ(first.covered().size(), whole.covered().size());
  for (const auto& [combination, entry] : whole.covered()) {
    EXPECT_EQ(first.covered().at(combination).records, entry.records);
    EXPECT_EQ(first.covered().at(combination).first, entry.first);
  }
  const auto a = first.nearest_uncovered(99), b = whole.nearest_uncovered(99);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].combination, b[i].combination);
    EXPECT_EQ(a[i].record, b[i].record);
    EXPECT_EQ(a[i].gap, b[i].gap);
  }
}

TEST(Idc, RefusesMoreClustersThanACombinationCanTell) {
  std::vector<double> many;
  for (int i = 0; i < 256; ++i) many.push_back(i);
  EXPECT_THROW(Idc({"hidden", 5, {test::important(0, many)}, {1}}, 1), Error);
}

}  // namespace
}  // namespace assay

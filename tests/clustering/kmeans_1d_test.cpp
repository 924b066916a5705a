#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <assay/extend/clustering.h>
#include <assay/extend/random.h>

namespace assay::clustering {
namespace {

// Values with many duplicates, sorted.
std::vector<double> random_values(std::uint64_t seed, std::size_t n, bool coarse) {
  Rng rng(seed);
  std::vector<double> values(n);
  for (double& v : values) v = coarse ? static_cast<double>(rng.below(7)) : rng.normal() * 3 + 100;
  std::sort(values.begin(), values.end());
  return values;
}

double sum_of_squares(std::span<const double> values) {
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  double total = 0;
  for (const double v : values) total += (v - mean) * (v - mean);
  return total;
}

// Least cost over all ways to cut `values` into k contiguous parts, by trying them all.
double brute_force(std::span<const double> values, std::size_t k) {
  if (k == 1) return sum_of_squares(values);
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t cut = 1; cut + k - 1 <= values.size(); ++cut) {
    best = std::min(best, sum_of_squares(values.first(cut)) + brute_force(values.subspan(cut), k - 1));
  }
  return best;
}

// The definition: mean over all points of (b - a) / max(a, b), O(n^2).
double silhouette_by_definition(std::span<const double> values, std::span<const std::size_t> sizes) {
  std::vector<std::size_t> cluster;
  for (std::size_t c = 0; c < sizes.size(); ++c) cluster.insert(cluster.end(), sizes[c], c);
  double total = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (sizes[cluster[i]] == 1) continue;
    std::vector<double> distance(sizes.size(), 0);
    for (std::size_t j = 0; j < values.size(); ++j) distance[cluster[j]] += std::fabs(values[i] - values[j]);
    double a = 0, b = std::numeric_limits<double>::infinity();
    for (std::size_t c = 0; c < sizes.size(); ++c) {
      if (c == cluster[i])
        a = distance[c] / static_cast<double>(sizes[c] - 1);
      else
        b = std::min(b, distance[c] / static_cast<double>(sizes[c]));
    }
    if (std::max(a, b) > 0) total += (b - a) / std::max(a, b);
  }
  return total / static_cast<double>(values.size());
}

TEST(KMeans1d, AgreesWithTheHandWorkedExample) {
  const std::vector<double> values{1, 2, 9, 10, 12};
  EXPECT_NEAR(kmeans_1d(values, 1).within, 98.8, 1e-9);
  EXPECT_NEAR(kmeans_1d(values, 2).within, 5.1667, 1e-4);
  EXPECT_NEAR(kmeans_1d(values, 3).within, 1.0, 1e-9);
  const Clustering two = kmeans_1d(values, 2);
  EXPECT_EQ(two.sizes, (std::vector<std::size_t>{2, 3}));
  EXPECT_DOUBLE_EQ(two.centroids[0], 1.5);
  EXPECT_NEAR(two.silhouette, 0.8183, 5e-5);
}

TEST(KMeans1d, IsOptimalAmongAllPartitions) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const std::vector<double> values = random_values(seed, 9, seed % 2 == 0);
    for (std::size_t k = 1; k <= 4; ++k) {
      const Clustering found = kmeans_1d(values, k);
      EXPECT_NEAR(found.within, brute_force(values, std::min(k, found.centroids.size())), 1e-6)
          << "seed " << seed << " k " << k;
    }
  }
}

TEST(KMeans1d, EveryValueIsNearestToItsOwnCentroid) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const std::vector<double> values = random_values(seed, 500, seed % 2 == 0);
    const Clustering found = kmeans_1d(values, 4);
    std::vector<std::size_t> sizes(found.sizes.size());
    for (const double v : values) ++sizes[found.nearest(v)];
    EXPECT_EQ(sizes, found.sizes);
  }
}

TEST(KMeans1d, MoreClustersThanDistinctValuesGiveOneEach) {
  const std::vector<double> values{2, 2, 2, 5, 5};
  const Clustering found = kmeans_1d(values, 10);
  EXPECT_EQ(found.centroids, (std::vector<double>{2, 5}));
  EXPECT_EQ(found.within, 0);
  EXPECT_TRUE(kmeans_1d({}, 3).centroids.empty());
}

TEST(KMeans1d, FarOffsetsDoNotCancel) {
  std::vector<double> values{1, 2, 9, 10, 12};
  for (double& v : values) v += 1e9;
  EXPECT_NEAR(kmeans_1d(values, 2).within, 5.1667, 1e-4);
}

TEST(Silhouette, AgreesWithItsDefinition) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const std::vector<double> values = random_values(seed, 40, seed % 2 == 0);
    for (std::size_t k = 2; k <= 5; ++k) {
      const Clustering found = kmeans_1d(values, k);
      EXPECT_NEAR(found.silhouette, silhouette_by_definition(values, found.sizes), 1e-9);
    }
  }
}

TEST(KMeans1d, AnOutlierLeavesTheOtherValuesTheirPrecision) {
  for (const double outlier : {-1e9, 1e9}) {
    std::vector<double> values{outlier, 0.0, 0.001, 0.002, 1.0, 1.001, 1.003};
    std::ranges::sort(values);
    const Clustering found = kmeans_1d(values, 3);
    ASSERT_EQ(found.centroids.size(), 3U);
    const std::size_t low = outlier < 0 ? 1 : 0;
    EXPECT_NEAR(found.centroids[low], 0.001, 1e-15);
    EXPECT_NEAR(found.centroids[low + 1], 3.004 / 3, 1e-15);
    EXPECT_NEAR(found.within, 2e-6 + 14e-6 / 3, 1e-14);
  }
}

TEST(Silhouette, IsUnchangedByShiftAndScale) {
  const std::vector<double> values = random_values(3, 200, false);
  std::vector<double> moved = values;
  for (double& v : moved) v = 4 * v - 17;
  EXPECT_NEAR(kmeans_1d(values, 3).silhouette, kmeans_1d(moved, 3).silhouette, 1e-9);
}

TEST(Silhouette, SingletonsAndIdenticalPointsScoreZero) {
  EXPECT_EQ(silhouette_1d(std::vector<double>{1, 5}, std::vector<std::size_t>{1, 1}), 0);
  EXPECT_EQ(silhouette_1d(std::vector<double>{1, 1, 1}, std::vector<std::size_t>{3}), 0);
  EXPECT_EQ(silhouette_1d(std::vector<double>{1, 1, 1, 1}, std::vector<std::size_t>{2, 2}), 0);
}

TEST(Nearest, TiesGoToTheLowerIndex) {
  const Clustering clustering{.centroids = {0, 2, 10}, .sizes = {1, 1, 1}};
  EXPECT_EQ(clustering.nearest(1), 0U);
  EXPECT_EQ(clustering.nearest(1.01), 1U);
  EXPECT_EQ(clustering.nearest(-5), 0U);
  EXPECT_EQ(clustering.nearest(6), 1U);
  EXPECT_EQ(clustering.nearest(99), 2U);
}

}  // namespace
}  // namespace assay::clustering

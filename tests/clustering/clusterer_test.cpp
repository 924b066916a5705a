#include <assay/extend/clustering.h>

#include <gtest/gtest.h>

#include <assay/error.h>
#include <assay/extend/random.h>

namespace assay::clustering {
namespace {

std::vector<double> mixture(const std::vector<double>& centres, std::size_t each) {
  Rng rng(9);
  std::vector<double> values;
  for (const double centre : centres) {
    for (std::size_t i = 0; i < each; ++i) values.push_back(centre + 0.1 * rng.normal());
  }
  rng.shuffle(values);
  return values;
}

class EveryClusterer : public testing::TestWithParam<std::string> {};

TEST_P(EveryClusterer, FindsWellSeparatedGroupsInAnyOrder) {
  const auto clusterer = clusterers().find(GetParam()).make({});
  std::vector<double> values = mixture({0, 5, 9}, 50);
  const Clustering found = clusterer->cluster(values);
  ASSERT_EQ(found.centroids.size(), 3U);
  EXPECT_NEAR(found.centroids[1], 5, 0.1);
  Rng(1).shuffle(values);
  EXPECT_EQ(clusterer->cluster(values).centroids, found.centroids);
}

TEST_P(EveryClusterer, FewDistinctValuesGiveOneCluster) {
  const auto clusterer = clusterers().find(GetParam()).make({});
  EXPECT_EQ(clusterer->cluster({0, 0, 0, 0, 3, 3, 3}).centroids.size(), 1U);
  EXPECT_EQ(clusterer->cluster(std::vector<double>(100, 7.0)).centroids, (std::vector<double>{7.0}));
  EXPECT_EQ(clusterer->cluster({}).centroids.size(), 1U);
}

TEST_P(EveryClusterer, SizesAddUpToTheValues) {
  const Clustering found = clusterers().find(GetParam()).make({})->cluster(mixture({0, 1, 2, 3}, 40));
  std::size_t total = 0;
  for (const std::size_t size : found.sizes) total += size;
  EXPECT_EQ(total, 160U);
}

std::vector<std::string> names() {
  std::vector<std::string> result;
  for (const ClustererInfo& info : clusterers()) result.push_back(info.name);
  return result;
}

INSTANTIATE_TEST_SUITE_P(Catalogue, EveryClusterer, testing::ValuesIn(names()));

TEST(Clusterers, AreListedAndUnknownNamesAreRefused) {
  EXPECT_FALSE(names().empty());
  EXPECT_THROW(clusterers().find("kmaens").make({}), Error);
  EXPECT_THROW(clusterers().find("kmeans").make({.min_k = 5, .max_k = 2}), Error);
}

TEST(ExactKMeans, ChoosesTheNumberOfClustersWithTheBestSilhouette) {
  EXPECT_EQ(clusterers().find("kmeans").make({})->cluster(mixture({0, 5}, 60)).centroids.size(), 2U);
  EXPECT_EQ(clusterers()
                .find("kmeans")
                .make({.min_k = 2, .max_k = 6})
                ->cluster(mixture({0, 5, 10, 15, 20}, 60))
                .centroids.size(),
            5U);
}

TEST(ExactKMeans, OptionsOfTheReleasedCode) {
  std::vector<double> values = mixture({5, 9}, 50);
  values.insert(values.end(), 200, 0.0);
  EXPECT_EQ(clusterers().find("kmeans").make({})->cluster(values).centroids.size(), 3U);
  EXPECT_EQ(clusterers().find("kmeans").make({.drop_zeros = true})->cluster(values).centroids.size(), 2U);
  // Centroids that round to the same number become one cluster, so that all combinations stay coverable.
  const auto tiny = [](int decimals) {
    std::vector<double> small;
    for (int i = 0; i < 40; ++i) small.push_back((i % 2 == 0 ? 0.0011 : 0.0043) + 1e-6 * i);
    return clusterers()
        .find("kmeans")
        .make({.min_k = 2, .max_k = 2, .round_decimals = decimals})
        ->cluster(small);
  };
  EXPECT_EQ(tiny(-1).centroids.size(), 2U);
  EXPECT_EQ(tiny(2).centroids, (std::vector<double>{0.0}));
  EXPECT_EQ(tiny(2).sizes, (std::vector<std::size_t>{40}));
}

}  // namespace
}  // namespace assay::clustering

// Every criterion against a plain second writing from its definition, and hand-worked values.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include <assay/error.h>
#include <assay/extend/abilities.h>
#include "assay/clustering/centroids.h"
#include "tests/coverage/build.h"

namespace assay::coverage {
namespace {

using test::row;
using test::Suite;

const LayerStatistics& statistics(std::size_t layer) { return test::profile().statistics[layer]; }

// Calls visit(layer, neuron, activation, record) for everything.
template <typename Visit>
void for_all(const Suite& suite, const Visit& visit) {
  for (std::size_t i = 0; i < suite.size(); ++i) {
    for (std::size_t l = 0; l < 2; ++l) {
      for (std::size_t n = 0; n < Suite::widths[l]; ++n) visit(l, n, suite.row(l, i)[n], i);
    }
  }
}

void expect_covered(const std::string& spec, const Suite& suite, std::size_t covered, std::size_t coverable) {
  const auto criterion = test::criterion(spec);
  suite.give(*criterion);
  EXPECT_EQ(row(*criterion, "all").covered, std::to_string(covered)) << spec;
  EXPECT_EQ(row(*criterion, "all").coverable, std::to_string(coverable)) << spec;
  EXPECT_DOUBLE_EQ(row(*criterion, "all").value,
                   static_cast<double>(covered) / static_cast<double>(coverable))
      << spec;
}

class SecondWriting : public testing::TestWithParam<int> {
 protected:
  const Suite suite = Suite::random(3 + 12 * static_cast<std::size_t>(GetParam()),
                                    static_cast<std::uint64_t>(GetParam()), 1.4);
};

TEST_P(SecondWriting, OfNeuronCoverage) {
  for (const std::string scale : {"layer", "none"}) {
    for (const double threshold : {0.0, 0.25, 0.75}) {
      std::set<std::pair<std::size_t, std::size_t>> covered;
      for_all(suite, [&](std::size_t l, std::size_t n, float a, std::size_t i) {
        const auto& all = suite.row(l, i);
        const double low = *std::min_element(all.begin(), all.end()),
                     high = *std::max_element(all.begin(), all.end());
        const double value = scale == "none" ? a : high > low ? (a - low) / (high - low) : 0;
        if (value > threshold) covered.insert({l, n});
      });
      expect_covered(fmt::format("nc[threshold={},scale={}]", threshold, scale), suite, covered.size(), 11);
    }
  }
}

TEST_P(SecondWriting, OfNeuronCoverageBesideItsThreshold) {
  Rng rng(static_cast<std::uint64_t>(GetParam()));
  for (const double threshold : {-0.5, 0.0, 0.1, 0.3, 0.75, 1.0}) {
    const auto low = static_cast<float>(rng.normal()),
               high = low + static_cast<float>(std::abs(rng.normal()));
    const auto near = static_cast<float>(low + threshold * (static_cast<double>(high) - low));
    const std::vector<float> first{low,
                                   high,
                                   std::clamp(near, low, high),
                                   std::clamp(std::nextafter(near, high), low, high),
                                   std::clamp(std::nextafter(near, low), low, high),
                                   low};
    const Suite one = Suite().add(first, std::vector<float>(5, low));  // and a constant layer
    std::size_t covered = threshold < 0 ? 5 : 0;
    for (const float a : first)
      covered += (static_cast<double>(a) - low) / (static_cast<double>(high) - low) > threshold;
    expect_covered(fmt::format("nc[threshold={}]", threshold), one, covered, 11);
  }
}

TEST_P(SecondWriting, OfMultisections) {
  for (const int k : {1, 4, 100}) {
    std::set<std::tuple<std::size_t, std::size_t, int>> covered;
    for_all(suite, [&](std::size_t l, std::size_t n, float a, std::size_t) {
      const double low = statistics(l).low[n], high = statistics(l).high[n];
      if (a < low || a > high) return;
      covered.insert({l, n, std::min(k - 1, static_cast<int>(std::floor(k * (a - low) / (high - low))))});
    });
    expect_covered(fmt::format("kmnc[sections={}]", k), suite, covered.size(),
                   11 * static_cast<std::size_t>(k));
  }
}

TEST_P(SecondWriting, OfBoundaries) {
  for (const double widen : {0.0, 0.5}) {
    std::set<std::tuple<std::size_t, std::size_t, bool>> corners;
    std::size_t strong = 0;
    for_all(suite, [&](std::size_t l, std::size_t n, float a, std::size_t) {
      if (a < statistics(l).low[n] - widen * statistics(l).deviation[n]) corners.insert({l, n, false});
      if (a > statistics(l).high[n] + widen * statistics(l).deviation[n]) corners.insert({l, n, true});
    });
    for (const auto& corner : corners) strong += std::get<2>(corner);
    expect_covered(fmt::format("nbc[widen={}]", widen), suite, corners.size(), 22);
    expect_covered(fmt::format("snac[widen={}]", widen), suite, strong, 11);
  }
}

// Neurons by activation, ties to the lower index.
std::vector<std::size_t> sorted_neurons(const std::vector<float>& row, bool descending) {
  std::vector<std::size_t> order(row.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return descending ? row[a] > row[b] : row[a] < row[b];
  });
  return order;
}

TEST_P(SecondWriting, OfTopAndBottomNeuronsAndPatterns) {
  for (const std::size_t k : {1, 2, 9}) {
    std::set<std::pair<std::size_t, std::size_t>> top, bottom;
    std::set<std::vector<std::set<std::size_t>>> patterns;
    for (std::size_t i = 0; i < suite.size(); ++i) {
      std::vector<std::set<std::size_t>> pattern(2);
      for (std::size_t l = 0; l < 2; ++l) {
        const auto falling = sorted_neurons(suite.row(l, i), true),
                   rising = sorted_neurons(suite.row(l, i), false);
        for (std::size_t j = 0; j < std::min(k, falling.size()); ++j) {
          top.insert({l, falling[j]});
          bottom.insert({l, rising[j]});
          pattern[l].insert(falling[j]);
        }
      }
      patterns.insert(pattern);
    }
    expect_covered(fmt::format("tknc[k={}]", k), suite, top.size(), 11);
    expect_covered(fmt::format("bknc[k={}]", k), suite, bottom.size(), 11);
    const auto tknp = test::criterion(fmt::format("tknp[k={}]", k));
    suite.give(*tknp);
    EXPECT_EQ(tknp->result().back().value, static_cast<double>(patterns.size()));
    EXPECT_EQ(tknp->result().back().coverable, "");
  }
}

TEST_P(SecondWriting, OfNeuralCoverage) {
  // Layers of 6 and 5 neurons: few records are kept as they are, many as sums of products.
  for (const std::size_t most : {std::size_t{1}, std::size_t{4}, std::size_t{6}, suite.size()}) {
    const std::size_t records = std::min(most, suite.size());
    const auto nlc = test::criterion("nlc");
    suite.give(*nlc, 0, records);
    double expected = 0;
    for (std::size_t l = 0; l < 2; ++l) {
      const std::size_t m = Suite::widths[l];
      const auto count = static_cast<double>(records);
      double layer = 0;
      for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t j = 0; j < m; ++j) {
          double mean_i = 0, mean_j = 0, product = 0;
          for (std::size_t r = 0; r < records; ++r) {
            mean_i += suite.row(l, r)[i] / count;
            mean_j += suite.row(l, r)[j] / count;
          }
          for (std::size_t r = 0; r < records; ++r)
            product += (suite.row(l, r)[i] - mean_i) * (suite.row(l, r)[j] - mean_j) / count;
          layer += std::abs(product);
        }
      }
      expected += layer / static_cast<double>(m * m);
    }
    EXPECT_NEAR(nlc->result().back().value, expected,
                1e-4 * expected + 1e-12)  // activations are rounded to 2^-18 of their range
        << records << " records";
  }
}

TEST_P(SecondWriting, OfSignPairs) {
  std::set<std::pair<std::size_t, std::size_t>> covered;
  for (std::size_t a = 0; a < suite.size(); ++a) {
    for (std::size_t b = 0; b < suite.size(); ++b) {
      std::vector<std::size_t> differ;
      for (std::size_t i = 0; i < 6; ++i) {
        if ((suite.row(0, a)[i] > 0) != (suite.row(0, b)[i] > 0)) differ.push_back(i);
      }
      if (differ.size() != 1) continue;
      for (std::size_t j = 0; j < 5; ++j) {
        if ((suite.row(1, a)[j] > 0) != (suite.row(1, b)[j] > 0)) covered.insert({differ[0], j});
      }
    }
  }
  expect_covered("ss", suite, covered.size(), 30);
}

// Whether |a| and |b| have one sign and one is at least twice the other.
bool differ_in_value(float a, float b) {
  const double greater = std::max(std::abs(double{a}), std::abs(double{b})),
               less = std::min(std::abs(double{a}), std::abs(double{b}));
  return (a > 0) == (b > 0) && a != b && greater >= 2 * less;
}

TEST_P(SecondWriting, OfChangesOfSignsAndValues) {
  for (const std::string name : {"vs", "sv", "vv"}) {
    const bool sign_first = name[0] == 's', sign_second = name[1] == 's';
    std::set<std::pair<std::size_t, std::size_t>> covered;
    for (std::size_t a = 0; a < suite.size(); ++a) {
      for (std::size_t b = 0; b < suite.size(); ++b) {
        std::vector<std::size_t> flipped, causes;
        for (std::size_t i = 0; i < 6; ++i) {
          const float x = suite.row(0, a)[i], y = suite.row(0, b)[i];
          if ((x > 0) != (y > 0)) flipped.push_back(i);
          if (differ_in_value(x, y)) causes.push_back(i);
        }
        if (flipped.size() != (sign_first ? 1 : 0)) continue;
        for (const std::size_t i : sign_first ? flipped : causes) {
          for (std::size_t j = 0; j < 5; ++j) {
            const float x = suite.row(1, a)[j], y = suite.row(1, b)[j];
            if (sign_second ? (x > 0) != (y > 0) : differ_in_value(x, y)) covered.insert({i, j});
          }
        }
      }
    }
    expect_covered(name, suite, covered.size(), 30);
  }
}

TEST_P(SecondWriting, OfPairsThatAreActiveTogether) {
  for (const double threshold : {0.0, 1.0, 2.5}) {
    std::set<std::tuple<std::size_t, std::size_t, std::size_t>> covered;
    for_all(suite, [&](std::size_t l, std::size_t n, float a, std::size_t i) {
      for (std::size_t other = 0; other < n; ++other)
        if (a > threshold && suite.row(l, i)[other] > threshold) covered.insert({l, other, n});
    });
    expect_covered(fmt::format("pcc[threshold={}]", threshold), suite, covered.size(), 15 + 10);
  }
}

double squared_distance_of(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

std::size_t nearest_of(const std::vector<std::vector<double>>& centroids, const std::vector<double>& point) {
  std::size_t best = 0;
  for (std::size_t c = 1; c < centroids.size(); ++c)
    if (squared_distance_of(point, centroids[c]) < squared_distance_of(point, centroids[best])) best = c;
  return best;
}

// What k-means ends with: each centroid is the mean of the training records that it is the nearest of.
TEST_P(SecondWriting, OfClustersOfRecords) {
  const LayerTraces& traces = *test::profile().traces[0];
  for (const std::size_t count : {2, 7, 32}) {
    const clustering::Centroids found = clustering::find_centroids(traces.values, 5, count, 0);
    std::vector<std::vector<double>> centroids, sums(count, std::vector<double>(5));
    for (std::size_t c = 0; c < count; ++c)
      centroids.emplace_back(found.values.begin() + c * 5, found.values.begin() + (c + 1) * 5);
    std::vector<double> sizes(count);
    for (std::size_t r = 0; r < traces.values.size() / 5; ++r) {
      const std::vector<double> point(traces.values.begin() + r * 5, traces.values.begin() + (r + 1) * 5);
      const std::size_t owner = nearest_of(centroids, point);
      sizes[owner] += 1;
      for (std::size_t d = 0; d < 5; ++d) sums[owner][d] += point[d];
    }
    for (std::size_t c = 0; c < count; ++c)
      for (std::size_t d = 0; d < 5; ++d) EXPECT_NEAR(sums[c][d] / sizes[c], centroids[c][d], 1e-12);
    std::set<std::size_t> covered;
    for (std::size_t i = 0; i < suite.size(); ++i) {
      const auto& row = suite.row(1, i);
      covered.insert(nearest_of(centroids, {row.begin(), row.end()}));
    }
    const auto criterion = test::criterion(fmt::format("scc[clusters={}]", count));
    suite.give(*criterion);
    EXPECT_EQ(row(*criterion, "second").covered, std::to_string(covered.size()));
    EXPECT_EQ(row(*criterion, "second").coverable, std::to_string(count));
  }
}

TEST(SemanticClusters, NeedAsManyDifferentRecords) {
  EXPECT_THROW(test::criterion("scc[clusters=201]"), Error);
}

INSTANTIATE_TEST_SUITE_P(Suites, SecondWriting, testing::Range(0, 8));

// A profile of one neuron with low 0 and high 1.
Profile one_neuron() {
  Profile profile;
  profile.statistics.push_back({"n", "Gemm", {0}, {1}, {0.5}, {0.25}, {0}});
  return profile;
}

std::unique_ptr<Criterion> after(const std::string& spec, const Profile& profile,
                                 const std::vector<float>& values) {
  auto criterion = test::criterion(spec, profile);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Activations activations{1, 1, {values[i]}};
    criterion->observe({std::span(&i, 1), std::span(&activations, 1)});
  }
  return criterion;
}

TEST(HandWorked, SectionsAndBoundariesOfOneNeuron) {
  const std::vector<float> values{0, 0.25f, 1.0f, 1.2f};
  EXPECT_EQ(row(*after("kmnc[sections=4]", one_neuron(), values), "all").value, 0.75);  // sections 0, 1 and 3
  EXPECT_EQ(row(*after("snac", one_neuron(), values), "all").value, 1);
  EXPECT_EQ(row(*after("nbc", one_neuron(), values), "all").value, 0.5);
  EXPECT_EQ(row(*after("nbc", one_neuron(), {0, 1}), "all").covered,
            "0");  // training extremes are no corner cases
  EXPECT_EQ(row(*after("snac[widen=1]", one_neuron(), {1.25f}), "all").covered, "0");
}

TEST(HandWorked, AConstantNeuronHasNoSectionsAndIsNotAttainable) {
  Profile profile = one_neuron();
  profile.statistics[0].high = {0};
  EXPECT_EQ(row(*after("kmnc[sections=4]", profile, {0}), "all").coverable, "0");
  const Coverage nc = row(*after("nc[threshold=0,scale=none]", profile, {0}), "all");
  EXPECT_EQ(nc.coverable, "1");
  EXPECT_EQ(nc.attainable, "0");
}

TEST(HandWorked, ADuplicateNeuronIsNotCountedTwiceAsAttainable) {
  Profile profile;
  profile.statistics.push_back({"n", "Gemm", {0, 0, 0}, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}, {0, 1, 0}});
  EXPECT_EQ(test::criterion("nc", profile)->result().back().attainable, "2");
}

TEST(HandWorked, PairsOfSignsWithAConstantNeuronAreNotAttainable) {
  Profile profile;
  profile.statistics.push_back({"n", "Gemm", {0, 0, 0}, {1, 0, 1}, {0, 0, 0}, {1, 1, 1}, {0, 1, 0}});
  profile.statistics.push_back({"o", "Gemm", {0, 0}, {1, 1}, {0, 0}, {1, 1}, {0, 1}});
  const Coverage pairs = test::criterion("ss", profile)->result().back();
  EXPECT_EQ(pairs.coverable, "6");
  EXPECT_EQ(pairs.attainable, "2") << "neuron 1 is constant, neuron 2 the same as neuron 0";
}

TEST(HandWorked, ChangesOfValueOfOnePairOfNeurons) {
  Profile profile;
  profile.statistics.push_back({"n", "Gemm", {0}, {9}, {0}, {1}, {0}});
  profile.statistics.push_back({"o", "Gemm", {-9}, {9}, {0}, {1}, {0}});
  const auto covered = [&](const std::string& spec, const std::vector<std::pair<float, float>>& records) {
    const auto criterion = test::criterion(spec, profile);
    for (std::size_t i = 0; i < records.size(); ++i) {
      const std::vector<Activations> layers{{1, 1, {records[i].first}}, {1, 1, {records[i].second}}};
      criterion->observe({std::span(&i, 1), layers});
    }
    return criterion->result().back().covered;
  };
  EXPECT_EQ(covered("vs", {{1, 3}, {2, -3}}), "1");
  EXPECT_EQ(covered("vs", {{1, 3}, {1.9f, -3}}), "0") << "less than twice";
  EXPECT_EQ(covered("vs[factor=1.5]", {{1, 3}, {1.9f, -3}}), "1");
  EXPECT_EQ(covered("vs", {{0, 3}, {2, -3}}), "0") << "the first neuron changes its sign";
  EXPECT_EQ(covered("sv", {{0, 3}, {2, 6}}), "1");
  EXPECT_EQ(covered("sv", {{0, 3}, {2, -6}}), "0") << "the second neuron changes its sign";
  EXPECT_EQ(covered("sv[effect=3]", {{0, 3}, {2, 6}}), "0");
  EXPECT_EQ(covered("vv", {{1, 3}, {2, 6}}), "1");
  EXPECT_EQ(covered("vv", {{1, 3}, {2, 3}}), "0");
  EXPECT_EQ(covered("vv[factor=3]", {{1, 3}, {2, 6}}), "0");
  EXPECT_THROW(test::criterion("vv[factor=1]", profile), Error);
}

TEST(HandWorked, CornersBeyondTheActivationFunctionAreNotAttainable) {
  Profile profile = one_neuron();
  profile.statistics[0].floor = 0;
  EXPECT_EQ(row(*after("nbc", profile, {2}), "all").attainable_value, 1);
  profile.statistics[0].low = {0.1f};
  EXPECT_EQ(row(*after("nbc", profile, {2}), "all").attainable_value, 0.5);
}

TEST(HandWorked, SectionsNarrowerThanFloat32AreNotAttainable) {
  Profile profile = one_neuron();
  const float next = std::nextafter(1.0f, 2.0f);
  profile.statistics[0].low = {1};
  profile.statistics[0].high = {next};
  const Coverage coverage = row(*after("kmnc[sections=10]", profile, {1, next}), "all");
  EXPECT_EQ(coverage.covered, "2");
  EXPECT_EQ(coverage.attainable, "2");
}

TEST(HandWorked, DistanceSurpriseOfTheSpecification) {
  // Class 0: (0, 0), (2, 0); class 1: (5, 0), (0, 4); (1.5, 0) is predicted 0: 0.5 / 3.
  Profile profile;
  profile.statistics.push_back({"n", "Gemm", {0, 0}, {5, 4}, {0, 0}, {1, 1}, {0, 1}});
  auto traces = std::make_shared<LayerTraces>();
  traces->layer = "n";
  traces->dimensions = 2;
  traces->values = {0, 0, 2, 0, 5, 0, 0, 4};
  traces->predicted = {0, 0, 1, 1};
  profile.traced = {"n"};
  profile.traces = {traces};
  const auto dsc = test::criterion("dsc[upper=1,buckets=6]", profile);
  const Activations activations{1, 2, {1.5f, 0}};
  const std::size_t record = 0;
  const std::int64_t predicted = 0;
  dsc->observe({std::span(&record, 1), std::span(&activations, 1), {}, {}, std::span(&predicted, 1)});
  EXPECT_NEAR(ability<Valued>(*dsc)->values().values.at(0).second, 1.0 / 6, 1e-12);
  EXPECT_EQ(dsc->result()[0].covered, "1");
  EXPECT_EQ(dsc->result()[0].coverable, "6");
}

}  // namespace
}  // namespace assay::coverage

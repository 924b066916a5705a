// Importance-driven coverage at strength t against a plain second writing, hand-worked counts and idc.

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <tuple>

#include <assay/error.h>
#include <assay/extend/abilities.h>
#include <assay/extend/criteria.h>
#include "tests/coverage/build.h"

namespace assay::coverage {
namespace {

std::unique_ptr<Criterion> tidc(const Profile& profile, std::size_t t, std::size_t m) {
  return make_criterion(profile, parse_spec("criterion", fmt::format("tidc[m={},t={}]", m, t)));
}

// Important: neuron 4 (clusters around 0 and 1), 0 (0, 1 and 2), 2 (one cluster).
const std::vector<std::pair<std::size_t, std::vector<double>>> important{
    {4, {0, 1}}, {0, {0, 1, 2}}, {2, {7}}};

std::size_t nearest(double value, const std::vector<double>& centroids) {
  std::size_t best = 0;
  for (std::size_t c = 1; c < centroids.size(); ++c) {
    if (std::abs(value - centroids[c]) < std::abs(value - centroids[best])) best = c;
  }
  return best;
}

TEST(Tidc, AgreesWithAPlainSecondWriting) {
  const test::Suite training = test::Suite::random(60, 1), suite = test::Suite::random(25, 2);
  const Profile profile = test::profile_of(training);
  const auto criterion = tidc(profile, 2, 3);
  suite.give(*criterion);
  std::set<std::tuple<std::size_t, std::size_t, std::size_t, std::size_t>> covered;
  for (std::size_t r = 0; r < suite.size(); ++r) {
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = i + 1; j < 3; ++j)
        covered.emplace(i, j, nearest(suite.row(1, r)[important[i].first], important[i].second),
                        nearest(suite.row(1, r)[important[j].first], important[j].second));
    }
  }
  const Coverage coverage = criterion->result().at(0);
  EXPECT_EQ(coverage.layer, "second");
  EXPECT_EQ(coverage.covered, std::to_string(covered.size()));
  EXPECT_EQ(coverage.coverable, std::to_string(2 * 3 + 2 * 1 + 3 * 1));
}

TEST(Tidc, HandWorkedCounts) {
  const Profile profile = test::profile_of(test::Suite::random(60, 1));
  const auto pairs = tidc(profile, 2, 3), single = tidc(profile, 1, 3);
  test::Suite suite;
  const std::vector<float> first(6, 0);
  suite.add(first, {0.1F, 0, 3, 0, 0.9F});  // clusters 1, 0, 0
  suite.add(first, {1.2F, 0, 3, 0, 0.9F});  // clusters 1, 1, 0
  suite.give(*pairs);
  suite.give(*single);
  // (1, 0), (1, 1); (1, 0); (0, 0), (1, 0).
  EXPECT_EQ(pairs->result()[0].covered, "5");
  // 1; 0, 1; 0.
  EXPECT_EQ(single->result()[0].covered, "4");
  EXPECT_EQ(single->result()[0].coverable, "6");
  // What one covers and the other does not, by neurons and clusters.
  const auto other = tidc(profile, 2, 3);
  const auto difference = dynamic_cast<const Comparable&>(*pairs).difference(*other, 5);
  EXPECT_EQ(difference.at(0).only_here, 5U);
  EXPECT_EQ(difference[0].examples.at(0).item, "neurons 4 0: clusters 1 0");
}

TEST(Tidc, AtFullStrengthIsIdc) {
  const Profile profile = test::profile_of(test::Suite::random(60, 1));
  const test::Suite suite = test::Suite::random(40, 3);
  const auto full = tidc(profile, 3, 3), idc = make_criterion(profile, parse_spec("criterion", "idc[m=3]"));
  suite.give(*full);
  suite.give(*idc);
  EXPECT_EQ(full->result()[0].covered, idc->result()[0].covered);
  EXPECT_EQ(full->result()[0].coverable, idc->result()[0].coverable);
  EXPECT_EQ(full->result()[0].value, idc->result()[0].value);
}

TEST(Tidc, RefusesMoreThanItCanHold) {
  const Profile profile = test::profile_of(test::Suite::random(60, 1));
  EXPECT_THROW(tidc(profile, 4, 3), Error);
  Profile wide = profile;
  wide.clusters[0].important.clear();
  std::vector<double> centroids(100);
  for (std::size_t c = 0; c < 100; ++c) centroids[c] = static_cast<double>(c);
  for (std::size_t n = 0; n < 5; ++n) wide.clusters[0].important.push_back(test::important(n, centroids));
  EXPECT_NO_THROW(tidc(wide, 2, 5));
  try {
    tidc(wide, 4, 5);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("choose a smaller t or m"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace assay::coverage

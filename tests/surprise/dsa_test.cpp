#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include <assay/error.h>
#include <assay/extend/random.h>
#include "assay/surprise/dsa.h"
#include "tests/surprise/set.h"

namespace assay::surprise {
namespace {

double distance(const float* a, const float* b, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i)
    sum += (static_cast<double>(a[i]) - b[i]) * (static_cast<double>(a[i]) - b[i]);
  return std::sqrt(sum);
}

// The definition, record by record.
DsaScore plain_dsa(const Traces& training, const float* x, std::int32_t c) {
  DsaScore s;
  s.dist_a = s.dist_b = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < training.records(); ++i) {
    const double d = distance(x, training.row(i), training.dimensions);
    if (training.classes[i] == c && d < s.dist_a) s.dist_a = d, s.nearest = i;
  }
  for (std::size_t i = 0; i < training.records(); ++i) {
    if (training.classes[i] != c)
      s.dist_b = std::min(s.dist_b, distance(training.row(s.nearest), training.row(i), training.dimensions));
  }
  s.dsa = s.dist_b > 0 ? s.dist_a / s.dist_b : s.dist_a == 0 ? 0 : std::numeric_limits<double>::infinity();
  return s;
}

enum class Kind { normal, lattice, offset, sparse, tiny, huge, outlier };

Set make(std::uint64_t seed, std::size_t records, std::size_t dimensions, int classes, Kind kind) {
  Rng rng(seed);
  Set set{dimensions, {}, {}};
  for (std::size_t i = 0; i < records; ++i) {
    set.classes.push_back(static_cast<std::int32_t>(i < static_cast<std::size_t>(classes)
                                                        ? i
                                                        : rng.below(static_cast<std::uint64_t>(classes))) -
                          1);
    for (std::size_t d = 0; d < dimensions; ++d) {
      double v = rng.normal();
      if (kind == Kind::lattice) v = static_cast<double>(rng.below(3));
      if (kind == Kind::offset) v = 1e6 + std::round(v * 16) / 16;
      if (kind == Kind::sparse) v = d == 0 ? 3 : std::max(0.0, v - 0.5);
      if (kind == Kind::tiny) v *= 1e-40;
      if (kind == Kind::huge) v *= 5e37;
      if (kind == Kind::outlier && rng.below(50) == 0) v *= 1e30;
      set.values.push_back(static_cast<float>(v));
    }
  }
  return set;
}

void expect_same(const std::vector<DsaScore>& a, const std::vector<DsaScore>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].nearest, b[i].nearest) << i;
    EXPECT_EQ(a[i].dsa, b[i].dsa) << i;
    EXPECT_EQ(a[i].dist_b, b[i].dist_b) << i;
  }
}

TEST(Dsa, HandWorkedVector) {
  const Set training{2, {0, 0, 2, 0, 5, 0, 0, 4}, {0, 0, 1, 1}};
  const Set test{2, {1.5, 0}, {0}};
  const auto s = DsaReference(training.view()).score(test.view())[0];
  EXPECT_EQ(s.dist_a, 0.5);
  EXPECT_EQ(s.dist_b, 3);
  EXPECT_EQ(s.dsa, 0.5 / 3);
  EXPECT_EQ(s.nearest, 1U);
}

TEST(Dsa, EqualsBruteForce) {
  std::uint64_t seed = 0;
  for (const Kind kind :
       {Kind::normal, Kind::lattice, Kind::offset, Kind::sparse, Kind::tiny, Kind::huge, Kind::outlier}) {
    for (const std::size_t dimensions : {1, 2, 7, 33, 130}) {
      const Set training = make(++seed, 230, dimensions, 4, kind),
                test = make(++seed, 60, dimensions, 4, kind);
      const auto scores = DsaReference(training.view()).score(test.view(), {2, 16, 50});
      for (std::size_t i = 0; i < scores.size(); ++i) {
        const DsaScore want = plain_dsa(training.view(), test.view().row(i), test.classes[i]);
        ASSERT_EQ(scores[i].nearest, want.nearest)
            << static_cast<int>(kind) << " d " << dimensions << " record " << i;
        // The order of summation differs from the one above: each squared distance is right to (d + 2) 2^-53.
        const double rounding = 2 * static_cast<double>(dimensions + 2) * 0x1p-53;
        ASSERT_NEAR(scores[i].dist_a, want.dist_a, rounding * want.dist_a);
        ASSERT_NEAR(scores[i].dist_b, want.dist_b, rounding * want.dist_b);
        if (std::isfinite(want.dsa)) {
          ASSERT_NEAR(scores[i].dsa, want.dsa, 2 * rounding * want.dsa);
        } else {
          ASSERT_EQ(scores[i].dsa, want.dsa);
        }
      }
    }
  }
}

TEST(Dsa, BlocksThreadsAndOrderChangeNothing) {
  const Set training = make(1, 300, 20, 3, Kind::sparse), test = make(2, 50, 20, 3, Kind::sparse);
  const DsaReference reference(training.view());
  const auto scores = reference.score(test.view());
  expect_same(scores, reference.score(test.view(), {1, 1, 1}));
  expect_same(scores, reference.score(test.view(), {3, 7, 13}));
  Set reversed{20, {}, {}};
  for (std::size_t i = 50; i-- > 0;) {
    reversed.values.insert(reversed.values.end(), test.view().row(i), test.view().row(i) + 20);
    reversed.classes.push_back(test.classes[i]);
  }
  auto back = reference.score(reversed.view());
  std::reverse(back.begin(), back.end());
  expect_same(scores, back);
}

TEST(Dsa, AFartherTrainingRecordChangesNothing) {
  Set training = make(3, 100, 5, 2, Kind::normal);
  const Set test = make(4, 30, 5, 2, Kind::normal);
  const auto before = DsaReference(training.view()).score(test.view());
  for (const std::int32_t c : {-1, 0}) {
    training.values.insert(training.values.end(), 5, 1000);
    training.classes.push_back(c);
  }
  expect_same(before, DsaReference(training.view()).score(test.view()));
}

TEST(Dsa, EdgeCasesHaveAStatus) {
  const float inf = std::numeric_limits<float>::infinity();
  const Set training{1, {1, 1, 5, inf}, {0, 1, 1, 1}};
  const DsaReference reference(training.view());
  EXPECT_EQ(reference.left_out(), std::vector<std::size_t>{3});
  const Set test{1, {1, 2, std::nanf(""), 2}, {0, 0, 0, 9}};
  const auto s = reference.score(test.view());
  EXPECT_EQ(s[0].status, SurpriseStatus::coinciding);
  EXPECT_EQ(s[0].dsa, 0);
  EXPECT_EQ(s[1].status, SurpriseStatus::coinciding);
  EXPECT_EQ(s[1].dsa, std::numeric_limits<double>::infinity());
  EXPECT_EQ(s[2].status, SurpriseStatus::non_finite);
  EXPECT_EQ(s[3].status, SurpriseStatus::no_training);
  const Set one{1, {1, 2}, {0, 0}}, query{1, {1}, {0}};
  EXPECT_EQ(DsaReference(one.view()).score(query.view())[0].status, SurpriseStatus::single_class);
  EXPECT_TRUE(std::isnan(DsaReference(one.view()).score(query.view())[0].dsa));
  const Set wide{2, {1, 2}, {0}};
  EXPECT_THROW(reference.score(wide.view()), Error);
}

TEST(Dsa, SavedAndLoadedScoresTheSameAndDamageIsRefused) {
  const Set training = make(5, 40, 3, 3, Kind::normal), test = make(6, 20, 3, 3, Kind::normal);
  const DsaReference reference(training.view());
  std::stringstream stream;
  reference.save(stream);
  const std::string bytes = stream.str();
  expect_same(reference.score(test.view()), DsaReference::load(stream).score(test.view()));
  for (std::size_t length = 0; length < bytes.size(); length += 5) {
    std::istringstream cut(bytes.substr(0, length));
    EXPECT_THROW(DsaReference::load(cut), Error) << length;
  }
  std::string hostile = bytes;
  hostile.replace(16, 8, 8, '\x7f');  // number of classes
  std::istringstream in(hostile);
  EXPECT_THROW(DsaReference::load(in), Error);
}

}  // namespace
}  // namespace assay::surprise

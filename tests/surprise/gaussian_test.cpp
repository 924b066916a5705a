#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <sstream>

#include <assay/error.h>
#include <assay/extend/random.h>
#include "assay/surprise/lsa.h"
#include "tests/surprise/set.h"

namespace assay::surprise {
namespace {

Set make(std::uint64_t seed, std::size_t records, std::size_t dimensions, double offset) {
  Rng rng(seed);
  Set set{dimensions, {}, {}};
  for (std::size_t i = 0; i < records; ++i) {
    set.classes.push_back(static_cast<std::int32_t>(i % 2));
    const double common = rng.normal();
    for (std::size_t d = 0; d < dimensions; ++d)
      set.values.push_back(static_cast<float>(offset + common + rng.normal() * (1 + static_cast<double>(d))));
  }
  return set;
}

// Inverse and log determinant by Gauss-Jordan elimination, for the second writing.
double invert(std::vector<std::vector<double>>& a) {
  const std::size_t n = a.size();
  double log_det = 0;
  std::vector<std::vector<double>> inverse(n, std::vector<double>(n, 0));
  for (std::size_t i = 0; i < n; ++i) inverse[i][i] = 1;
  for (std::size_t i = 0; i < n; ++i) {
    const double pivot = a[i][i];
    log_det += std::log(pivot);
    for (std::size_t j = 0; j < n; ++j) a[i][j] /= pivot, inverse[i][j] /= pivot;
    for (std::size_t r = 0; r < n; ++r) {
      if (r == i) continue;
      const double factor = a[r][i];
      for (std::size_t j = 0; j < n; ++j)
        a[r][j] -= factor * a[i][j], inverse[r][j] -= factor * inverse[i][j];
    }
  }
  a = inverse;
  return log_det;
}

struct PlainGaussian {
  double lsa = 0, mdsa = 0;
};

PlainGaussian plain_gaussian(const Traces& t, const float* x, std::int32_t c) {
  const std::size_t d = t.dimensions;
  std::vector<std::size_t> own;
  for (std::size_t i = 0; i < t.records(); ++i)
    if (t.classes[i] == c) own.push_back(i);
  const double n = static_cast<double>(own.size());
  std::vector<double> mean(d, 0);
  for (const auto r : own)
    for (std::size_t i = 0; i < d; ++i) mean[i] += t.row(r)[i] / n;
  std::vector<std::vector<double>> cov(d, std::vector<double>(d, 0));
  for (const auto r : own)
    for (std::size_t i = 0; i < d; ++i)
      for (std::size_t j = 0; j < d; ++j)
        cov[i][j] += (t.row(r)[i] - mean[i]) * (t.row(r)[j] - mean[j]) / (n - 1);
  const double log_det = invert(cov);
  const auto form = [&](const auto& centre) {
    double sum = 0;
    for (std::size_t i = 0; i < d; ++i)
      for (std::size_t j = 0; j < d; ++j)
        sum += (x[i] - static_cast<double>(centre[i])) * cov[i][j] * (x[j] - static_cast<double>(centre[j]));
    return sum;
  };
  const double h2 = std::pow(n, -2.0 / (static_cast<double>(d) + 4));
  double top = -std::numeric_limits<double>::infinity(), sum = 0;
  for (const auto r : own) top = std::max(top, -form(t.row(r)) / h2 / 2);
  for (const auto r : own) sum += std::exp(-form(t.row(r)) / h2 / 2 - top);
  const double dd = static_cast<double>(d);
  return {-(top + std::log(sum)) + std::log(n) + dd / 2 * std::log(2 * std::numbers::pi) +
              (log_det + dd * std::log(h2)) / 2,
          std::sqrt(form(mean))};
}

TEST(Lsa, TwoRecordsByHand) {
  // {-1, 1}: mean 0, unbiased variance 2, Scott 2^(-1/5), H = 2 * 2^(-2/5) = 2^(3/5); at 0 both terms are
  // exp(-1/(2H)).
  const Set training{1, {-1, 1}, {0, 0}}, test{1, {0}, {0}};
  const double h = std::pow(2, 0.6);
  EXPECT_NEAR(LsaReference(training.view()).score(test.view())[0].value,
              1 / (2 * h) + std::log(2 * std::numbers::pi * h) / 2, 1e-12);
  const Set three{1, {3}, {0}};
  EXPECT_NEAR(MdsaReference(training.view()).score(three.view())[0].value, 3 / std::sqrt(2.0), 1e-12);
}

TEST(Lsa, EqualsTheDefinition) {
  std::uint64_t seed = 0;
  for (const std::size_t d : {1, 2, 5, 17}) {
    for (const double offset : {0.0, 1000.0}) {
      const Set training = make(++seed, 240, d, offset), test = make(++seed, 40, d, offset);
      const LsaReference lsa(training.view());
      const auto scores = lsa.score(test.view(), {2, 16, 50}), other = lsa.score(test.view(), {1, 1, 7});
      const auto distances = MdsaReference(training.view()).score(test.view());
      for (std::size_t i = 0; i < scores.size(); ++i) {
        const PlainGaussian want = plain_gaussian(training.view(), test.view().row(i), test.classes[i]);
        ASSERT_NEAR(scores[i].value, want.lsa, 1e-8 * (1 + std::fabs(want.lsa)));
        ASSERT_NEAR(distances[i].value, want.mdsa, 1e-8 * (1 + want.mdsa));
        ASSERT_EQ(scores[i].value, other[i].value);
      }
    }
  }
}

TEST(Lsa, SingularCovariancesGetAReportedJitter) {
  const Set few = make(1, 12, 20, 0), test = make(2, 4, 20, 0);  // 6 records a class, 20 dimensions
  const LsaReference lsa(few.view());
  EXPECT_GE(lsa.gaussians().classes.at(0).jitter, 1e-10);
  for (const auto& s : lsa.score(test.view())) EXPECT_TRUE(std::isfinite(s.value));
  EXPECT_EQ(LsaReference(few.view(), {1e-5, 3}).gaussians().kept.size(), 3U);
  EXPECT_EQ(LsaReference(few.view(), {1e-5, 3}).gaussians().classes.at(0).jitter, 0);
}

TEST(Lsa, ConstantDimensionsAreDroppedAndEdgeCasesHaveAStatus) {
  const Set training{2, {7, 0, 7, 1, 7, 3, 7, 9}, {0, 0, 0, 1}};
  const LsaReference lsa(training.view());
  EXPECT_EQ(lsa.gaussians().kept, std::vector<std::size_t>{1});
  const Set test{2, {7, 0, 7, 0, 7, 0, std::nanf(""), 0}, {0, 1, 2, 0}};
  const auto s = lsa.score(test.view());
  EXPECT_EQ(s[0].status, SurpriseStatus::ok);
  EXPECT_EQ(s[1].status, SurpriseStatus::too_few_records);
  EXPECT_EQ(s[2].status, SurpriseStatus::no_training);
  EXPECT_EQ(s[2].value, std::numeric_limits<double>::infinity());
  EXPECT_EQ(s[3].status, SurpriseStatus::non_finite);
  const Set constant{1, {4, 4}, {0, 0}};
  EXPECT_THROW(LsaReference{constant.view()}, Error);
}

// Whole numbers, which every power of two leaves exact.
Set whole_numbers(std::uint64_t seed, std::size_t records, std::size_t dimensions, double scale) {
  Rng rng(seed);
  Set set{dimensions, {}, {}};
  for (std::size_t i = 0; i < records; ++i) {
    set.classes.push_back(static_cast<std::int32_t>(i % 2));
    for (std::size_t d = 0; d < dimensions; ++d)
      set.values.push_back(static_cast<float>(static_cast<double>(rng.below(200)) * scale));
  }
  return set;
}

TEST(Lsa, HugeAndDenormalTracesScoreAsTheirScaleSays) {
  constexpr int dimensions = 6;
  const GaussianOptions all{0, 0};
  const Set training = whole_numbers(1, 80, dimensions, 1), test = whole_numbers(2, 20, dimensions, 1);
  const auto scores = LsaReference(training.view(), all).score(test.view());
  const auto distances = MdsaReference(training.view(), all).score(test.view());
  for (const int exponent : {-149, -140, -60, 60, 120}) {  // 2^-149 is the least denormal
    const double scale = std::ldexp(1.0, exponent);
    const Set far = whole_numbers(1, 80, dimensions, scale),
              far_test = whole_numbers(2, 20, dimensions, scale);
    const LsaReference lsa(far.view(), all);
    EXPECT_EQ(lsa.gaussians().classes.at(0).jitter, 0) << exponent;
    const auto far_scores = lsa.score(far_test.view());
    const auto far_distances = MdsaReference(far.view(), all).score(far_test.view());
    for (std::size_t i = 0; i < scores.size(); ++i) {
      EXPECT_NEAR(far_scores[i].value, scores[i].value + dimensions * exponent * std::numbers::ln2, 1e-8)
          << exponent;  // a density has the unit of 1 / volume
      EXPECT_NEAR(far_distances[i].value, distances[i].value, 1e-9) << exponent;
    }
  }
  const Set denormal = whole_numbers(1, 80, dimensions, std::ldexp(1.0, -149));
  EXPECT_THROW(LsaReference{denormal.view()}, Error) << "by default such dimensions count as constant";
}

TEST(Lsa, TheClassWhoseTracesDoNotVaryIsNamed) {
  const Set training{2, {0, 1, 4, 9, 7, 7, 7, 7, 7, 7}, {0, 0, 3, 3, 3}};
  try {
    LsaReference{training.view()};
    FAIL() << "nothing is left";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::data);
    EXPECT_NE(std::string(error.what()).find("2 of them within class 3 (3 records)"), std::string::npos)
        << error.what();
  }
}

TEST(Lsa, ConstantTracesKeptOnPurposeGetJitter) {
  const Set constant{2, {3, 5, 3, 5, 3, 5}, {0, 0, 0}}, test{2, {3, 5, 3, 6}, {0, 0}};
  const LsaReference lsa(constant.view(), {0, 0});
  EXPECT_EQ(lsa.gaussians().classes.at(0).jitter, 1e-10);
  const auto scores = lsa.score(test.view());
  EXPECT_TRUE(std::isfinite(scores[0].value));
  EXPECT_GT(scores[1].value, scores[0].value + 1e8);
}

TEST(Lsa, TheOrderOfRecordsDoesNotMatter) {
  const Set training = make(7, 120, 8, 0), test = make(8, 50, 8, 0);
  Set reversed{8, {}, {}};
  for (std::size_t i = test.classes.size(); i-- > 0;) {
    reversed.classes.push_back(test.classes[i]);
    reversed.values.insert(reversed.values.end(), test.view().row(i), test.view().row(i) + 8);
  }
  const LsaReference lsa(training.view());
  const MdsaReference mdsa(training.view());
  const auto a = lsa.score(test.view()), b = lsa.score(reversed.view());
  const auto c = mdsa.score(test.view()), d = mdsa.score(reversed.view());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].value, b[a.size() - 1 - i].value);
    EXPECT_EQ(c[i].value, d[c.size() - 1 - i].value);
  }
}

TEST(Lsa, WideTracesEqualTheDefinition) {
  const Set training = make(11, 400, 90, 0), test = make(12, 6, 90, 0);  // more than one block of columns
  const auto scores = LsaReference(training.view()).score(test.view());
  const auto distances = MdsaReference(training.view()).score(test.view());
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const PlainGaussian want = plain_gaussian(training.view(), test.view().row(i), test.classes[i]);
    EXPECT_NEAR(scores[i].value, want.lsa, 1e-7 * (1 + std::fabs(want.lsa)));
    EXPECT_NEAR(distances[i].value, want.mdsa, 1e-7 * (1 + want.mdsa));
  }
}

TEST(Mdsa, SavedAndLoadedScoresTheSameAndDamageIsRefused) {
  const Set training = make(5, 40, 3, 0), test = make(6, 20, 3, 0);
  const MdsaReference mdsa(training.view());
  std::stringstream stream;
  mdsa.save(stream);
  const std::string bytes = stream.str();
  const auto expected = mdsa.score(test.view()), found = MdsaReference::load(stream).score(test.view());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(found[i].value, expected[i].value);
  for (std::size_t length = 0; length < bytes.size(); length += 3) {
    std::istringstream cut(bytes.substr(0, length));
    EXPECT_THROW(MdsaReference::load(cut), Error) << length;
  }
  std::istringstream other(bytes);
  EXPECT_THROW(LsaReference::load(other), Error);
}

TEST(Lsa, SavedAndLoadedScoresTheSameAndDamageIsRefused) {
  const Set training = make(5, 40, 3, 0), test = make(6, 20, 3, 0);
  const LsaReference lsa(training.view());
  std::stringstream stream;
  lsa.save(stream);
  const std::string bytes = stream.str();
  const LsaReference loaded = LsaReference::load(stream);
  for (std::size_t i = 0; i < 20; ++i)
    EXPECT_EQ(lsa.score(test.view())[i].value, loaded.score(test.view())[i].value);
  for (std::size_t length = 0; length < bytes.size(); length += 7) {
    std::istringstream cut(bytes.substr(0, length));
    EXPECT_THROW(LsaReference::load(cut), Error) << length;
  }
  std::stringstream other;
  other << bytes;
  EXPECT_THROW(MdsaReference::load(other), Error);
}

}  // namespace
}  // namespace assay::surprise

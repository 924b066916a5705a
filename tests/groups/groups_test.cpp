#include <assay/groups.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include <cmath>

#include <assay/error.h>
#include <assay/records.h>
#include "assay/support/numbers/discoveries.h"
#include "assay/support/numbers/distributions.h"

namespace assay::groups {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

DatasetPtr records(std::size_t count, std::vector<Characteristic> characteristics) {
  return characterised(
      from_arrays(Array::of<float>({static_cast<std::int64_t>(count), 1}, std::vector<float>(count, 0))),
      std::move(characteristics));
}

std::vector<std::string> names_of(const std::vector<Group>& groups) {
  std::vector<std::string> names;
  for (const Group& group : groups) names.push_back(group.name());
  return names;
}

TEST(Groups, AreTheValuesOfEachCharacteristicAndTheirPairs) {
  const auto data = records(4, {{"weather", {"fog", "sun", "fog", ""}}, {"sex", {"f", "m", "f", "m"}}});
  const std::vector<Group> groups = groups_of(*data);
  EXPECT_THAT(names_of(groups),
              ElementsAre("weather=fog", "weather=sun", "weather=(missing)", "sex=f", "sex=m",
                          "weather=fog,sex=f", "weather=sun,sex=m", "weather=(missing),sex=m"));
  EXPECT_THAT(groups[0].records, ElementsAre(0, 2));
  EXPECT_THAT(groups[5].records, ElementsAre(0, 2));
}

TEST(Groups, RangesAreInTheOrderOfTheirNumbers) {
  const auto data = records(5, {{"age:0|18|65", {"70", "20", "-1", "5", "18"}}});
  EXPECT_THAT(names_of(groups_of(*data)),
              ElementsAre("age=below 0", "age=0 to 18", "age=18 to 65", "age=65 and above"));
}

TEST(Groups, QuartilesAreThoseOfNumPy) {
  // numpy.quantile([1, 2, 3, 4, 5, 6], [.25, .5, .75]) = 2.25, 3.5, 4.75
  const auto data = records(6, {{"size:quartiles", {"1", "2", "3", "4", "5", "6"}}});
  EXPECT_EQ(data->characteristic(0, 1), "below 2.25");
  EXPECT_EQ(data->characteristic(0, 2), "2.25 to 3.5");
  EXPECT_EQ(data->characteristic(0, 5), "4.75 and above");
}

TEST(Groups, ManyValuesAreInOneGroupEach) {
  std::vector<std::string> articles;
  for (int i = 0; i < 140; ++i) articles.push_back("article " + std::to_string(i % 70));
  articles.push_back("");
  const auto data = records(141, {{"article:groups", articles}});
  std::set<std::string> groups;
  for (std::size_t i = 0; i < 140; ++i) groups.insert(std::string(data->characteristic(0, i)));
  EXPECT_GT(groups.size(), 30);
  EXPECT_LE(groups.size(), 63);                                          // and the missing value
  EXPECT_EQ(data->characteristic(0, 69), data->characteristic(0, 139));  // the same article
  EXPECT_EQ(data->characteristic(0, 140), "");                           // not known
  const auto others = records(2, {{"article:groups", {"article 69", "article 0"}}});
  EXPECT_EQ(others->characteristic(0, 0), data->characteristic(0, 69));
  EXPECT_EQ(others->characteristic(0, 1), data->characteristic(0, 0));
}

TEST(Groups, ACharacteristicWithOneValueMakesNone) {
  const auto data = records(2, {{"weather", {"fog", "fog"}}});
  EXPECT_TRUE(groups_of(*data).empty());
  EXPECT_THAT(constant_characteristics(*data), ElementsAre("weather"));
}

TEST(Groups, ValuesThatGatesCouldNotReadAreInQuotes) {
  const auto data = records(2, {{"weather", {"fog, dense", "sun"}}});
  EXPECT_EQ(groups_of(*data)[0].name(), "weather=\"fog, dense\"");
}

std::string refusal(std::size_t count, Characteristic characteristic) {
  try {
    records(count, {std::move(characteristic)});
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Groups, WhatIsNoCharacteristicIsRefusedWithItsRemedy) {
  std::vector<std::string> many;
  for (int i = 0; i < 65; ++i) many.push_back(std::to_string(i));
  EXPECT_THAT(refusal(65, {"age", many}), HasSubstr("65 different values"));
  EXPECT_THAT(refusal(65, {"age", many}), HasSubstr("age:quartiles"));
  EXPECT_EQ(refusal(65, {"age:10|20", many}), "");
  std::vector<std::string> articles;
  for (const std::string& number : many) articles.push_back("article " + number);
  EXPECT_THAT(refusal(65, {"article", articles}), HasSubstr("article:groups"));
  EXPECT_THAT(refusal(1, {"layer", {"x"}}), HasSubstr("another name"));
  EXPECT_THAT(refusal(1, {"a,b", {"x"}}), HasSubstr("cannot name a characteristic"));
  EXPECT_THAT(refusal(2, {"age", {"1"}}), HasSubstr("1 values for 2 records"));
  EXPECT_THAT(refusal(1, {"age:1|0", {"1"}}), HasSubstr("ascending numbers"));
  EXPECT_THAT(refusal(1, {"age:0|1", {"old"}}), HasSubstr("'old'"));
}

TEST(Groups, ViewsKeepCharacteristics) {
  const auto data = records(3, {{"weather", {"fog", "sun", "rain"}}});
  EXPECT_EQ(selected(data, {2, 0})->characteristic(0, 0), "rain");
  EXPECT_EQ(relabelled(data, {0, 1, 0})->characteristic(0, 1), "sun");
  const auto both = joined({data, records(1, {{"sex", {"f"}}, {"weather", {"snow"}}})});
  EXPECT_EQ(both->characteristic(0, 3), "snow");
  EXPECT_EQ(joined({data, records(1, {{"sex", {"f"}}})})->characteristic(0, 3), "");
  EXPECT_EQ(data->hash(), records(3, {{"weather", {"a", "b", "c"}}})->hash());
}

TEST(Comparison, OfSharesIsByWilsonAndFisher) {
  // 3 of 4 in one group, 1 of 6 outside: scipy.stats.fisher_exact([[3, 1], [1, 5]]).pvalue = 0.19047619...
  const std::vector<Group> groups = {{{{"g", "a"}}, {0, 1, 2, 3}}, {{{"g", "b"}}, {4, 5, 6, 7, 8, 9}}};
  std::vector<Outcome> outcomes(10);
  for (const std::size_t right : {0, 1, 2, 4}) outcomes[right].value = 1;
  const auto figures = compared(groups, outcomes, Scale::share);
  EXPECT_DOUBLE_EQ(*figures[0].value, 0.75);
  EXPECT_DOUBLE_EQ(*figures[0].rest, 1.0 / 6);
  // Wilson: (p + z^2/2n -+ z sqrt(p q / n + z^2 / 4 n^2)) / (1 + z^2/n), z = 1.959964.
  EXPECT_NEAR(figures[0].interval->first, 0.300642, 1e-6);
  EXPECT_NEAR(figures[0].interval->second, 0.954413, 1e-6);
  EXPECT_NEAR(*figures[0].p, 0.190476190476, 1e-9);
  EXPECT_NEAR(*figures[0].adjusted, 2 * 0.190476190476, 1e-9);
}

TEST(Comparison, OfMeansIsByStudentAndWelch) {
  // [1, 2, 3, 4] and [10, 11, 15]: scipy.stats.ttest_ind(..., equal_var=False).pvalue.
  const std::vector<Group> groups = {{{{"g", "a"}}, {0, 1, 2, 3}}};
  std::vector<Outcome> outcomes;
  for (const double value : {1, 2, 3, 4, 10, 11, 15}) outcomes.push_back({value});
  const auto figures = compared(groups, outcomes, Scale::mean);
  EXPECT_DOUBLE_EQ(*figures[0].value, 2.5);
  const double half = 3.182446305 * std::sqrt(5.0 / 3 / 4);  // t of 3 degrees of freedom
  EXPECT_NEAR(figures[0].interval->first, 2.5 - half, 1e-6);
  EXPECT_NEAR(figures[0].interval->second, 2.5 + half, 1e-6);
  const double of_a = 5.0 / 3 / 4, of_b = 7.0 / 3;
  const double degrees = (of_a + of_b) * (of_a + of_b) / (of_a * of_a / 3 + of_b * of_b / 2);
  EXPECT_NEAR(*figures[0].p, student_two_sided(9.5 / std::sqrt(of_a + of_b), degrees), 1e-12);
}

TEST(Comparison, RecordsWithoutWeightDoNotCount) {
  const std::vector<Group> groups = {{{{"g", "a"}}, {0, 1}}};
  const std::vector<Outcome> outcomes = {{1, 1}, {0, 0}, {1, 1}};
  const auto figures = compared(groups, outcomes, Scale::share);
  EXPECT_EQ(figures[0].records, 1U);
  EXPECT_DOUBLE_EQ(*figures[0].value, 1);
}

TEST(Holm, StepsDown) {
  // R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm") = 0.03, 0.06, 0.06, 0.02
  EXPECT_THAT(holm(std::vector<double>{0.01, 0.04, 0.03, 0.005}),
              ElementsAre(testing::DoubleNear(0.03, 1e-12), testing::DoubleNear(0.06, 1e-12),
                          testing::DoubleNear(0.06, 1e-12), testing::DoubleNear(0.02, 1e-12)));
}

TEST(Distribution, ComparesSharesAndNamesWhatIsAbsent) {
  const auto here = records(4, {{"weather", {"sun", "sun", "sun", "rain"}}, {"sex", {"f", "f", "f", "f"}}});
  const auto there = records(4, {{"weather", {"sun", "rain", "fog", "fog"}}, {"sex", {"f", "m", "f", "f"}}});
  const Distribution found = distribution_of(*here, *there);
  // |3/4 - 1/4| + |1/4 - 1/4| + |0 - 2/4|, halved.
  EXPECT_DOUBLE_EQ(found.shifts[0].distance, 0.5);
  EXPECT_THAT(found.absent, ElementsAre("weather=fog", "sex=m"));
}

}  // namespace
}  // namespace assay::groups

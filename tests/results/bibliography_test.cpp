#include "assay/results/bibliography.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include <assay/error.h>
#include <assay/extend/criteria.h>

namespace assay::results {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> keys_named(std::string_view text) {
  std::vector<std::string> keys;
  for (const Paper* paper : papers_named(text)) keys.emplace_back(paper->key);
  return keys;
}

TEST(Bibliography, ATextNamesPapersByAuthorAndPlaceTogether) {
  EXPECT_EQ(keys_named("Pei et al., DeepXplore, SOSP 2017; threshold 0.75 as in Gerasimou et al., ICSE 2020"),
            (std::vector<std::string>{"pei2017deepxplore", "gerasimou2020importance"}));
  EXPECT_EQ(keys_named("Kim, Feldt and Yoo, ICSE 2019"), (std::vector<std::string>{"kim2019surprise"}));
  EXPECT_TRUE(keys_named("Pei et al., ICSE 2020").empty());
  EXPECT_TRUE(keys_named("none").empty());
}

// What stands between the outer braces of an entry has each brace closed, and begins with the key.
TEST(Bibliography, EveryEntryIsWellFormed) {
  std::set<std::string_view> keys;
  for (const coverage::CriterionInfo& info : coverage::criteria()) {
    for (const Paper* paper : papers_named(info.paper)) {
      EXPECT_EQ(paper->entry.substr(0, 1), "@");
      EXPECT_EQ(paper->entry.find("{" + std::string(paper->key) + ",\n"), paper->entry.find('{'));
      EXPECT_EQ(std::ranges::count(paper->entry, '{'), std::ranges::count(paper->entry, '}')) << paper->key;
      keys.insert(paper->key);
    }
  }
  EXPECT_GE(keys.size(), 8U);
}

TEST(Bibliography, EveryCriterionHasAPaperOrSaysThatItHasNone) {
  for (const coverage::CriterionInfo& info : coverage::criteria()) {
    if (info.paper.starts_with("none")) continue;
    EXPECT_FALSE(papers_named(info.paper).empty()) << info.name << ": " << info.paper;
  }
}

TEST(Bibliography, AllCriteriaAreListedOnceUnderEachPaper) {
  const report::Document all = cite_criteria("");
  ASSERT_EQ(all.tables.size(), 1U);
  std::size_t listed = 0;
  for (const auto& row : all.tables[0].rows) {
    const auto& names = std::get<std::string>(row[1]);
    listed += static_cast<std::size_t>(std::ranges::count(names, ',')) + 1;
  }
  std::size_t named = 0;
  for (const coverage::CriterionInfo& info : coverage::criteria()) named += papers_named(info.paper).size();
  EXPECT_EQ(listed, named);
}

TEST(Bibliography, OneCriterionHasItsOwnPapersAlone) {
  const std::string text = to_bibtex(cite_criteria("kmnc"));
  EXPECT_THAT(text, HasSubstr("% kmnc\n@inproceedings{ma2018deepgauge,\n"));
  EXPECT_THAT(text, Not(HasSubstr("pei2017")));
}

TEST(Bibliography, WhereThereIsNoPaperTheTextSaysSo) {
  const report::Document none = cite_criteria("qnc");
  EXPECT_TRUE(none.tables.at(0).rows.empty());
  EXPECT_EQ(to_bibtex(none).find("% no entry for qnc: none"), 0U);
}

TEST(Bibliography, ANameThatThereIsNotIsRefused) { EXPECT_THROW(cite_criteria("kmnk"), Error); }

}  // namespace
}  // namespace assay::results

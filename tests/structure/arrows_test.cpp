// Folders stand on each other in one direction, the one that docs/architecture.md says.

#include "tests/structure/arrows.h"

#include <gmock/gmock.h>

#include "assay/support/files/file.h"

namespace assay::structure {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<Source> sources() { return sources_below({"assay", "apps", "include"}); }

std::vector<Row> rows() {
  return table_of(read_file(std::string(ASSAY_SOURCE_DIR) + "/docs/architecture.md"));
}

const std::vector<Source> small{
    {"assay/low/a.cpp", "#include <map>\n#include \"assay/low/a.h\"\n"},
    {"assay/high/deep/b.cpp", "#include \"assay/low/a.h\"\n"},
    {"apps/one/a.cpp", "#include \"assay/high/b.h\"\n#include \"apps/one/b.h\"\n"},
};

TEST(Arrows, AreReadFromTheIncludes) {
  EXPECT_EQ(arrows_of(small), (Arrows{{"low", {}}, {"high", {"low"}}, {"apps/one", {"high"}}}));
  std::vector<Source> two = small;
  two.push_back({"apps/two/c.cpp", "#include \"apps/one/b.h\"\n"});
  EXPECT_EQ(arrows_of(two).at("apps/two"), std::set<std::string>{"apps/one"});
}

TEST(Arrows, APublicHeaderBelongsToTheFolderThatMakesIt) {
  std::vector<Source> all = small;
  all.push_back({"include/assay/high.h", "#include \"assay/a.h\"\n#include \"assay/word.h\"\n"});
  all.push_back({"include/assay/a.h", ""});
  all.push_back({"include/assay/word.h", ""});
  all[0].text = "#include \"assay/high.h\"\n";
  EXPECT_EQ(arrows_of(all), (Arrows{{"low", {"high"}}, {"high", {"low"}}, {"apps/one", {"high"}}}));
  all[0].text = "#include \"assay/extend/high.h\"\n";
  all.push_back({"include/assay/extend/high.h", ""});
  EXPECT_EQ(arrows_of(all).at("low"), std::set<std::string>{"high"});
  all[0].text = "#include \"assay/word.h\"\n";
  EXPECT_EQ(arrows_of(all).at("low"), std::set<std::string>());
}

TEST(Arrows, DisagreementsAreSaid) {
  const std::string page =
      "# Page\n\n| folder | may include |\n|---|---|\n| `low` | |\n| `high` | `low` |\n| `apps/one` | `high` "
      "|\n\n| x | y |\n";
  const std::vector<Row> good = table_of(page);
  ASSERT_EQ(good.size(), 3U);
  EXPECT_THAT(disagreements(arrows_of(small), good), IsEmpty());
  std::vector<Row> without_arrow = good;
  without_arrow[2].may_include.insert("low");
  EXPECT_THAT(disagreements(arrows_of(small), without_arrow),
              ElementsAre("apps/one includes \"high\", its row says \"high, low\""));
  EXPECT_THAT(disagreements(arrows_of(small), {good[1], good[0], good[2]}),
              ElementsAre("high -> low: the table has no low above high"));
  EXPECT_THAT(disagreements(arrows_of(small), {good[0], good[1]}),
              ElementsAre("apps/one has no row; it includes \"high\""));
  Arrows circle = arrows_of(small);
  circle["low"].insert("high");
  EXPECT_THAT(disagreements(circle, good), ElementsAre("low includes \"high\", its row says \"\""));
}

TEST(Arrows, AreThoseOfTheTable) {
  ASSERT_FALSE(rows().empty()) << "docs/architecture.md has no table \"folder | may include\"";
  EXPECT_THAT(disagreements(arrows_of(sources()), rows()), IsEmpty());
}

TEST(PublicHeaders, AnInternalIncludeIsFound) {
  EXPECT_THAT(
      internal_includes(
          {{"include/assay/a.h",
            "#include \"assay/b.h\"\n#include \"assay/extend/d.h\"\n#include \"assay/model/c.h\"\n"}}),
      ElementsAre("include/assay/a.h includes assay/model/c.h"));
}

TEST(PublicHeaders, IncludeOnlyPublicHeaders) {
  const std::vector<Source> headers = sources_below({"include"});
  if (headers.empty()) GTEST_SKIP() << "there is no include/";
  EXPECT_THAT(internal_includes(headers), IsEmpty());
}

}  // namespace
}  // namespace assay::structure

// Folders stand on each other in one direction, the one that docs/architecture.md says.

#include "tests/structure/arrows.h"

#include <gmock/gmock.h>

#include "assay/support/files/file.h"

namespace assay::structure {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<Source> sources() { return sources_below({"assay", "apps", "include"}); }

std::string page() { return read_file(std::string(ASSAY_SOURCE_DIR) + "/docs/architecture.md"); }

const std::vector<Source> small{
    {"assay/low/a.cpp", "#include <map>\n#include \"assay/low/a.h\"\n"},
    {"assay/high/deep/b.cpp", "#include \"assay/low/a.h\"\n"},
    {"apps/one/a.cpp", "#include \"assay/high/b.h\"\n#include \"apps/one/b.h\"\n"},
};

TEST(Arrows, AreReadFromTheIncludes) {
  EXPECT_EQ(arrows_of(small, {}), (Arrows{{"low", {}}, {"high", {"low"}}, {"apps/one", {"high"}}}));
  std::vector<Source> two = small;
  two.push_back({"apps/two/c.cpp", "#include \"apps/one/b.h\"\n"});
  EXPECT_EQ(arrows_of(two, {}).at("apps/two"), std::set<std::string>{"apps/one"});
}

TEST(Arrows, APublicHeaderBelongsToItsOwner) {
  const Owners owners{{"a.h", "high"}, {"extend/word.h", "low"}};
  std::vector<Source> all = small;
  all.push_back({"include/assay/a.h", "#include \"assay/extend/word.h\"\n"});
  all.push_back({"include/assay/extend/word.h", ""});
  all[0].text = "#include <assay/a.h>\n";
  EXPECT_EQ(arrows_of(all, owners), (Arrows{{"low", {"high"}}, {"high", {"low"}}, {"apps/one", {"high"}}}));
  EXPECT_THAT(ownership_faults(all, owners), IsEmpty());
  all.push_back({"include/assay/new.h", ""});
  EXPECT_THAT(ownership_faults(all, {{"a.h", "high"}, {"extend/word.h", "lwo"}, {"gone.h", "low"}}),
              ElementsAre("<assay/new.h> has no row that says from where it is",
                          "<assay/extend/word.h> is from lwo, which has no sources",
                          "<assay/gone.h> has a row and does not exist"));
}

TEST(Arrows, OwnersAreReadFromThePage) {
  EXPECT_EQ(owners_of("| header | what for | from |\n|---|---|---|\n| `a.h`, `b.h` | x | `low` |\n\n"
                      "| header in `extend/` | what for | from |\n|---|---|---|\n| `c.h` | y | `high` |\n"),
            (Owners{{"a.h", "low"}, {"b.h", "low"}, {"extend/c.h", "high"}}));
}

TEST(Arrows, DisagreementsAreSaid) {
  const std::string page =
      "# Page\n\n| folder | may include |\n|---|---|\n| `low` | |\n| `high` | `low` |\n| `apps/one` | `high` "
      "|\n\n| x | y |\n";
  const std::vector<Row> good = table_of(page, "folder");
  ASSERT_EQ(good.size(), 3U);
  EXPECT_THAT(disagreements(arrows_of(small, {}), good), IsEmpty());
  std::vector<Row> without_arrow = good;
  without_arrow[2].may_include.insert("low");
  EXPECT_THAT(disagreements(arrows_of(small, {}), without_arrow),
              ElementsAre("apps/one includes \"high\", its row says \"high, low\""));
  EXPECT_THAT(disagreements(arrows_of(small, {}), {good[1], good[0], good[2]}),
              ElementsAre("high -> low: the table has no low above high"));
  EXPECT_THAT(disagreements(arrows_of(small, {}), {good[0], good[1]}),
              ElementsAre("apps/one has no row; it includes \"high\""));
  Arrows circle = arrows_of(small, {});
  circle["low"].insert("high");
  EXPECT_THAT(disagreements(circle, good), ElementsAre("low includes \"high\", its row says \"\""));
}

TEST(Arrows, AreThoseOfTheTable) {
  const std::vector<Row> rows = table_of(page(), "folder");
  const Owners owners = owners_of(page());
  ASSERT_FALSE(rows.empty()) << "docs/architecture.md has no table \"folder | may include\"";
  EXPECT_THAT(ownership_faults(sources(), owners), IsEmpty());
  EXPECT_THAT(disagreements(arrows_of(sources(), owners), rows), IsEmpty());
}

TEST(InnerArrows, AreReadFromTheIncludes) {
  const std::vector<Source> inner{
      {"assay/low/deep/a.cpp", "#include \"assay/low/a.h\"\n#include \"assay/low/other/b.h\"\n"},
      {"assay/low/a.cpp", "#include \"assay/low/deep/a.h\"\n"},
      {"assay/low/other/x/c.cpp", "#include \"assay/low/other/y/c.h\"\n#include \"assay/high/deep/b.h\"\n"},
  };
  EXPECT_EQ(inner_arrows_of(inner), (Arrows{{"low/deep", {"low/other"}},
                                            {"low/other", {}},
                                            {"low/other/x", {"low/other/y"}},
                                            {"low/other/y", {}}}));
}

TEST(InnerArrows, AreThoseOfTheTable) {
  const std::vector<Row> rows = table_of(page(), "folder inside a folder");
  ASSERT_FALSE(rows.empty()) << "docs/architecture.md has no table \"folder inside a folder | may include\"";
  EXPECT_THAT(disagreements(inner_arrows_of(sources()), rows), IsEmpty());
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

bool is_of_libtorch(const std::string& include) {
  return include.starts_with("ATen/") || include.starts_with("torch/") || include.starts_with("c10/");
}

// The program is built and starts without it; what both know is assay/engine/torch/module.h.
TEST(Libtorch, IsKnownToItsModuleAlone) {
  const std::string module = "assay/engine/torch/module/";
  std::size_t includes = 0;
  for (const Source& source : sources_below({"assay", "apps", "include", "python", "tests", "benchmarks"})) {
    for (const std::string& include : includes_of(source.text)) {
      const bool inside = source.path.starts_with(module);
      includes += inside && is_of_libtorch(include) ? 1 : 0;
      EXPECT_TRUE(inside || !is_of_libtorch(include)) << source.path << " includes " << include;
      const bool own = include.starts_with("assay/") && !include.starts_with("assay/engine/torch/");
      EXPECT_FALSE(inside && own) << source.path << " includes " << include;
    }
  }
  EXPECT_GT(includes, 0U);
}

}  // namespace
}  // namespace assay::structure

// Two definitions of one name linked into one program are undefined behaviour that no compiler reports.

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <map>
#include <set>

#include "tests/structure/cpp_source.h"

namespace assay::structure {
namespace {

// Sentences, one for every name that several files define.
std::vector<std::string> defined_twice(const std::vector<Source>& sources) {
  std::map<std::string, std::set<std::string>> files;
  for (const Source& source : sources)
    for (const std::string& name : types_defined_in(source.text)) files[name].insert(source.path);
  std::vector<std::string> found;
  for (const auto& [name, paths] : files)
    if (paths.size() > 1)
      found.push_back(fmt::format("{} is defined in {}", name, fmt::join(paths, " and ")));
  return found;
}

TEST(Types, ATypeDefinedInTwoFilesIsFound) {
  const std::string one = "namespace a { struct Info { int x; }; }", two = "namespace a { class Info {}; }";
  EXPECT_THAT(defined_twice({{"one.h", one}, {"two.h", two}}),
              testing::ElementsAre("a::Info is defined in one.h and two.h"));
  EXPECT_THAT(defined_twice({{"one.h", one}, {"two.h", "namespace b { struct Info {}; }"}}),
              testing::IsEmpty());
}

TEST(Types, AreDefinedInOneFile) {
  const std::vector<Source> sources = sources_below({"assay", "apps", "include"});
  ASSERT_FALSE(sources.empty());
  std::size_t types = 0;
  for (const Source& source : sources) types += types_defined_in(source.text).size();
  EXPECT_GT(types, 100U) << "the reader finds hardly any";
  EXPECT_THAT(defined_twice(sources), testing::IsEmpty());
}

}  // namespace
}  // namespace assay::structure

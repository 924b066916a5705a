// What commands look for is what docs/warnings.md says.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "assay/report/warning_kinds.h"
#include "assay/support/files/file.h"

namespace assay::report {
namespace {

// Commands by id, of rows "| `overlap` | ... | cover |"; none: all that run a network.
std::map<std::string, std::set<std::string>> documented() {
  std::istringstream page(read_file(std::string(ASSAY_SOURCE_DIR) + "/docs/warnings.md"));
  const std::regex row(R"(\| (`[^|]*`) \| .* \| ([^|]*) \|)"), name("[a-z]+(-[a-z]+)*");
  std::map<std::string, std::set<std::string>> found;
  const auto names_in = [&](const std::string& text) {
    return std::set<std::string>(std::sregex_token_iterator(text.begin(), text.end(), name),
                                 std::sregex_token_iterator());
  };
  std::smatch parts;
  for (std::string line; std::getline(page, line);) {
    if (!std::regex_match(line, parts, row)) continue;
    const std::string by = parts[2].str();
    for (const std::string& id : names_in(parts[1].str()))
      found[id] = by.starts_with("every command") ? std::set<std::string>() : names_in(by);
  }
  return found;
}

TEST(WarningKinds, AreThoseOfThePageOnWarnings) {
  std::map<std::string, std::set<std::string>> known;
  for (const WarningKind& kind : warning_kinds()) {
    EXPECT_TRUE(known.emplace(kind.id, std::set(kind.looked_for_by.begin(), kind.looked_for_by.end())).second)
        << kind.id << " occurs twice";
    EXPECT_FALSE(kind.found_when.empty()) << kind.id;
  }
  ASSERT_GT(known.size(), 20U);
  EXPECT_EQ(known, documented());
}

TEST(WarningKinds, AreLookedForByTheirCommands) {
  WarningKind any{"records-interact", "", {}}, one{"overlap", "", {"cover"}};
  EXPECT_TRUE(looks_for("mutate", any));
  EXPECT_FALSE(looks_for("data", any)) << "it runs no network";
  EXPECT_TRUE(looks_for("cover", one));
  EXPECT_FALSE(looks_for("mutate", one));
}

}  // namespace
}  // namespace assay::report

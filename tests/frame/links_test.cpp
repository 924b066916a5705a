#include "apps/frame/links.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "assay/support/files/file.h"

namespace assay::frame {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// Variables of this process, which are as before when this is gone.
class Variables {
 public:
  void set(const std::string& name, const std::optional<std::string>& value) {
    const char* const before = std::getenv(name.c_str());
    before_.try_emplace(name, before == nullptr ? std::nullopt : std::optional<std::string>(before));
    put(name, value);
  }
  ~Variables() {
    for (const auto& [name, value] : before_) put(name, value);
  }

 private:
  static void put(const std::string& name, const std::optional<std::string>& value) {
    if (value)
      ::setenv(name.c_str(), value->c_str(), 1);
    else
      ::unsetenv(name.c_str());
  }
  std::map<std::string, std::optional<std::string>> before_;
};

TEST(Links, AreShownOnTerminalsThatHaveThem) {
  Variables variables;
  for (const char* name : {"FORCE_HYPERLINK", "NO_COLOR"}) variables.set(name, std::nullopt);
  variables.set("TERM", "xterm-256color");
  EXPECT_TRUE(links_are_shown(true));
  EXPECT_FALSE(links_are_shown(false));
  variables.set("NO_COLOR", "1");
  EXPECT_FALSE(links_are_shown(true));
  variables.set("NO_COLOR", std::nullopt);
  variables.set("TERM", "dumb");
  EXPECT_FALSE(links_are_shown(true));
  variables.set("FORCE_HYPERLINK", "1");
  EXPECT_TRUE(links_are_shown(false));
  variables.set("TERM", "xterm-256color");
  variables.set("FORCE_HYPERLINK", "0");
  EXPECT_FALSE(links_are_shown(true));
}

TEST(Links, LeadToPagesThatAreThere) {
  const fs::path folder = fs::path(testing::TempDir()) / "assay links";
  fs::create_directories(folder);
  write_file(folder / "page.html", "");
  const fs::path before = fs::current_path();
  fs::current_path(folder);
  const std::string bold = "\033[1m", plain = "\033[0m";
  const std::string text = with_links(bold + "page.html: 2 results" + plain +
                                      ", open page.html. Not: no.html, page.htm, ./page.html");
  fs::current_path(before);
  const std::string begin = "\033]8;;file://", end = "\033]8;;\033\\";
  EXPECT_THAT(text, HasSubstr("assay%20links/page.html\033\\page.html" + end + ": 2 results" + plain));
  EXPECT_THAT(text, HasSubstr("page.html" + end + ". Not: no.html, page.htm, "));
  EXPECT_THAT(text, HasSubstr("assay%20links/page.html\033\\./page.html" + end));
  EXPECT_TRUE(text.starts_with(bold + begin));
  EXPECT_EQ(with_links("no page \033"), "no page \033");
  fs::remove_all(folder);
}

TEST(Links, AnAddressIsThatOfAFileWhateverItsName) {
  EXPECT_EQ(address_of("/a b/../c#d?.html"), "file:///c%23d%3F.html");
  EXPECT_EQ(address_of("x.html"), "file://" + (fs::current_path() / "x.html").string());
}

}  // namespace
}  // namespace assay::frame

// The pages for man(1), and the version.

#include <regex>
#include <sstream>

#include "tests/program/program.h"

namespace assay {
namespace {

class Manual : public Program {
 protected:
  void SetUp() override {
    Program::SetUp();
    ASSERT_EQ(assay("manual pages").code, 0);
    names = subcommands(assay("completion bash").out);
    ASSERT_FALSE(names.empty());
  }
  std::string page(const std::string& name) const { return read_file(folder / "pages" / (name + ".1")); }

  std::vector<std::string> names;
};

// A roff text without its escapes, as it is printed.
std::string printed(std::string text) {
  for (const auto& [escape, plain] :
       {std::pair{"\\-", "-"}, {"\\&", ""}, {"\\fB", ""}, {"\\fI", ""}, {"\\fR", ""}, {"\\e", "\\"}})
    for (std::size_t at = 0; (at = text.find(escape, at)) != std::string::npos;)
      text.replace(at, std::string(escape).size(), plain), at += std::string(plain).size();
  return text;
}

TEST_F(Manual, HasAPageForTheProgramAndEveryCommand) {
  const std::string first = printed(page("assay"));
  for (const std::string& name : names) {
    EXPECT_NE(first.find("assay-" + name + "(1)"), std::string::npos) << name;
    EXPECT_NE(printed(page("assay-" + name)).find("\nassay-" + name + " - "), std::string::npos) << name;
  }
  const auto files = std::distance(std::filesystem::directory_iterator(folder / "pages"), {});
  EXPECT_EQ(static_cast<std::size_t>(files), names.size() + 1);
}

TEST_F(Manual, NamesEveryFlagOfTheHelp) {
  const std::regex flag("\n  (?:-[a-z],)?(--[a-z-]+)");
  for (const std::string& name : names) {
    const std::string help = assay(name + " --help").out, text = printed(page("assay-" + name));
    for (std::sregex_iterator it(help.begin(), help.end(), flag), end; it != end; ++it)
      EXPECT_NE(text.find((*it)[1]), std::string::npos) << name << " " << (*it)[1];
    EXPECT_NE(text.find(".SH EXAMPLES\n"), std::string::npos) << name;
  }
}

// A line that begins with a point or an apostrophe is a request; escapes are the ones that are meant.
TEST_F(Manual, HasNoRequestByMistake) {
  names.insert(names.begin(), "");
  const std::regex request(R"re(\.(TH "[^"]+" 1 "" "[^"]+" "Assay manual"|SH [A-Z ]+|TP|PP|nf|fi|sp))re");
  const std::regex escape(R"(\\[^-&efB]|\\f[^BIR])");
  for (const std::string& name : names) {
    std::istringstream lines(page(name.empty() ? "assay" : "assay-" + name));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_FALSE(line.empty()) << name;
      EXPECT_FALSE(std::regex_search(line, escape)) << line;
      EXPECT_FALSE(line.starts_with("'")) << line;
      if (line.starts_with(".")) {
        EXPECT_TRUE(std::regex_match(line, request)) << line;
      }
    }
  }
}

TEST_F(Manual, IsReadWithoutWarnings) {
  if (std::system("command -v groff >/dev/null") != 0) GTEST_SKIP() << "no groff";
  EXPECT_EQ(
      std::system(("cd '" + folder.string() + "' && groff -ww -man -Tutf8 -z pages/*.1 >log 2>&1").c_str()),
      0);
  EXPECT_EQ(read_file(folder / "log"), "");
}

TEST_F(Manual, IsNoCommandOfTheHelpOrTheCompletion) {
  EXPECT_EQ(assay("--help").out.find("manual"), std::string::npos);
  EXPECT_EQ(assay("completion bash").out.find("manual"), std::string::npos);
}

using Version = Program;

TEST_F(Version, NamesTheCommitAndTheLibraries) {
  const std::string text = assay("--version").out;
  EXPECT_TRUE(std::regex_match(
      text, std::regex(R"(assay \d+\.\d+\.\d+ \(commit ([0-9a-f]{12,}(-modified)?|unknown)\)\n)"
                       R"(protobuf \d[^\n]*\nhdf5 \d[^\n]*\ncompiler \w+ \d[^\n]*\n)")))
      << text;
}

}  // namespace
}  // namespace assay

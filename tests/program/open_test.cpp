// assay open: pages of results, with a browser that only writes down what it is handed.

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <regex>

#include "tests/program/program.h"

namespace assay {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

class Opening : public Program {
 protected:
  void SetUp() override {
    Program::SetUp();
    ASSERT_EQ(assay("evaluate net.onnx images-idx3-ubyte --json result.json --html page.html").code, 0);
    fs::create_directories(folder / "temporary");
  }
  // With a program as the system has it for pages, which ends with `code`.
  Outcome open(const std::string& arguments, int code = 0) const {
    fs::create_directories(folder / "bin");
    for (const char* name : {"xdg-open", "open"}) {
      write_file(folder / "bin" / name,
                 "#!/bin/sh\necho \"$1\" > \"$HANDED\"\nexit " + std::to_string(code) + "\n");
      fs::permissions(folder / "bin" / name, fs::perms::owner_all);
    }
    return shell("HANDED=$PWD/handed PATH=$PWD/bin:$PATH TMPDIR=$PWD/temporary $assay open " + arguments);
  }
  std::string handed() const { return fs::exists(folder / "handed") ? read_file(folder / "handed") : ""; }
  // The file at the address, percent-encoded by no test here.
  static std::string page_at(std::string address) {
    address.erase(address.find_last_not_of('\n') + 1);
    EXPECT_THAT(address, StartsWith("file:///"));
    return address.starts_with("file://") ? read_file(address.substr(7)) : "";
  }
};

TEST_F(Opening, AResultBecomesAPageThatStays) {
  const Outcome opened = open("result.json");
  ASSERT_EQ(opened.code, 0) << opened.err;
  EXPECT_THAT(opened.out, HasSubstr("result.html: handed to the browser"));
  EXPECT_THAT(page_at(handed()), HasSubstr("test_accuracy"));
}

TEST_F(Opening, APageIsOpenedWhereItIs) {
  ASSERT_EQ(open("page.html").code, 0);
  EXPECT_EQ(handed(), "file://" + (fs::canonical(folder) / "page.html").string() + "\n");
  EXPECT_TRUE(fs::is_empty(folder / "temporary"));
}

TEST_F(Opening, OfAPackItIsTheReport) {
  ASSERT_EQ(assay("evidence --model net.onnx --train images-idx3-ubyte --test images-idx3-ubyte --out pack "
                  "--zip pack.zip")
                .code,
            0);
  for (const char* pack : {"pack", "pack.zip"}) {
    const Outcome opened = open(pack);
    ASSERT_EQ(opened.code, 0) << opened.err;
    EXPECT_EQ(page_at(handed()), read_file(folder / "pack/REPORT.html")) << pack;
  }
}

TEST_F(Opening, PrintsTheAddressAlone) {
  const Outcome printed = open("result.json --print");
  ASSERT_EQ(printed.code, 0) << printed.err;
  EXPECT_EQ(handed(), "");
  EXPECT_TRUE(std::regex_match(printed.out, std::regex("file:///.*/temporary/assay-open-\\w+/result.html\n")))
      << printed.out;
  EXPECT_THAT(page_at(printed.out), HasSubstr("test_accuracy"));
}

TEST_F(Opening, WhatCannotBeOpenedIsAnErrorThatNamesThePage) {
  const Outcome refused = open("page.html", 3);
  EXPECT_EQ(refused.code, 7);
  EXPECT_THAT(refused.err, HasSubstr("did not open the page"));
  EXPECT_THAT(refused.err, HasSubstr("page.html"));
  const Outcome without = shell("PATH=$PWD/nothing $assay open page.html");
  EXPECT_EQ(without.code, 7);
  EXPECT_THAT(without.err, HasSubstr("is not in PATH); the page is at file:///"));
}

TEST_F(Opening, WhatIsNoResultIsRefusedAndLeavesNothing) {
  write_file(folder / "words.json", "{}");
  write_file(folder / "broken.zip", "PK");
  fs::create_directories(folder / "empty");
  for (const char* wrong : {"words.json", "broken.zip", "empty", "missing.json", "missing.html", "''"}) {
    const Outcome refused = open(wrong);
    EXPECT_NE(refused.code, 0) << wrong;
    EXPECT_THAT(refused.err, StartsWith("assay: ")) << wrong;
  }
  EXPECT_EQ(handed(), "");
  EXPECT_TRUE(fs::is_empty(folder / "temporary"));
}

}  // namespace
}  // namespace assay

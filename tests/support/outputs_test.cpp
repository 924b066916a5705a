#include "assay/support/files/outputs.h"

#include <gmock/gmock.h>

#include <assay/error.h>
#include "assay/support/files/file.h"

namespace assay {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Outputs : public testing::Test {
 protected:
  Outputs() : folder(fs::path(testing::TempDir()) / "assay_outputs_test") {
    fs::remove_all(folder);
    fs::create_directories(folder);
    write_file(folder / "input.npz", "records");
  }
  ~Outputs() override { fs::remove_all(folder); }

  std::string path(const char* name) const { return (folder / name).string(); }
  std::string refusal(const std::vector<Output>& outputs) const {
    try {
      check_outputs(outputs, {{folder / "input.npz", "--test"}, {folder / "not there", "--train"}});
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  const fs::path folder;
};

TEST_F(Outputs, WhatCanBeWrittenPasses) {
  EXPECT_EQ(refusal({{"--out", path("a.json")},
                     {"--html", ""},
                     {"--made-dir", path("made"), Output::Kind::folder},
                     {"the journal of --out", path("a.journal"), Output::Kind::journal}}),
            "");
  EXPECT_EQ(refusal({{"--out", "/dev/null"}, {"--html", "/dev/null"}}), "");
}

TEST_F(Outputs, InputsStay) {
  EXPECT_THAT(refusal({{"--out", path("input.npz")}}), HasSubstr("which --test reads"));
  fs::create_symlink(folder / "input.npz", folder / "link");
  EXPECT_THAT(refusal({{"--out", path("link")}}), HasSubstr("which --test reads"));
  EXPECT_EQ(refusal({{"--state", path("input.npz"), Output::Kind::file, true}}), "");
}

TEST_F(Outputs, OnePlaceTakesOneOutput) {
  EXPECT_THAT(refusal({{"--out", path("a")}, {"--html", path("../assay_outputs_test/a")}}),
              HasSubstr("--out and --html would both write"));
  EXPECT_NE(refusal({{"--out", folder.string()}}), "");
  EXPECT_NE(refusal({{"the journal", path("input.npz"), Output::Kind::journal}}), "");
}

TEST_F(Outputs, WhatTookLongToMakeIsNotReplacedByAccident) {
  const auto replaced = [&](const char* name, const std::function<bool()>& belongs) {
    try {
      check_replaced(folder / name, "a state", belongs);
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::mismatch);
      return false;
    }
    return true;
  };
  EXPECT_TRUE(replaced("input.npz", [] { return true; }));
  EXPECT_FALSE(replaced("input.npz", [] { return false; }));
  EXPECT_FALSE(replaced("input.npz", []() -> bool { fail(Fault::data, "no such file"); }));
  EXPECT_TRUE(replaced("nothing", [] { return false; }));
  write_file(folder / "empty", "");
  EXPECT_TRUE(replaced("empty", [] { return false; }));
}

}  // namespace
}  // namespace assay

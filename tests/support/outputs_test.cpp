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
  fs::create_hard_link(folder / "input.npz", folder / "hard");
  EXPECT_THAT(refusal({{"--state", path("hard")}}), HasSubstr("which --test reads"));
}

TEST_F(Outputs, InputsStayInFoldersThatAreWritten) {
  const auto into = [&](const fs::path& place, const std::vector<std::string>& members) {
    return refusal({{"--made-dir", place.string(), Output::Kind::folder, members}});
  };
  EXPECT_THAT(into(folder, {"fgsm.npz", "*.npz"}),
              HasSubstr("input.npz, which --test reads; name another folder"));
  EXPECT_EQ(into(folder, {"INPUT.npz"}) == "", !fs::exists(folder / "INPUT.npz"))
      << "where letters are folded";
  EXPECT_EQ(into(folder, {"fgsm.npz", "*.csv"}), "");
  // Through links, from another folder.
  fs::create_directories(folder / "made");
  fs::create_symlink(folder / "input.npz", folder / "made" / "fgsm.npz");
  EXPECT_THAT(into(folder / "made", {"fgsm.npz"}), HasSubstr("which --test reads"));
  fs::create_directory_symlink(folder, folder / "again");
  EXPECT_THAT(into(folder / "again", {"*.npz"}), HasSubstr("which --test reads"));
  // Any file, at any depth.
  fs::create_directories(folder / "pack" / "results");
  fs::create_hard_link(folder / "input.npz", folder / "pack" / "results" / "a.json");
  EXPECT_THAT(into(folder / "pack", {"*"}), HasSubstr("which --test reads"));
  EXPECT_EQ(into(folder / "pack", {"*.json"}), "") << "beside, not below";
}

TEST_F(Outputs, FilesOfFoldersThatAreReadStay) {
  fs::create_directories(folder / "images" / "cat");
  write_file(folder / "images" / "cat" / "1.png", "a picture");
  const auto refused = [&](const std::vector<Output>& outputs) {
    try {
      check_outputs(outputs, {{folder / "images", "--data"}});
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(refused({{"--sheet", path("images/cat/1.png")}}), HasSubstr("which --data reads"));
  EXPECT_THAT(refused({{"--out", path("images/cat"), Output::Kind::folder, {"*.png"}}}),
              HasSubstr("which --data reads"));
  EXPECT_EQ(refused({{"--sheet", path("images/cat/2.png")}}), "") << "nothing is there";
}

TEST_F(Outputs, WeightsThatANetworkNamesStay) {
  write_file(folder / "net.onnx",
             "other.bin \x0a\x08location\x12\x0b"
             "weights.bin");
  write_file(folder / "weights.bin", "weights");
  write_file(folder / "other.bin", "no weights");
  const auto refused = [&](const char* name) {
    try {
      check_outputs({{"--json", path(name)}}, {{folder / "net.onnx", "--model"}});
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(refused("weights.bin"), HasSubstr("which --model reads"));
  EXPECT_EQ(refused("other.bin"), "");
  write_file(folder / "copy.onnx.data", "read");
  EXPECT_THROW(check_outputs({{"--write", path("copy.onnx")}}, {{folder / "copy.onnx.data", "--model"}}),
               Error);
}

TEST_F(Outputs, OnePlaceTakesOneOutput) {
  EXPECT_THAT(refusal({{"--out", path("a")}, {"--html", path("../assay_outputs_test/a")}}),
              HasSubstr("--out and --html would both write"));
  EXPECT_NE(refusal({{"--out", folder.string()}}), "");
  EXPECT_NE(refusal({{"the journal", path("input.npz"), Output::Kind::journal}}), "");
}

TEST_F(Outputs, FoldersAndFilesInThemAreApart) {
  const Output pack{"--out", path("pack"), Output::Kind::folder},
      tables{"--csv", path("pack"), Output::Kind::folder, {"*.csv"}};
  EXPECT_THAT(refusal({pack, {"--zip", path("pack/manifest.json")}}),
              HasSubstr("--out and --zip would both write"));
  EXPECT_THAT(refusal({{"--json", path("pack/results/a.json")}, pack}), HasSubstr("would both write"));
  EXPECT_THAT(refusal({pack, tables}), HasSubstr("would both write"));
  EXPECT_THAT(refusal({pack, {"--csv", path("pack/tables"), Output::Kind::folder, {"*.csv"}}}),
              HasSubstr("would both write"));
  EXPECT_THAT(refusal({tables, {"--scores", path("pack/facts.csv")}}), HasSubstr("would both write"));
  EXPECT_EQ(refusal({tables, {"--json", path("pack/a.json")}}), "");
  EXPECT_EQ(refusal({pack, {"the journal of --out", path("pack/journal"), Output::Kind::journal}}), "");
  EXPECT_EQ(refusal({tables, {"--made-dir", path("pack"), Output::Kind::folder, {"fgsm.npz"}}}), "");
}

TEST_F(Outputs, LettersThatTheFileSystemFoldsMakeOneName) {
  EXPECT_FALSE(are_one_name(folder, "a.json", "b.json"));
  EXPECT_TRUE(are_one_name(folder, "a.json", "a.json"));
  EXPECT_TRUE(are_one_name(folder / "new" / "one", "a.json", "a.json")) << "as in the folder above";
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 1) << "nothing is left";
  const std::vector<Output> outputs{{"--json", path("a.json")}, {"--out", path("A.json")}};
  const auto folds = [](const fs::path&, const std::string&, const std::string&) { return true; };
  EXPECT_THROW(check_outputs(outputs, {}, folds), Error);
  EXPECT_NO_THROW(check_outputs(outputs, {}, [](const auto&...) { return false; }));
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

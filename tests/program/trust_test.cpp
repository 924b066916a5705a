// What an assay.toml may do that was found in the current folder, which may be a stranger's.

#include <gmock/gmock.h>

#include "tests/program/program.h"

namespace assay {
namespace {

using testing::HasSubstr;

class Trust : public Program {
 protected:
  const std::string evaluate = "evaluate --quiet --model net.onnx --data images-idx3-ubyte ";

  // Plug-ins are looked for before anything else: one that is not there tells that it would have been loaded.
  static constexpr int refused = 1, tried_to_load = 7;
  void expect_code(const std::string& command, int code, const std::string& words) const {
    const Outcome outcome = shell(command);
    EXPECT_EQ(outcome.code, code) << command << outcome.out << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(words)) << command;
  }
};

TEST_F(Trust, PlugInsOfAFoundFileNeedIt) {
  for (const char* text : {"plugin = [\"./x.so\"]\n", "[evaluate]\nplugin = \"x.so\"\n"}) {
    write_file(folder / "assay.toml", text);
    expect_code("unset HOME XDG_CONFIG_HOME; $assay " + evaluate, refused, "assay.toml:");
    expect_code("$assay " + evaluate, refused, "--plugin runs code");
    expect_code("$assay " + evaluate + "--trust", tried_to_load, "x.so: no such file");
    expect_code("$assay " + evaluate + "--config assay.toml", tried_to_load, "x.so: no such file");
  }
}

TEST_F(Trust, TheUsersOwnConfigurationGivesIt) {
  write_file(folder / "assay.toml", "plugin = [\"./x.so\"]\n");
  std::filesystem::create_directories(folder / "elsewhere");
  const std::string here = std::filesystem::canonical(folder).string();
  const auto own = [&](const std::string& text) { write_file(folder / "own/assay/config.toml", text); };
  const std::string asked = "XDG_CONFIG_HOME='" + here + "/own' $assay " + evaluate;
  own("trusted = [\"" + here + "\"]\n");
  expect_code(asked, tried_to_load, "x.so: no such file");
  expect_code("XDG_CONFIG_HOME=own $assay " + evaluate, refused, "runs code");
  own("trusted = [\"" + here + "/elsewhere\", \"/\"]\n");
  expect_code(asked, refused, "own/assay/config.toml");
  own("trusted = [\".\"]\n");
  expect_code(asked, refused, "not an absolute path");
  own("plugin = [\"x.so\"]\n");
  expect_code(asked, refused, "'plugin' does not belong there");
  write_file(folder / ".config/assay/config.toml", "trusted = [\"~/\"]\n");
  expect_code("unset XDG_CONFIG_HOME; HOME='" + here + "' $assay " + evaluate, tried_to_load,
              "x.so: no such file");
}

TEST_F(Trust, CommandsThatLookAtTheWorkOfOthersLoadNone) {
  ASSERT_EQ(assay(evaluate + "--json r.json").code, 0);
  ASSERT_EQ(assay("cover --quiet --model net.onnx --train images-idx3-ubyte --test images-idx3-ubyte "
                  "--criterion nc --state s.cov")
                .code,
            0);
  write_file(folder / "assay.toml", "plugin = [\"./x.so\"]\n");
  for (const char* command : {"report r.json", "combine s.cov", "diff s.cov s.cov"}) {
    expect_code(std::string("$assay ") + command + " --quiet", 0, "not loaded by");
    expect_code(std::string("$assay ") + command + " --quiet --trust", 0, "not loaded by");
  }
  expect_code("$assay verify pack --trust", 7, "pack: no such file or folder");
}

TEST_F(Trust, OtherProgramsNeedIt) {
  const std::string mutate =
      "mutate --quiet --model net.onnx --train images-idx3-ubyte --test images-idx3-ubyte "
      "--operator le --count 1 ";
  write_file(folder / "assay.toml", "[mutate]\ntrainer = \"touch owned\"\n");
  expect_code("$assay " + mutate, refused, "--trainer runs code");
  // Through the steps of a study, in the file itself or in what it says of their commands.
  const std::string evidence =
      "$assay evidence --quiet --model net.onnx --train images-idx3-ubyte --test "
      "images-idx3-ubyte --out pack";
  write_file(
      folder / "assay.toml",
      "[mutate]\ntrainer = \"touch owned\"\n[[evidence.step]]\ncommand = \"mutate\"\noperator = \"le\"\n");
  EXPECT_NE(shell(evidence).code, 0);
  write_file(folder / "assay.toml",
             "[[evidence.step]]\ncommand = \"mutate\"\noperator = \"le\"\ntrainer = \"touch owned\"\n");
  expect_code(evidence, refused, "step mutate: --trainer runs code");
  write_file(folder / "assay.toml", "[[evidence.step]]\ncommand = \"evaluate\"\nplugin = \"x.so\"\n");
  expect_code(evidence, refused, "step evaluate: --plugin runs code");
  write_file(folder / "assay.toml", "[[evidence.step]]\ncommand = \"evaluate\"\njson = \"../out.json\"\n");
  expect_code(evidence, refused, "writes ../out.json, which is outside the folder");
  EXPECT_FALSE(std::filesystem::exists(folder / "owned"));
}

TEST_F(Trust, WritingElsewhereNeedsIt) {
  const std::filesystem::path elsewhere = folder.parent_path() / "assay_trust_elsewhere.json";
  std::filesystem::remove(elsewhere);
  std::filesystem::create_symlink("..", folder / "link");
  for (const std::string& path :
       {elsewhere.string(), "../" + elsewhere.filename().string(), "link/" + elsewhere.filename().string()}) {
    write_file(folder / "assay.toml", "json = \"" + path + "\"\n");
    expect_code("$assay " + evaluate, refused, "which is outside the folder");
    EXPECT_FALSE(std::filesystem::exists(elsewhere));
    expect_code("$assay " + evaluate + "--trust", 0, "");
    EXPECT_TRUE(std::filesystem::remove(elsewhere)) << path;
  }
  std::filesystem::create_directories(folder / "sub");
  for (const char* path : {"inside.json", "./sub/inside.json", "/dev/null", "-"}) {
    write_file(folder / "assay.toml", "json = \"" + std::string(path) + "\"\n");
    expect_code("$assay " + evaluate, 0, "");
  }
}

TEST_F(Trust, IsNotGivenByTheFileItself) {
  for (const char* text : {"trust = true\n", "[evaluate]\ntrust = true\n", "config = \"other.toml\"\n",
                           "version = true\n", "V = true\n", "help = true\n", "help-all = true\n"}) {
    write_file(folder / "assay.toml", text);
    expect_code("$assay " + evaluate, refused, "is for the command line only");
  }
}

}  // namespace
}  // namespace assay

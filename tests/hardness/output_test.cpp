// Where writes go: never over inputs, never over each other, through links, into pipes and devices.

#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "tests/program/program.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

class Outputs : public Program {
 protected:
  const std::string evaluate = "evaluate --quiet --model net.onnx --data images-idx3-ubyte ";
  const std::string cover =
      "cover --quiet --model net.onnx --train images-idx3-ubyte --test images-idx3-ubyte --criterion nc ";

  void expect_refused(const std::string& command, const std::string& words, int code = 1) const {
    const Outcome outcome = assay(command);
    EXPECT_EQ(outcome.code, code) << command << outcome.err;
    EXPECT_NE(outcome.err.find(words), std::string::npos) << command << ": " << outcome.err;
  }
};

TEST_F(Outputs, NeverReplaceInputs) {
  const std::string network = read_file(folder / "net.onnx");
  fs::create_symlink("net.onnx", folder / "link.onnx");
  fs::create_hard_link(folder / "net.onnx", folder / "hard.onnx");
  write_file(folder / "labels.csv", "id,label\n");
  for (const char* name : {"net.onnx", "./net.onnx", "link.onnx", "hard.onnx"})
    expect_refused(evaluate + "--json " + name, "--json would overwrite");
  expect_refused("evaluate --quiet --model link.onnx --data images-idx3-ubyte --html net.onnx", "overwrite");
  expect_refused("data images-idx3-ubyte,labels=labels.csv --write labels.csv", "overwrite");
  expect_refused("model net.onnx --write net.onnx", "overwrite");
  write_file(folder / "assay.toml", "quiet = true\n");
  expect_refused(evaluate + "--json assay.toml", "overwrite");
  EXPECT_TRUE(read_file(folder / "net.onnx") == network);
}

TEST_F(Outputs, TwoOfOneNameAreRefused) {
  expect_refused(evaluate + "--json a.json --html ./a.json", "would both write");
  expect_refused(cover + "--state a.cov --json a.cov", "would both write");
  expect_refused(cover + "--state a.cov --json a.cov.journal", "journal");
  EXPECT_EQ(assay(evaluate + "--json /dev/null --html /dev/null").code, 0);
}

TEST_F(Outputs, GoThroughLinksAndKeepPermissions) {
  write_file(folder / "target.json", "old");
  ::chmod((folder / "target.json").c_str(), 0600);
  fs::create_symlink("target.json", folder / "link.json");
  ASSERT_EQ(assay(evaluate + "--json link.json --force").code, 0);
  EXPECT_TRUE(fs::is_symlink(folder / "link.json"));
  EXPECT_TRUE(nlohmann::json::accept(read_file(folder / "target.json")));
  EXPECT_EQ(fs::status(folder / "target.json").permissions(), fs::perms(0600));
}

TEST_F(Outputs, GoIntoPipesAndStandardStreams) {
  const Outcome piped =
      shell("mkfifo pipe && cat pipe >read.json & sleep 0; until [ -p pipe ]; do :; done; $assay " +
            evaluate + "--json pipe >/dev/null && wait");
  EXPECT_EQ(piped.code, 0) << piped.err;
  EXPECT_TRUE(fs::is_fifo(folder / "pipe"));
  EXPECT_TRUE(nlohmann::json::accept(read_file(folder / "read.json")));
  const Outcome out = shell("$assay " + evaluate + "--json /dev/stdout");
  EXPECT_EQ(out.code, 0) << out.err;
  const std::size_t end = out.out.find("\n}\n");
  ASSERT_NE(end, std::string::npos) << out.out;
  EXPECT_TRUE(nlohmann::json::accept(out.out.substr(0, end + 3)));
  EXPECT_NE(out.out.find("90.00 %", end), std::string::npos) << "the tables follow";
}

TEST_F(Outputs, ForeignFilesAndOtherWorkStay) {
  write_file(folder / "s.cov.journal", "my diary");
  expect_refused(cover + "--state s.cov", "not a journal", 5);
  EXPECT_EQ(read_file(folder / "s.cov.journal"), "my diary");
  fs::remove(folder / "s.cov.journal");

  write_file(folder / "thesis", "years of work");
  expect_refused(cover + "--state thesis", "--force", 6);
  expect_refused(cover + "--profile thesis", "--force", 6);
  expect_refused("mutate --quiet --model net.onnx --test images-idx3-ubyte --operator gf --state thesis",
                 "--force", 6);
  EXPECT_EQ(read_file(folder / "thesis"), "years of work");
  EXPECT_EQ(assay(cover + "--state thesis --force").code, 0);

  // Another network's results.
  GraphBuilder build("other");
  const ValueId in = build.input("input", DType::float32, {-1, 1, 4, 4});
  const ValueId flat = build.add("Flatten", "flatten", {in});
  const ValueId hidden = build.add(
      "Relu", "active",
      {build.add("Gemm", "hidden",
                 {flat, build.constant("w", Array::of<float>({16, 2}, std::vector<float>(32, 0.5F)))})});
  build.output(
      build.add("Gemm", "logits",
                {hidden, build.constant("v", Array::of<float>({2, 2}, std::vector<float>{1, 2, 3, 4}))}));
  write_onnx(build.build(), folder / "other.onnx");
  ASSERT_EQ(assay(cover + "--state s.cov --profile s.profile").code, 0);
  const std::string state = read_file(folder / "s.cov"), profile = read_file(folder / "s.profile");
  const std::string other =
      "cover --quiet --model other.onnx --train images-idx3-ubyte --test images-idx3-ubyte --criterion nc ";
  expect_refused(other + "--state s.cov", "--force", 6);
  expect_refused(other + "--profile s.profile", "--force", 6);
  EXPECT_TRUE(read_file(folder / "s.cov") == state && read_file(folder / "s.profile") == profile);
  EXPECT_EQ(assay(other + "--state s.cov --profile s.profile --force").code, 0);
  EXPECT_EQ(assay(other + "--state s.cov").code, 0) << "its own is replaced as ever";
  ASSERT_EQ(
      assay("mutate --quiet --model net.onnx --test images-idx3-ubyte --operator gf --count 2 --state s.mut")
          .code,
      0);
  expect_refused(
      "mutate --quiet --model other.onnx --test images-idx3-ubyte --operator gf --count 2 --state s.mut",
      "--force", 6);
}

TEST_F(Outputs, FilesInsideFoldersAreNoInputs) {
  const std::string attack =
      "cover --quiet --model net.onnx --train images-idx3-ubyte,range=0:1 --criterion nc "
      "--extend-with fgsm --made-dir . --test fgsm.npz,range=0:1";
  ASSERT_EQ(assay("data --quiet images-idx3-ubyte --write fgsm.npz").code, 0);
  const std::string set = read_file(folder / "fgsm.npz");
  expect_refused(attack, "--made-dir would overwrite");
  EXPECT_TRUE(read_file(folder / "fgsm.npz") == set);
  std::string labels = "id,label\n";
  for (int i = 0; i < 200; ++i) labels += std::to_string(i) + ",0\n";
  write_file(folder / "classes.csv", labels);
  fs::create_directories(folder / "tables");
  fs::create_symlink("../classes.csv", folder / "tables" / "classes.csv");
  for (const char* place : {".", "tables"}) {
    expect_refused("evaluate --quiet --model net.onnx --data images-idx3-ubyte,labels=classes.csv --csv " +
                       std::string(place),
                   "--csv would overwrite");
  }
  EXPECT_EQ(read_file(folder / "classes.csv"), labels);
}

// Whether a profile is read or written follows from no other flag that a file can hold.
TEST_F(Outputs, AProfileIsReplacedOnlyWhereThatIsAsked) {
  const std::string data = " --test images-idx3-ubyte ", train = "--train images-idx3-ubyte ",
                    base = "cover --quiet --model net.onnx" + data;
  ASSERT_EQ(assay(base + train + "--criterion 'kmnc[sections=10]' --profile p").code, 0);
  const std::string profile = read_file(folder / "p");
  EXPECT_EQ(assay(base + train + "--criterion 'kmnc[sections=10]' --profile p").code, 0) << "the same again";
  for (const char* otherwise :
       {"--count-layer hidden --criterion nc", "-m 2", "--reduction max --criterion nc"}) {
    expect_refused(base + train + otherwise + " --profile p", "--force", 6);
    EXPECT_TRUE(read_file(folder / "p") == profile) << otherwise;
  }
  write_file(folder / "assay.toml", "[cover]\ntrain = 'images-idx3-ubyte[:50]'\n");
  const Outcome read = assay(base + "--criterion 'kmnc[sections=10]' --profile p --json r.json");
  EXPECT_EQ(read.code, 0) << read.err;
  EXPECT_TRUE(read_file(folder / "p") == profile);
  EXPECT_NE(read.out.find("the profile in p was read"), std::string::npos) << read.out;
  const std::string options = nlohmann::json::parse(read_file(folder / "r.json"))["provenance"]["options"];
  EXPECT_EQ(options.find("--train"), std::string::npos) << options;
  write_file(folder / "assay.toml", "[cover]\ntrain = 'images-idx3-ubyte[:50]'\nprofile = 'p'\n");
  expect_refused(base + "--criterion 'kmnc[sections=10]'", "--force", 6);
  EXPECT_TRUE(read_file(folder / "p") == profile);
  EXPECT_EQ(assay(base + "--criterion 'kmnc[sections=10]' --force").code, 0);
  EXPECT_FALSE(read_file(folder / "p") == profile);
}

TEST_F(Outputs, AreTriedBeforeGatesAndWork) {
  expect_refused(cover + "--fail-under kmnc=0.5", "gate 'kmnc=0.5'");
  expect_refused(
      "mutate --quiet --model net.onnx --test images-idx3-ubyte --operator gf --fail-under kmnc=0.5",
      "no criterion 'kmnc' will be measured");
}

}  // namespace
}  // namespace assay

#include <gmock/gmock.h>

#include "tests/program/program.h"

namespace assay {
namespace {

using Errors = Program;

TEST_F(Errors, WrongUsageSuggestsTheNearestName) {
  const Outcome typo = assay("evalaute --model net.onnx");
  EXPECT_EQ(typo.code, 1);
  EXPECT_NE(typo.err.find("did you mean 'evaluate'"), std::string::npos) << typo.err;
  const Outcome flag = assay("evaluate --modle x");
  EXPECT_EQ(flag.code, 1);
  EXPECT_NE(flag.err.find("did you mean '--model'"), std::string::npos) << flag.err;
  const Outcome records = assay("mutate net.onnx --data images-idx3-ubyte");
  EXPECT_NE(records.err.find("did you mean '--test'"), std::string::npos) << records.err;
  EXPECT_EQ(assay("").code, 1);
}

TEST_F(Errors, MissingArgumentsNameTheFlag) {
  const Outcome result = assay("evaluate --data images-idx3-ubyte");
  EXPECT_EQ(result.code, 1);
  EXPECT_NE(result.err.find("--model"), std::string::npos) << result.err;
}

TEST_F(Errors, NamesOfFilesAreNeverTakenForOptions) {
  const Outcome missing = assay("evaluate 'chosen layer net.onnx' images-idx3-ubyte");
  EXPECT_EQ(missing.code, 7);
  EXPECT_THAT(missing.err, testing::HasSubstr("chosen layer net.onnx: "));
  write_file(folder / "use a smaller learning rate.npz", "junk");
  const Outcome damaged = assay("evaluate net.onnx 'use a smaller learning rate.npz'");
  EXPECT_EQ(damaged.code, 5);
  EXPECT_THAT(damaged.err, testing::HasSubstr("use a smaller learning rate.npz"));
}

TEST_F(Errors, EachKindHasItsExitCodeAndOneMessage) {
  EXPECT_EQ(assay("evaluate --model none.onnx --data images-idx3-ubyte").code, 7);
  write_file(folder / "junk.onnx", "this is not a network");
  EXPECT_EQ(assay("evaluate --model junk.onnx --data images-idx3-ubyte").code, 3);
  const std::string whole = read_file(folder / "images-idx3-ubyte");
  write_file(folder / "short-images-idx3-ubyte", whole.substr(0, whole.size() / 2));
  EXPECT_EQ(assay("evaluate --model net.onnx --data short-images-idx3-ubyte,labels=labels-idx1-ubyte").code,
            5);
  const Outcome off = assay("evaluate --model net.onnx --data images-idx3-ubyte --expect-accuracy 0.99");
  EXPECT_EQ(off.code, 6);
  EXPECT_EQ(off.err.find("assay: "), off.err.rfind("assay: ")) << off.err;
}

TEST_F(Errors, FlagsWithoutEffectAreRefused) {
  const std::string both = " net.onnx images-idx3-ubyte ", learned = both + "--train images-idx3-ubyte ";
  const std::string own = "cover" + learned + "--criterion nc ",
                    surprise = "cover" + learned + "--criterion lsc ";
  for (const auto& [typed, message] : std::vector<std::pair<std::string, std::string>>{
           {own + "-m 8", "--neurons has no effect on nc: -m says how many neurons idc takes"},
           {own + "--layer hidden", "--layer has no effect on nc"},
           {surprise + "--count-layer hidden", "--count-layer has no effect on lsc"},
           {own + "--share 0.5", "--share has no effect on nc: it is for -m auto"},
           {"cover" + learned + "-m 1 --cap 3", "--cap has no effect on idc"},
           {surprise + "--max-k 3", "--max-k has no effect on lsc"},
           {own + "--method gradient", "--method has no effect on nc"},
           {own + "--reached images-idx3-ubyte", "--reached has no effect on nc: it is for aidc"},
           {own + "--top 7", "--top has no effect on nc: it is for combinations of clusters"},
           {"cover" + learned + "--criterion tidc --top 7", "--top has no effect on tidc"},
           {own + "--journal-every 5", "--journal-every has no effect without --state"},
           {own + "--made-dir x", "--made-dir has no effect without --extend-with"},
           {own + "--records 5", "--records has no effect without --json, --html or -v"},
           {own + "--tolerance 0.1", "--tolerance has no effect without --expect-accuracy"},
           {"evaluate" + both + "--elements e.json", "--elements has no effect: this result has no table"},
           {"evaluate" + both + "--tolerance-above 0.1", "--tolerance-above has no effect without"},
           {"attack" + both + "--attack noise --margin 1", "--margin has no effect on classes"},
           {"audit" + learned + "--mutants x --count 3", "--count has no effect with --mutants"},
           {"importance" + both + "--method deeplift --rule hidden=gamma",
            "--rule has no effect on method deeplift"},
           {"importance" + both + "--out x", "--out has no effect without --heatmaps"},
           {"explore net.onnx net.onnx --data images-idx3-ubyte --profile x --profile y --train "
            "images-idx3-ubyte",
            "--train has no effect with --profile"},
           {"inspect" + both + "--hypotheses label --swaps 3", "--swaps has no effect without --verify"},
           {"inspect" + both + "--hypotheses label --time 3", "--time has no effect without a question"},
           {"inspect" + both + "--hypotheses label --journal-every 3",
            "--journal-every has no effect without"},
           {"mutate list" + both + "--margin 3", "--margin has no effect unless mutants are judged"},
           {"mutate list" + both + "--state x", "--state has no effect unless mutants are judged"},
           {"polluted images-idx3-ubyte --findings images-idx3-ubyte --inspect 3",
            "--inspect has no effect without"},
           {"polluted images-idx3-ubyte --findings images-idx3-ubyte --window uniform --window-sigma 3",
            "--window-sigma has no effect on a uniform window"},
           {"retrain net.onnx images-idx3-ubyte --test images-idx3-ubyte --add images-idx3-ubyte --against "
            "none "
            "--evaluate-on none --made-dir x",
            "--made-dir has no effect where no attack"},
           {"select" + both + "--by entropy --criterion nc",
            "--criterion has no effect on a choice by entropy"},
           {"select" + learned + "--by entropy", "--train has no effect on a choice by entropy"},
           {"select" + learned + "--by minimise --layer hidden", "--layer has no effect on kmnc"},
           {"verify x --tolerance 0.5", "--tolerance has no effect without --rerun"}}) {
    const Outcome outcome = assay(typed);
    EXPECT_EQ(outcome.code, 1) << typed;
    EXPECT_THAT(outcome.err, ::testing::HasSubstr(message)) << typed;
  }
}

// What a file says holds for many runs; in one of them it may be idle. Recorded commands name defaults.
TEST_F(Errors, SettingsOfAFileAndDefaultsMayBeIdle) {
  write_file(folder / "assay.toml",
             "tolerance = 0.1\n[cover]\nm = 8\nlayer = \"hidden\"\njournal-every = 5\n[select]\ncriterion = "
             "\"nc\"\n");
  const std::string both = " net.onnx images-idx3-ubyte -q ";
  EXPECT_EQ(assay("cover" + both + "--train images-idx3-ubyte --criterion nc").code, 0);
  EXPECT_EQ(assay("select" + both + "--by entropy").code, 0);
  EXPECT_EQ(assay("evaluate" + both + "--tolerance-above 1").code, 0);
  write_file(folder / "assay.toml", "elements = \"e.json\"\n");
  EXPECT_EQ(assay("evaluate" + both + "--json r.json").code, 0);
  EXPECT_FALSE(std::filesystem::exists(folder / "e.json"));
  EXPECT_EQ(read_file(folder / "r.json").find("--elements"), std::string::npos);
  EXPECT_EQ(assay("evaluate" + both + "--tolerance 0.2").code, 1) << "what is typed is no default";
}

TEST_F(Errors, AnUnknownOperatorIsNamedWithItsNode) {
  GraphBuilder build("odd");
  const ValueId in = build.input("input", DType::float32, {-1, 1, 4, 4});
  build.output(build.add("FancyThing", "mystery", {in}));
  write_onnx(build.build(), folder / "odd.onnx");
  const Outcome result = assay("evaluate --model odd.onnx --data images-idx3-ubyte");
  EXPECT_EQ(result.code, 4);
  EXPECT_NE(result.err.find("mystery"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("FancyThing"), std::string::npos) << result.err;
}

TEST_F(Errors, AFullDiskAndAReadOnlyPlaceLoseNothing) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  const std::string command =
      "cd '" + folder.string() +
      "' && '" ASSAY_PROGRAM
      "' evaluate --model net.onnx --data images-idx3-ubyte --quiet >/dev/full 2>err.txt";
  EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 7) << read_file(folder / "err.txt");
  EXPECT_EQ(assay("evaluate --model net.onnx --data images-idx3-ubyte --json /proc/none/result.json").code,
            7);
}

}  // namespace
}  // namespace assay

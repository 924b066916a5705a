// Records that are true, warnings, gates and files that are not overwritten, as a user meets them.

#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/program/program.h"

namespace assay {
namespace {

using Json = nlohmann::json;

class Truth : public Program {
 protected:
  Json json(const std::string& file) const { return Json::parse(read_file(folder / file)); }
  Outcome cover(const std::string& more) const {
    const auto has = [&](const char* part) { return more.find(part) != std::string::npos; };
    const bool of_idc = !has("--criterion") || has("idc"), of_subject = of_idc || has("dsc") || has("lsc");
    return assay(
        "cover --quiet --model net.onnx --train 'images-idx3-ubyte[:100]' --test 'images-idx3-ubyte[100:]' " +
        std::string(of_subject ? "--layer hidden " : "") + (of_idc && !has("[m=") ? "-m 2 " : "") + more);
  }
  static std::set<std::string> ids(const Json& document) {
    std::set<std::string> found;
    for (const Json& warning : document["warnings"]) found.insert(warning["id"]);
    return found;
  }
  // The network of write_network() with all weights of its first layer 0; `decides`: a weight of the second.
  void write_collapsed(const std::string& name, float decides = 1) const {
    GraphBuilder build(name);
    const ValueId in = build.input("input", DType::float32, {-1, 1, 4, 4});
    const ValueId flat = build.add("Flatten", "flatten", {in});
    const ValueId hidden =
        build.add("Gemm", "hidden",
                  {flat, build.constant("w1", Array::of<float>({16, 2}, std::vector<float>(32))),
                   build.constant("b1", Array::of<float>({2}, std::vector<float>{1, 1}))});
    const ValueId active = build.add("Relu", "active", {hidden});
    build.output(build.add(
        "Gemm", "logits",
        {active,
         build.constant("w2", Array::of<float>({2, 2}, std::vector<float>{decides, 0, 0, decides}))}));
    write_onnx(build.build(), folder / name);
  }
};

TEST_F(Truth, AFlagThatContradictsTheProfileIsAnError) {
  ASSERT_EQ(cover("--criterion idc --criterion kmnc --profile net.profile").code, 0);
  const std::string run =
      "cover --quiet --model net.onnx --profile net.profile --test 'images-idx3-ubyte[100:]' -m 2 "
      "--criterion idc ";
  for (const auto& [flags, given, learned] :
       std::vector<std::array<std::string, 3>>{{"--reduction max", "max", "mean"},
                                               {"--layer logits", "logits", "hidden"},
                                               {"--method gamma", "gamma", "epsilon"},
                                               {"--min-k 3", "3", "2"},
                                               {"--round 2", "2", "-1"},
                                               {"--absolute", "true", "false"},
                                               {"--count-layer hidden", "hidden", "all"},
                                               {"--share 0.5", "0.5", "0.9"}}) {
    const Outcome outcome = assay(run + flags);
    EXPECT_EQ(outcome.code, 6) << flags << outcome.err;
    EXPECT_NE(outcome.err.find(given + " contradicts"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("learned with " + learned), std::string::npos) << outcome.err;
  }
  EXPECT_EQ(assay(run + "--reduction mean --layer hidden --min-k 2").code, 0)
      << "the same is no contradiction";
  EXPECT_EQ(assay("select --model net.onnx --profile net.profile --test images-idx3-ubyte --by minimise "
                  "--criterion 'idc[m=2]' --layer logits")
                .code,
            6);
}

TEST_F(Truth, WhatIsRecordedRunsAgainAndNamesDefaults) {
  std::filesystem::rename(folder / "net.onnx", folder / "my net.onnx");
  ASSERT_EQ(
      assay("cover --quiet --model 'my net.onnx' --train 'images-idx3-ubyte[:100]' --test "
            "'images-idx3-ubyte[100:]' -m 1,2 --criterion idc --criterion kmnc --fail-under 'kmnc=0.01' "
            "--json a.json")
          .code,
      0);
  const Json first = json("a.json");
  const std::string options = first["provenance"]["options"];
  for (const char* part :
       {"--model 'my net.onnx'", "--criterion 'idc[m=1]'", "--criterion 'idc[m=2]'", "--layer hidden",
        "--method epsilon", "--min-k 2", "--max-k 4", "--reduction mean", "--threads 0", "--device cpu"})
    EXPECT_NE(options.find(part), std::string::npos) << part << " in " << options;
  EXPECT_EQ(options.find("--plugin"), std::string::npos) << "an empty list is none: " << options;
  EXPECT_NE(first["provenance"]["criteria"].get<std::string>().find("kmnc[sections=1000]"),
            std::string::npos);
  const Outcome again = assay("cover " + options);
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(json("a.json")["tables"], first["tables"]);
  EXPECT_EQ(json("a.json")["provenance"]["options"], options);
}

TEST_F(Truth, RecordedOptionsOfAProfileAreItsOwn) {
  ASSERT_EQ(cover("--criterion idc --min-k 3 --profile net.profile").code, 0);
  ASSERT_EQ(
      assay("cover --quiet --model net.onnx --profile net.profile --test 'images-idx3-ubyte[100:]' -m 2 "
            "--json r.json")
          .code,
      0);
  const std::string options = json("r.json")["provenance"]["options"];
  EXPECT_NE(options.find("--min-k 3"), std::string::npos) << options;
  EXPECT_EQ(assay("cover " + options).code, 0);
}

TEST_F(Truth, DataThatDoNotFitAreWarnedOf) {
  const auto warnings = [&](const std::string& data) {
    const Outcome outcome = assay("cover --quiet --model net.onnx --criterion kmnc --json w.json " + data);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    const Json document = json("w.json");
    EXPECT_EQ(document["headline"].get<std::string>().find("[doubtful: ") != std::string::npos,
              !document["warnings"].empty());
    return ids(document);
  };
  EXPECT_EQ(warnings("--train 'images-idx3-ubyte[:100]' --test 'images-idx3-ubyte[100:]'"),
            std::set<std::string>{});
  EXPECT_EQ(warnings("--train images-idx3-ubyte --test images-idx3-ubyte"),
            (std::set<std::string>{"same-data"}));
  EXPECT_EQ(warnings("--train 'images-idx3-ubyte[:110]' --test 'images-idx3-ubyte[100:]'"),
            (std::set<std::string>{"overlap"}));
  EXPECT_EQ(json("w.json")["facts"]["in_training"], 10);
  EXPECT_EQ(warnings("--train 'images-idx3-ubyte[:100]' --test 'images-idx3-ubyte,scale=1[100:]'"),
            (std::set<std::string>{"preparation", "scale"}));
  EXPECT_NE(json("w.json")["warnings"][0]["cause"].get<std::string>().find("1/255"), std::string::npos);
}

TEST_F(Truth, StrictMakesWarningsAnExitCode) {
  const std::string run =
      "cover --quiet --model net.onnx --criterion kmnc --train images-idx3-ubyte --test "
      "images-idx3-ubyte ";
  EXPECT_EQ(assay(run + "--strict").code, 9);
  EXPECT_EQ(assay(run).code, 0);
  EXPECT_EQ(cover("--strict --criterion kmnc").code, 0);
  EXPECT_EQ(assay(run + "--strict --fail-under kmnc=1").code, 2) << "a gate comes first";
  EXPECT_EQ(assay(run + "--fail-under 'warnings<=0'").code, 2);
  EXPECT_EQ(assay(run + "--fail-under 'warnings<=1'").code, 0);
}

TEST_F(Truth, ACollapsedNetworkDoesNotLookPerfect) {
  write_collapsed("flat.onnx");
  const Outcome outcome = assay(
      "cover --quiet --model flat.onnx --train 'images-idx3-ubyte[:100]' --test 'images-idx3-ubyte[100:]' -m "
      "2 "
      "--layer hidden --criterion idc --json flat.json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json document = json("flat.json");
  EXPECT_NE(document["headline"].get<std::string>().find("one combination only"), std::string::npos)
      << document["headline"];
  EXPECT_TRUE(ids(document).contains("one-combination"));
  EXPECT_TRUE(ids(document).contains("collapsed-layers"));
  write_collapsed("mute.onnx", 0);
  ASSERT_EQ(
      assay("importance --quiet --model mute.onnx --data images-idx3-ubyte --layer hidden --json i.json")
          .code,
      0);
  EXPECT_TRUE(ids(json("i.json")).contains("no-relevance")) << json("i.json")["warnings"].dump(1);
  EXPECT_NE(json("i.json")["headline"].get<std::string>().find("no neuron"), std::string::npos);
}

TEST_F(Truth, MoreCombinationsThanRecordsAreSaid) {
  const Outcome outcome = assay(
      "cover --quiet --model net.onnx --train images-idx3-ubyte --test 'images-idx3-ubyte[:2]' -m 2 --layer "
      "hidden "
      "--criterion idc --json few.json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(ids(json("few.json")).contains("too-many-combinations"));
}

// In each class one neuron of `hidden` is always 0.
TEST_F(Truth, SingularCovariancesAreSaid) {
  const Outcome outcome = cover("--criterion 'mdsc[variance=0]' --json singular.json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json warnings = json("singular.json")["warnings"];
  ASSERT_EQ(warnings.size(), 1U) << warnings.dump(1);
  EXPECT_EQ(warnings[0]["id"], "singular-covariance");
  const std::string text = warnings[0]["text"];
  EXPECT_NE(text.find("class 0 in layer hidden, class 1 in layer hidden; 1e-10 was added"), std::string::npos)
      << text;
  EXPECT_NE(text.find("for mdsc"), std::string::npos) << text;
}

// Neurons that depend on each other: a choice by their surprise rests on what was added.
TEST_F(Truth, SingularCovariancesOfAChoiceAreSaid) {
  GraphBuilder build("dependent");
  const ValueId in = build.input("input", DType::float32, {-1, 1, 4, 4});
  const ValueId flat = build.add("Flatten", "flatten", {in});
  std::vector<float> sums;  // of the left half, of the right one, and twice of the right one
  for (int i = 0; i < 16; ++i) {
    const float right = i % 4 >= 2 ? 1.0F : 0.0F;
    sums.insert(sums.end(), {1 - right, right, 2 * right});
  }
  const ValueId hidden =
      build.add("Relu", "active",
                {build.add("Gemm", "hidden", {flat, build.constant("w1", Array::of<float>({16, 3}, sums))})});
  const std::vector<float> sides{1, 0, 0, 1, 0, 0};
  build.output(build.add("Gemm", "logits", {hidden, build.constant("w2", Array::of<float>({3, 2}, sides))}));
  write_onnx(build.build(), folder / "dependent.onnx");
  const Outcome outcome = assay(
      "select --quiet --model dependent.onnx --train images-idx3-ubyte --test images-idx3-ubyte --layer "
      "active "
      "--by mdsa --json select.json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(ids(json("select.json")).contains("singular-covariance")) << json("select.json").dump(1);
}

TEST_F(Truth, OneNameForOneFigure) {
  const Outcome outcome = assay(
      "cover --quiet --model net.onnx --train 'images-idx3-ubyte[:100]' --test 'images-idx3-ubyte[100:]' -m "
      "1,2 "
      "--criterion idc --criterion 'kmnc[sections=50]' --fail-under idc=0.01 --fail-under 'idc[m=2]=0.01' "
      "--fail-under kmnc=0.01 --fail-under 'kmnc[sections=50]=0.01' --json names.json");
  ASSERT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  const Json document = json("names.json");
  for (const Json& row : document["tables"]["criteria"]["rows"]) {
    const std::string name = row["criterion"];
    EXPECT_NE(document["headline"].get<std::string>().find(name + " "), std::string::npos) << name;
  }
}

TEST_F(Truth, GatesAreCheckedBeforeAnythingIsMeasured) {
  const auto refused = [&](const std::string& gate, const std::string& hint) {
    const Outcome outcome = cover("--criterion kmnc --state s.cov --fail-under " + gate);
    EXPECT_EQ(outcome.code, 1) << gate << outcome.out;
    EXPECT_NE(outcome.err.find(hint), std::string::npos) << outcome.err;
    EXPECT_FALSE(std::filesystem::exists(folder / "s.cov"));
  };
  refused("'kmnc[layer=hiden]=0.1'", "did you mean 'hidden'");
  refused("'kmnc[sections=7]=0.1'", "no criterion");
  refused("kmnc=35", "35%");
  const Outcome star = cover("--criterion kmnc --fail-under 'kmnc[layer=*]=1'");
  EXPECT_EQ(star.code, 2);
  EXPECT_NE(star.out.find("layer=hidden"), std::string::npos) << star.out;
  EXPECT_EQ(
      assay(
          "cover --quiet --model net.onnx --train 'images-idx3-ubyte[:100]' --test 'images-idx3-ubyte[100:]' "
          "--layer hidden --layer logits -m 1 --criterion idc --fail-under idc=0.01")
          .code,
      0)
      << "two layers do not add up, so the gate is on each";
}

TEST_F(Truth, EvaluationHasGates) {
  const std::string run = "evaluate --quiet --model net.onnx --data images-idx3-ubyte ";
  EXPECT_EQ(assay(run + "--fail-under accuracy=0.9 --fail-under 'accuracy[class=1]=0.8' --json e.json").code,
            0);
  EXPECT_EQ(assay(run + "--fail-under accuracy=0.91").code, 2);
  EXPECT_EQ(assay(run + "--fail-under accuracy=90").code, 2);
  EXPECT_EQ(assay(run + "--fail-under mean-squared-error=1").code, 1);
  EXPECT_EQ(assay(run + "--no-worse-than e.json").code, 0);
  EXPECT_EQ(assay(run + "--expect-accuracy 0.5").code, 0) << "a lower bound";
  EXPECT_EQ(assay(run + "--expect-accuracy 0.5 --tolerance-above 0.1").code, 6);
  const Outcome wrong = assay(run + "--expect-accuracy 0.99 --tolerance 0");
  EXPECT_EQ(wrong.code, 6);
  EXPECT_NE(wrong.err.find("at least 99.00 %"), std::string::npos) << wrong.err;
}

TEST_F(Truth, TheRatchetHasATolerance_ASelection_AndItsOwnNetwork) {
  const std::string data = " --data images-idx3-ubyte ", part = " --data 'images-idx3-ubyte[:99]' ";
  ASSERT_EQ(assay("evaluate --quiet --model net.onnx --json then.json" + data).code, 0);
  const std::string now = "evaluate --quiet --model net.onnx --no-worse-than then.json ";
  EXPECT_EQ(assay(now + part).code, 6) << "other data";
  EXPECT_EQ(assay(now + part + "--any-baseline").code, 2) << "89 of 99 is less than 180 of 200";
  EXPECT_EQ(assay(now + part + "--any-baseline --worse-by 0.02").code, 0);
  EXPECT_EQ(assay(now + part + "--any-baseline --compare 'accuracy[class=1]' --worse-by 0.02").code, 0);
  EXPECT_EQ(assay(now + data + "--compare nc").code, 1);
  EXPECT_EQ(assay("evaluate --model net.onnx --worse-by 0.1" + data).code, 1) << "a flag without effect";
  write_collapsed("other.onnx");
  EXPECT_EQ(assay("evaluate --quiet --model other.onnx --no-worse-than then.json" + data).code, 6);
}

TEST_F(Truth, WhatHoldsSomethingElseStays) {
  ASSERT_EQ(cover("--criterion kmnc --profile p --state s --json r.json").code, 0);
  ASSERT_EQ(cover("--criterion kmnc --profile p --state s --json r.json").code, 0) << "the same again";
  const std::string state = read_file(folder / "s"), profile = read_file(folder / "p");
  EXPECT_EQ(cover("--criterion nc --state s").code, 6) << "other criteria";
  EXPECT_EQ(assay("cover --quiet --model net.onnx --profile p --test 'images-idx3-ubyte[:9]' --criterion "
                  "kmnc --state s")
                .code,
            6)
      << "another test set";
  EXPECT_EQ(
      assay(
          "cover --quiet --model net.onnx --train 'images-idx3-ubyte[:50]' --test 'images-idx3-ubyte[100:]' "
          "--criterion kmnc --profile p")
          .code,
      6)
      << "other training data";
  write_collapsed("other.onnx");
  EXPECT_EQ(assay("evaluate --quiet --model other.onnx --data images-idx3-ubyte --json r.json").code, 6);
  EXPECT_TRUE(read_file(folder / "s") == state && read_file(folder / "p") == profile);
  EXPECT_EQ(cover("--criterion nc --state s --force").code, 0);
  EXPECT_EQ(assay("evaluate --quiet --model other.onnx --data images-idx3-ubyte --json r.json --force").code,
            0);
}

TEST_F(Truth, APresetLosesOnlyWhatCannotBe) {
  // One layer alone: structural coverage of pairs of layers is impossible.
  GraphBuilder build("single");
  const ValueId in = build.input("input", DType::float32, {-1, 1, 4, 4});
  const ValueId flat = build.add("Flatten", "flatten", {in});
  std::vector<float> weights(32);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i % 3) - 1;
  build.output(build.add("Gemm", "logits", {flat, build.constant("w", Array::of<float>({16, 2}, weights))}));
  write_onnx(build.build(), folder / "single.onnx");
  const Outcome outcome = assay(
      "cover --quiet --model single.onnx --train 'images-idx3-ubyte[:100]' --test 'images-idx3-ubyte[100:]' "
      "--preset all --json all.json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  std::set<std::string> measured;
  const Json document = json("all.json");
  for (const Json& row : document["tables"]["criteria"]["rows"])
    measured.insert(row["criterion"].get<std::string>().substr(0, 4));
  EXPECT_TRUE(measured.contains("kmnc"));
  EXPECT_FALSE(measured.contains("ss"));
  EXPECT_TRUE(ids(json("all.json")).contains("left-out")) << json("all.json")["warnings"].dump(1);
  EXPECT_NE(assay("cover --quiet --model single.onnx --train images-idx3-ubyte --test images-idx3-ubyte "
                  "--criterion ss")
                .code,
            0)
      << "what is asked for by name is not left out";
}

TEST_F(Truth, HelpShowsTheCommandsOwnFlagsFirst) {
  const std::string own = assay("cover --help").out, all = assay("cover --help-all").out;
  EXPECT_NE(own.find("--criterion"), std::string::npos);
  EXPECT_EQ(own.find("GiB that reading a file"), std::string::npos);
  EXPECT_NE(own.find("--help-all"), std::string::npos);
  EXPECT_NE(all.find("GiB that reading a file"), std::string::npos);
  for (const char* preset : {"deepimportance", "deepxplore", "deepgauge", "surprise", "all", "fast"})
    EXPECT_NE(own.find(preset), std::string::npos) << preset;
}

TEST_F(Truth, UnknownFlagsGetASuggestionAndOldWordsAreUnderstood) {
  const Outcome typo = assay("evaluate --modle net.onnx --data images-idx3-ubyte");
  EXPECT_EQ(typo.code, 1);
  EXPECT_NE(typo.err.find("did you mean '--model'"), std::string::npos) << typo.err;
  const Outcome old =
      assay("attack net.onnx 'images-idx3-ubyte[:20]' --quiet --attack noise --pictures 0 --output here");
  EXPECT_EQ(old.code, 0) << old.err;
  EXPECT_NE(old.err.find("--output of `assay attack` is now called --out"), std::string::npos) << old.err;
  EXPECT_TRUE(std::filesystem::exists(folder / "here" / "noise.npz"));
  write_file(folder / "old.toml", "[attack]\noutput = \"there\"\n");
  EXPECT_EQ(
      assay("attack net.onnx 'images-idx3-ubyte[:20]' --quiet --attack noise --pictures 0 --config old.toml")
          .code,
      0);
  EXPECT_TRUE(std::filesystem::exists(folder / "there" / "noise.npz"));
}

TEST_F(Truth, FilesForOtherTools) {
  EXPECT_EQ(cover("--criterion kmnc --fail-under kmnc=1 --sarif r.sarif --csv tables").code, 2);
  const Json location = json("r.sarif")["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
  EXPECT_EQ(location["artifactLocation"]["uri"], "net.onnx");
  EXPECT_EQ(location["region"]["startLine"], 1);
  for (const char* file : {"criteria.csv", "layers.csv", "facts.csv", "gates.csv"})
    EXPECT_TRUE(std::filesystem::exists(folder / "tables" / file)) << file;
}

TEST_F(Truth, TheRatchetKnowsTheProfile) {
  ASSERT_EQ(cover("--criterion kmnc --criterion idc --json then.json").code, 0);
  const std::string now =
      "cover --quiet --model net.onnx --test 'images-idx3-ubyte[100:]' --criterion kmnc "
      "--layer hidden --no-worse-than then.json --compare kmnc --worse-by 1 ";
  EXPECT_EQ(assay(now + "--train 'images-idx3-ubyte[:100]'").code, 0);
  const Outcome fewer = assay(now + "--train 'images-idx3-ubyte[:20]'");
  EXPECT_EQ(fewer.code, 6);
  EXPECT_THAT(fewer.err, testing::HasSubstr("another training set"));
  const Outcome other = assay(now + "--train 'images-idx3-ubyte[:100]' --max-k 2");
  EXPECT_EQ(other.code, 6);
  EXPECT_THAT(other.err, testing::HasSubstr("learned with max_k="));
  EXPECT_EQ(assay(now + "--train 'images-idx3-ubyte[:100]' --max-k 2 --any-baseline").code, 0);
}

TEST_F(Truth, WhatCannotBeMeantIsRefused) {
  EXPECT_EQ(cover("--criterion nc --units layer=hidden,units=0 --count-layer logits").code, 1);
  const Outcome few = assay(
      "select --quiet --model net.onnx --train images-idx3-ubyte --test images-idx3-ubyte --by minimise "
      "--criterion nc --size 1");
  EXPECT_EQ(few.code, 1);
  EXPECT_THAT(few.err, testing::HasSubstr("minimise finds how many"));
  ASSERT_EQ(cover("--criterion nc --state nc.cov").code, 0);
  ASSERT_EQ(cover("--criterion kmnc --state kmnc.cov").code, 0);
  const Outcome nothing = assay("diff nc.cov kmnc.cov");
  EXPECT_EQ(nothing.code, 6);
  EXPECT_THAT(nothing.err, testing::HasSubstr("nothing in common"));
  ASSERT_EQ(
      assay("inspect --quiet --model net.onnx --data images-idx3-ubyte --units layer=hidden --hypotheses "
            "label --json seen.json")
          .code,
      0);
  write_collapsed("other.onnx");
  const std::string units =
      " --test images-idx3-ubyte --operator neb --count 1 --units "
      "from=seen.json,hypothesis=label:1,top=1";
  EXPECT_EQ(assay("mutate --quiet --model net.onnx" + units).code, 0);
  const Outcome elsewhere = assay("mutate --quiet --model other.onnx" + units);
  EXPECT_EQ(elsewhere.code, 6);
  EXPECT_THAT(elsewhere.err, testing::HasSubstr("of another network"));
}

TEST_F(Truth, ALayerOfFewerNeuronsThanMIsSaid) {
  ASSERT_EQ(cover("--criterion 'idc[m=6]' --json few.json").code, 0);
  EXPECT_TRUE(ids(json("few.json")).contains("fewer-neurons"));
  ASSERT_EQ(cover("--criterion 'idc[m=2]' --json enough.json").code, 0);
  EXPECT_FALSE(ids(json("enough.json")).contains("fewer-neurons"));
}

}  // namespace
}  // namespace assay

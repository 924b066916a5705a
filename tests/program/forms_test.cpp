// The forms in which commands are typed: networks and data with and without their flags, lists with commas,
// short flags, help as a word.

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/program/program.h"

namespace assay {
namespace {

using testing::HasSubstr;

class Forms : public Program {
 protected:
  nlohmann::json result_of(const std::string& command) const {
    const Outcome outcome = assay(command + " -q --json r.json");
    EXPECT_EQ(outcome.code, 0) << command << outcome.err;
    return nlohmann::json::parse(read_file(folder / "r.json"));
  }
};

TEST_F(Forms, NetworkAndDataStandWithoutFlags) {
  for (const auto& [command, more] :
       {std::pair("cover", "--train images-idx3-ubyte --criterion nc"),
        std::pair("mutate", "--operator gf --count 1"), std::pair("mutate run", "--operator gf --count 1"),
        std::pair("select", "--by entropy --size 3"), std::pair("inspect", "--hypotheses label"),
        std::pair("prune", "--units layer=0,units=0 --out p.onnx"),
        std::pair("audit",
                  "--train 'images-idx3-ubyte[:50]' --criterion nc --count 1 --sizes 10 --subsets 10 "
                  "--permutations 19 --resamples 20 --orders 19")}) {
    const std::string data = command == std::string("inspect") ? "--data" : "--test";
    const nlohmann::json bare = result_of(fmt::format("{} net.onnx images-idx3-ubyte {}", command, more));
    const nlohmann::json flagged =
        result_of(fmt::format("{} --model net.onnx {} images-idx3-ubyte {}", command, data, more));
    EXPECT_EQ(bare["tables"], flagged["tables"]) << command;
    EXPECT_EQ(bare["headline"], flagged["headline"]) << command;
  }
}

TEST_F(Forms, TrainingPollutedAndEvidenceTakePositions) {
  const std::string train = " --epochs 1 --out out.onnx";
  const std::string network = "train net.onnx images-idx3-ubyte --initialiser keep" + train;
  EXPECT_EQ(result_of(network)["facts"],
            result_of("train --model net.onnx --data images-idx3-ubyte --initialiser keep" + train)["facts"]);
  // Beside an architecture the first word is the data.
  const nlohmann::json drawn = result_of("train digits:20 --architecture lenet1" + train);
  EXPECT_EQ(drawn["facts"], result_of("train --architecture lenet1 --data digits:20" + train)["facts"]);
  EXPECT_THAT(drawn["provenance"]["options"].get<std::string>(), HasSubstr("--data digits:20"));
  EXPECT_THAT(assay("train net.onnx --architecture lenet1" + train).err, HasSubstr("--architecture NAME or"));
  EXPECT_EQ(result_of("polluted digits:20 --findings digits:5,seed=9")["tables"],
            result_of("polluted --data digits:20 --findings digits:5,seed=9")["tables"]);
  EXPECT_EQ(assay("evidence net.onnx images-idx3-ubyte --train images-idx3-ubyte -q --out pack").code, 0);
  EXPECT_EQ(assay("verify pack -q").code, 0);
}

TEST_F(Forms, ResultsAreAddedToAHistoryByAWord) {
  result_of("evaluate net.onnx images-idx3-ubyte");
  ASSERT_EQ(assay("evaluate net.onnx 'images-idx3-ubyte[:9]' -q --json add").code, 0);
  EXPECT_THAT(assay("history r.json").err, HasSubstr("`assay history add r.json`"));
  EXPECT_THAT(assay("history add").err, HasSubstr("no result is named"));
  const std::string added = assay("history add r.json ./add --history h.jsonl").out;
  EXPECT_THAT(added, HasSubstr("of them new   2"));
  const nlohmann::json shown = result_of("history --history h.jsonl");
  EXPECT_EQ(shown["tables"]["trends"]["rows"][0]["results"], 2) << shown["tables"];
}

TEST_F(Forms, WhatIsNamedTwiceIsRefused) {
  for (const auto& [typed, message] :
       {std::pair("net.onnx images-idx3-ubyte --data other",
                  "--data is given twice, images-idx3-ubyte and other; "
                  "give it once, with the flag or without it"),
        std::pair("net.onnx images-idx3-ubyte --model other", "--model is given twice, net.onnx and other"),
        std::pair("net.onnx images-idx3-ubyte more",
                  "more is one too many: --model is net.onnx, --data is "
                  "images-idx3-ubyte; leave one out"),
        std::pair("--data images-idx3-ubyte net.onnx more", "more is one too many"),
        std::pair("net.onnx --dat other --data images-idx3-ubyte",
                  "`assay evaluate` has no flag '--dat'; did you mean '--data'?"),
        std::pair("net.onnx images-idx3-ubyte --seed 1 --seed 2",
                  "--seed is given twice, 1 and 2; give it once;")}) {
    const Outcome outcome = assay(std::string("evaluate ") + typed);
    EXPECT_EQ(outcome.code, 1) << typed;
    EXPECT_THAT(outcome.err, HasSubstr(message)) << typed;
  }
}

TEST_F(Forms, QuestionsStandBehindNetworkAndDataOrAlone) {
  const std::string question = "\"SELECT count(*) AS records FROM inputs\"";
  EXPECT_EQ(result_of("inspect net.onnx images-idx3-ubyte " + question)["tables"],
            result_of("inspect " + question + " --model net.onnx --data images-idx3-ubyte")["tables"]);
}

TEST_F(Forms, ListsOfSpecsTakeCommas) {
  const std::string cover = "cover net.onnx images-idx3-ubyte --train images-idx3-ubyte ";
  const auto names = [](const nlohmann::json& document) {
    std::set<std::string> all;
    for (const auto& row : document["tables"]["criteria"]["rows"]) all.insert(row["criterion"]);
    return all;
  };
  EXPECT_EQ(names(result_of(cover + "--criterion 'nc,kmnc[sections=10]' --criterion tknc")),
            (std::set<std::string>{"nc", "kmnc[sections=10]", "tknc"}));
  write_file(folder / "assay.toml", "[cover]\ncriterion = [\"nc,tknc\"]\n");
  EXPECT_EQ(names(result_of(cover)), (std::set<std::string>{"nc", "tknc"}));
}

TEST_F(Forms, AllListsTakeCommasAndRepetition) {
  const std::string cover = "cover net.onnx images-idx3-ubyte --train images-idx3-ubyte ";
  const auto tables = [&](const std::string& more) { return result_of(cover + more)["tables"]["criteria"]; };
  EXPECT_EQ(tables("--criterion nc --count-layer hidden,logits"),
            tables("--criterion nc --count-layer hidden --count-layer logits"));
  EXPECT_EQ(tables("-m 1,2"), tables("-m 1 -m 2"));
  const Outcome gates =
      assay(cover + "--criterion nc,tknc --fail-under 'nc[layer=\"hidden\"]=2%,tknc=1%' -q");
  EXPECT_EQ(gates.code, 0) << gates.err;
  EXPECT_THAT(gates.out, HasSubstr("gates: 2 of 2 passed"));
  const Outcome both = assay(
      "explore net.onnx --mutant 'gf[sigma=0.5],ws' --data images-idx3-ubyte -q --constraint "
      "'linf[eps=0.1],l2[eps=3]' --iterations 1 --out e");
  EXPECT_EQ(both.code, 0) << both.err;
}

// A name may hold commas; quotes keep it whole, and what is recorded can be typed again.
TEST_F(Forms, NamesWithCommasStandInQuotes) {
  GraphBuilder build("odd");
  const ValueId in = build.input("input", DType::float32, {-1, 1, 4, 4});
  const ValueId flat = build.add("Flatten", "flat", {in});
  const Array weights = Array::of<float>({16, 2}, std::vector<float>(32, 1));
  build.output(build.add("Gemm", "a,b", {flat, build.constant("w", weights)}));
  write_onnx(build.build(), folder / "odd.onnx");
  const std::string cover =
      "cover odd.onnx images-idx3-ubyte --train images-idx3-ubyte --criterion nc --count-layer ";
  const nlohmann::json result = result_of(cover + "'\"a,b\"'");
  const std::string options = result["provenance"]["options"];
  EXPECT_THAT(options, HasSubstr("--count-layer '\"a,b\"'"));
  EXPECT_EQ(assay(cover + "a,b").code, 1);
}

TEST_F(Forms, OneRecordIsNoRecords) {
  const std::string one = " net.onnx 'images-idx3-ubyte[:1]' --quiet ";
  EXPECT_THAT(assay("select" + one).out, HasSubstr("1 of 1 record of"));
  EXPECT_THAT(assay("inspect" + one + "--hypotheses label").out, HasSubstr("1 record read"));
}

TEST_F(Forms, HelpIsAWordAndFlagsAreShort) {
  EXPECT_EQ(assay("help").out, assay("--help").out);
  EXPECT_EQ(assay("help cover").out, assay("cover --help").out);
  for (const std::string version : {"-V", "model -V", "cover --version", "evaluate absent.onnx -V"})
    EXPECT_EQ(assay(version).out, assay("--version").out) << version;
  const Outcome unknown = assay("help covr");
  EXPECT_EQ(unknown.code, 1);
  EXPECT_THAT(unknown.err, HasSubstr("cover"));
  const std::string list = assay("--help").out;
  EXPECT_LE(std::ranges::count(list, '\n'), 24) << "fits a screen";
  std::istringstream lines(list);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
}

}  // namespace
}  // namespace assay

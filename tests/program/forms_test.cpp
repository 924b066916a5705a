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
        std::pair("prune", "--units layer=0,units=0 --out p.onnx --force"),
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

TEST_F(Forms, HelpIsAWordAndFlagsAreShort) {
  EXPECT_EQ(assay("help").out, assay("--help").out);
  EXPECT_EQ(assay("help cover").out, assay("cover --help").out);
  EXPECT_EQ(assay("-V").out, assay("--version").out);
  const Outcome unknown = assay("help covr");
  EXPECT_EQ(unknown.code, 1);
  EXPECT_THAT(unknown.err, HasSubstr("cover"));
  const std::string list = assay("--help").out;
  EXPECT_LT(std::ranges::count(list, '\n'), 50) << "fits a screen";
}

}  // namespace
}  // namespace assay

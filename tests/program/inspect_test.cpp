// Inspection as people use it: results, shards, interruptions, pruning by what was found.

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/program/program.h"

namespace assay {
namespace {

class InspectProgram : public Program {
 protected:
  Outcome inspect(const std::string& more) const {
    return assay(
        "inspect --quiet --model net.onnx --data images-idx3-ubyte --units layer=hidden --hypotheses label " +
        more);
  }
  nlohmann::json json(const std::string& name) const {
    return nlohmann::json::parse(read_file(folder / name));
  }
  // Scores by layer, unit, hypothesis and measure.
  std::map<std::string, double> scores(const std::string& name) const {
    std::map<std::string, double> all;
    const nlohmann::json document = json(name);
    for (const auto& row : document["tables"]["scores"]["rows"]) {
      if (row["score"].is_number())
        all[row["layer"].dump() + row["unit"].dump() + row["hypothesis"].dump() + row["measure"].dump()] =
            row["score"];
    }
    return all;
  }
};

TEST_F(InspectProgram, FindsTheUnitThatFollowsAClass) {
  const Outcome run = inspect("--no-early-stop --json seen.json --html seen.html --scores seen.csv --top 1");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find("all 200 records read"), std::string::npos) << run.out;
  const auto found = scores("seen.json");
  // Unit 1 is bright on the right, which is class 1 but for every tenth record.
  EXPECT_GT(found.at(R"("hidden"1"label:1""pearson")"), 0.7);
  EXPECT_LT(found.at(R"("hidden"0"label:1""pearson")"), -0.7);
  EXPECT_NE(read_file(folder / "seen.csv").find("label:1"), std::string::npos);
  EXPECT_NE(read_file(folder / "seen.html").find("\"inspect\""), std::string::npos);
}

TEST_F(InspectProgram, SaysThatScoresAreApproximate) {
  const Outcome run = inspect("--tolerance 0.3 --block 20 --json seen.json");
  ASSERT_EQ(run.code, 0) << run.err;
  const auto facts = json("seen.json")["facts"];
  EXPECT_LT(facts["records_read"].get<int>(), 200);
  EXPECT_NE(run.out.find("of 200 records read"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("approximate"), std::string::npos) << run.out;
}

TEST_F(InspectProgram, ShardsCombineToTheWhole) {
  ASSERT_EQ(inspect("--no-early-stop --json whole.json").code, 0);
  for (const char* shard : {"1", "2", "3"}) {
    const Outcome run =
        inspect(std::string("--no-early-stop --shard ") + shard + "/3 --state " + shard + ".state");
    ASSERT_EQ(run.code, 0) << run.err;
  }
  const Outcome combined = assay("combine 2.state 3.state 1.state --out all.state --json combined.json");
  ASSERT_EQ(combined.code, 0) << combined.err;
  const auto whole = scores("whole.json"), all = scores("combined.json");
  ASSERT_EQ(whole.size(), all.size());
  for (const auto& [name, score] : whole) EXPECT_NEAR(all.at(name), score, 1e-12) << name;
  EXPECT_EQ(assay("combine 1.state 1.state").code, 6);
  EXPECT_EQ(assay("combine all.state").code, 0);
}

TEST_F(InspectProgram, ARunThatIsKilledGoesOn) {
  const std::string run =
      "inspect --quiet --model net.onnx --data images-idx3-ubyte --hypotheses label --measure "
      "pearson,mean_difference --no-early-stop --block 10 --journal-every 0 --state ";
  ASSERT_EQ(assay(run + "calm.state").code, 0);
  EXPECT_GE(killed_until_done(run + "killed.state"), 2);
  const Outcome last = assay(run + "killed.state");
  EXPECT_EQ(last.code, 0) << last.err;
  EXPECT_TRUE(read_file(folder / "killed.state") == read_file(folder / "calm.state"));
  EXPECT_FALSE(std::filesystem::exists(folder / "killed.state.journal"));
}

TEST_F(InspectProgram, UnitsOfAResultArePruned) {
  ASSERT_EQ(inspect("--no-early-stop --json seen.json").code, 0);
  const std::string prune = "prune --quiet --model net.onnx --test images-idx3-ubyte ";
  const Outcome run =
      assay(prune + "--from seen.json --hypothesis label:1 --top 1 --out smaller.onnx --json pruned.json");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_LT(json("pruned.json")["facts"]["parameters_after"],
            json("pruned.json")["facts"]["parameters_before"]);
  EXPECT_EQ(assay("evaluate --quiet --model smaller.onnx --data images-idx3-ubyte").code, 0);
  EXPECT_EQ(assay(prune + "--units layer=hidden,units=0 --mask").code, 0);
  EXPECT_EQ(assay(prune + "--units layer=logits,units=0").code, 4);
  EXPECT_EQ(assay(prune + "--units layer=hidden,units=7").code, 1);
  EXPECT_EQ(assay(prune + "--from seen.json --hypothesis label:8").code, 1);
  EXPECT_EQ(assay(prune).code, 1);
}

TEST_F(InspectProgram, SaysWhatIsMissing) {
  EXPECT_EQ(assay("inspect --quiet --data images-idx3-ubyte --hypotheses label").code, 1);
  EXPECT_EQ(assay("inspect --quiet --model net.onnx --data images-idx3-ubyte").code, 1);
  EXPECT_EQ(inspect("--measure pearsn").code, 1);
  EXPECT_EQ(inspect("--units layer=nowhere").code, 1);
  EXPECT_EQ(inspect("--units layer=hidden,gate=forget").code, 1);
  EXPECT_EQ(inspect("--units layer=hidden,units=2-1").code, 1);
  EXPECT_EQ(inspect("--padding x").code, 1);
  EXPECT_EQ(inspect("--verify 1").code, 1);
}

}  // namespace
}  // namespace assay

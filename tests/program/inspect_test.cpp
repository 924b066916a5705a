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
  EXPECT_EQ(assay("combine all.state --fail-under 'nonsense=0.9'").code, 1) << "a gate without effect";
  EXPECT_EQ(assay("combine all.state --no-worse-than whole.json").code, 5) << "no criterion to compare with";
  EXPECT_EQ(assay("combine all.state --fail-under 'warnings<=0'").code, 0);
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
      assay(prune + "--units from=seen.json,hypothesis=label:1,top=1 --out smaller.onnx --json pruned.json");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_LT(json("pruned.json")["facts"]["parameters_after"],
            json("pruned.json")["facts"]["parameters_before"]);
  EXPECT_EQ(assay("evaluate --quiet --model smaller.onnx --data images-idx3-ubyte").code, 0);
  EXPECT_EQ(assay(prune + "--units layer=hidden,units=0 --mask").code, 0);
  EXPECT_EQ(assay(prune + "--units layer=logits,units=0").code, 4);
  EXPECT_EQ(assay(prune + "--units layer=hidden,units=7").code, 1);
  EXPECT_EQ(assay(prune + "--units from=seen.json,hypothesis=label:8").code, 1);
  EXPECT_EQ(assay(prune + "--units from=seen.json").code, 1);
  EXPECT_EQ(assay(prune + "--units from=pruned.json").code, 1);
  EXPECT_EQ(assay(prune + "--units from=seen.json,units=3").code, 1);
  EXPECT_EQ(assay(prune + "--units layer=hidden,units=0,top=1").code, 1);
  EXPECT_EQ(assay(prune).code, 1);
}

// The unit that follows class 1, found by a query, is what other commands look at.
TEST_F(InspectProgram, UnitsOfAnAnswerAreHandedToOtherCommands) {
  const Outcome asked = assay(
      "inspect --quiet --model net.onnx --data images-idx3-ubyte --hypotheses label --no-early-stop --json "
      "answer.json --sql \"SELECT S.uid INSPECT U.uid AND H.h USING corr OVER D.seq AS S FROM units U, "
      "hypotheses H, inputs D WHERE U.layer = 'hidden' AND H.name = 'label:1' ORDER BY S.unit_score DESC "
      "LIMIT 1\"");
  ASSERT_EQ(asked.code, 0) << asked.err;

  const std::string cover = "cover --quiet --model net.onnx --test images-idx3-ubyte ",
                    learned = cover + "--train images-idx3-ubyte --units from=answer.json ";
  const Outcome covered =
      assay(learned + "--criterion nc --criterion idc --profile p.profile --json covered.json");
  ASSERT_EQ(covered.code, 0) << covered.err;
  const auto tables = json("covered.json")["tables"];
  ASSERT_EQ(tables["layers"]["rows"].size(), 1U);
  EXPECT_EQ(tables["layers"]["rows"][0]["layer"], "hidden");
  EXPECT_EQ(tables["layers"]["rows"][0]["neurons"], 1);
  ASSERT_EQ(tables["neurons"]["rows"].size(), 1U);
  EXPECT_EQ(tables["neurons"]["rows"][0]["neuron"], 1);
  EXPECT_EQ(tables["clusters"]["rows"].size(), 1U);
  // The profile says which units count, and other units are a contradiction.
  EXPECT_EQ(assay(cover + "--profile p.profile --criterion nc").code, 0);
  EXPECT_EQ(assay(cover + "--profile p.profile --criterion nc --units from=answer.json").code, 0);
  EXPECT_EQ(assay(cover + "--profile p.profile --criterion nc --units layer=hidden,units=0").code, 6);
  EXPECT_EQ(assay(learned + "--criterion nlc").code, 1);
  EXPECT_EQ(assay(learned + "--criterion nc --count-layer hidden --count-layer logits --json two.json").code,
            0);
  EXPECT_EQ(json("two.json")["tables"]["neurons"]["rows"].size(), 1U + 2U);
  EXPECT_EQ(assay(learned + "--criterion nc --reduction every-position").code, 1);

  const std::string mutate = "mutate --quiet --model net.onnx --test images-idx3-ubyte --quality 1 ";
  const Outcome mutated =
      assay(mutate +
            "--operator neb --operator stuck --operator gf --count 3 --units from=answer.json --json m.json");
  ASSERT_EQ(mutated.code, 0) << mutated.err;
  const auto mutants = json("m.json")["tables"]["mutants"]["rows"];
  EXPECT_EQ(mutants.size(), 1U + 1U + 3U);
  for (const auto& mutant : mutants) {
    EXPECT_EQ(mutant["layer"], "hidden");
    EXPECT_NE(mutant["operator"].get<std::string>().find("neurons=1"), std::string::npos) << mutant;
  }
  EXPECT_EQ(assay(mutate + "--mutant 'neb[neurons=1]@hidden#1'").code, 0);
  EXPECT_EQ(assay(mutate + "--mutant 'neb@hidden#1' --units from=answer.json").code, 1);
  EXPECT_EQ(assay(mutate + "--layer hidden --units from=answer.json").code, 1);

  const std::string explore =
      "explore --quiet net.onnx --mutant 'gf[sigma=0.5]' --data 'images-idx3-ubyte[:10]' --constraint none "
      "--pictures 0 --iterations 5 --out found --json e.json ";
  const Outcome explored = assay(explore + "--units from=answer.json");
  ASSERT_EQ(explored.code, 0) << explored.err;
  const auto networks = json("e.json")["tables"]["networks"]["rows"];
  EXPECT_EQ(networks.size(), 2U);
  for (const auto& network : networks) EXPECT_EQ(network["coverable"], "1") << network;
  EXPECT_EQ(assay(explore + "--out other --units layer=nowhere,units=1").code, 1);
  EXPECT_EQ(assay("prune --quiet --model net.onnx --test images-idx3-ubyte --units from=answer.json").code,
            0);
  EXPECT_EQ(assay("inspect --quiet --model net.onnx --data images-idx3-ubyte --hypotheses label --units "
                  "from=answer.json --json again.json")
                .code,
            0);
  const auto again = json("again.json")["tables"]["scores"]["rows"];
  EXPECT_FALSE(again.empty());
  for (const auto& row : again) EXPECT_TRUE(row["unit"].is_null() || row["unit"] == 1) << row;
}

// Five commands in one database, and a question about all of them.
TEST_F(InspectProgram, ResultsOfEveryCommandAreAskedTogether) {
  const std::vector<std::pair<std::string, std::string>> commands{
      {"importance", "--model net.onnx --data images-idx3-ubyte --layer hidden"},
      {"cover",
       "--model net.onnx --train images-idx3-ubyte --test 'images-idx3-ubyte[:20]' --layer hidden -m 2"},
      {"mutate",
       "--model net.onnx --test images-idx3-ubyte --layer hidden --operator neb --operator stuck "
       "--operator 'stuck[value=0.001]' --quality 1"},
      {"attack", "net.onnx images-idx3-ubyte --attack noise --out attacked"},
      {"explore",
       "net.onnx --mutant 'gf[sigma=0.5]' --data 'images-idx3-ubyte[:10]' --constraint none "
       "--pictures 0 --iterations 5 --out found"}};
  std::string added;
  for (const auto& [name, flags] : commands) {
    const Outcome run = assay(name + " --quiet " + flags + " --json " + name + ".json");
    ASSERT_EQ(run.code, 0) << name << run.err;
    added += " --add " + name + ".json";
  }
  ASSERT_EQ(assay("inspect --quiet --db study.db" + added).code, 0);
  const Outcome asked = assay(
      "inspect --quiet --db study.db --model net.onnx --data images-idx3-ubyte --hypotheses label "
      "--no-early-stop --json asked.json --sql \""
      "SELECT I.rank, S.uid, S.hid AS encodes, S.unit_score, "
      "(SELECT group_concat(C.combination, ' ') FROM cover_uncovered C WHERE C.uid = S.uid) AS not_reached, "
      "(SELECT group_concat(X.mutant, ' ') FROM mutate_mutants X WHERE X.status = 'survived' "
      "AND X.summary LIKE '%: neuron ' || I.neuron || ' of ' || I.layer) AS survivors, "
      "(SELECT count(*) FROM documents) AS documents "
      "INSPECT U.uid AND H.h USING corr OVER D.seq AS S "
      "FROM units U, hypotheses H, inputs D JOIN importance_neurons I ON I.uid = S.uid "
      "WHERE U.layer = 'hidden' AND H.kind = 'binary' AND I.rank <= 12 HAVING abs(S.unit_score) > 0.3 "
      "ORDER BY I.rank, S.hid\"");
  ASSERT_EQ(asked.code, 0) << asked.err;
  const auto tables = json("asked.json")["tables"];
  const auto& rows = tables.begin().value()["rows"];
  ASSERT_EQ(rows.size(), 4U);  // two neurons, two classes
  const auto mutants = json("mutate.json")["tables"]["mutants"]["rows"];
  const auto uncovered = json("cover.json")["tables"]["uncovered"]["rows"];
  const auto ranked = json("importance.json")["tables"]["neurons"]["rows"];
  for (const auto& row : rows) {
    EXPECT_EQ(row["documents"], 5);
    const auto& neuron = ranked[row["rank"].get<std::size_t>() - 1]["neuron"];
    EXPECT_EQ(row["uid"], "hidden:" + neuron.dump());
    std::string survivors, not_reached;
    for (const auto& mutant : mutants) {
      const bool of_neuron =
          mutant["summary"].get<std::string>().ends_with(": neuron " + neuron.dump() + " of hidden");
      if (of_neuron && mutant["status"] == "survived")
        survivors += (survivors.empty() ? "" : " ") + mutant["mutant"].get<std::string>();
    }
    for (const auto& combination : uncovered) {
      if (combination["neuron"] == neuron)
        not_reached += (not_reached.empty() ? "" : " ") + combination["combination"].get<std::string>();
    }
    EXPECT_EQ(row["survivors"].is_null() ? "" : row["survivors"].get<std::string>(), survivors);
    EXPECT_EQ(row["not_reached"].is_null() ? "" : row["not_reached"].get<std::string>(), not_reached);
  }
  const Outcome counted = assay(
      "inspect --quiet --db study.db --json counted.json \"SELECT count(DISTINCT document) AS n FROM "
      "document_tables WHERE rows > 0\"");
  ASSERT_EQ(counted.code, 0) << counted.err;
  EXPECT_EQ(json("counted.json")["tables"].begin().value()["rows"][0]["n"], 5);
}

// An inspection with --db goes on after a kill without a state of its own, and is kept once.
TEST_F(InspectProgram, AKilledInspectionIsKeptOnce) {
  const std::string run =
      "inspect --quiet --model net.onnx --data images-idx3-ubyte --hypotheses label --no-early-stop --block "
      "10 --journal-every 0 --db ";
  ASSERT_EQ(assay(run + "calm.db").code, 0);
  EXPECT_GE(killed_until_done(run + "killed.db"), 2);
  ASSERT_EQ(assay(run + "killed.db").code, 0);
  const std::string all = " --sql 'SELECT * FROM scores ORDER BY mid, layer, uid, hid, measure'";
  for (const char* name : {"calm", "killed"}) {
    ASSERT_EQ(assay(std::string("inspect --quiet --json ") + name + ".json --db " + name + ".db" + all).code,
              0);
  }
  auto calm = json("calm.json")["tables"], killed = json("killed.json")["tables"];
  for (auto* tables : {&calm, &killed}) {
    for (auto& [id, table] : tables->items()) {
      for (auto& row : table["rows"]) row.erase("inspection");
    }
  }
  EXPECT_EQ(calm, killed);
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    EXPECT_EQ(entry.path().string().find(".journal"), std::string::npos) << entry.path();
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

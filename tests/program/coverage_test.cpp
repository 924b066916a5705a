// Coverage as people use it: shards, contexts, interruptions, gates, reports.

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/program/program.h"

namespace assay {
namespace {

class CoverageProgram : public Program {
 protected:
  void SetUp() override {
    Program::SetUp();
    const Outcome learned = assay(
        "cover --quiet --model net.onnx --train images-idx3-ubyte --test images-idx3-ubyte -m 2 --layer "
        "hidden --criterion idc "
        "--criterion kmnc --criterion nc --criterion nlc --criterion dsc --profile net.profile --state "
        "whole.cov --json whole.json");
    ASSERT_EQ(learned.code, 0) << learned.err;
  }
  // The same criteria from the profile.
  Outcome cover(const std::string& more) const {
    return assay(
        "cover --quiet --model net.onnx --profile net.profile --test images-idx3-ubyte -m 2 --criterion idc "
        "--criterion kmnc --criterion nc "
        "--criterion nlc --criterion dsc " +
        more);
  }
  std::string bytes(const std::string& name) const { return read_file(folder / name); }
};

TEST_F(CoverageProgram, ShardsCombineToTheWhole) {
  std::string parts;
  for (int k = 4; k >= 1; --k) {
    const std::string n = std::to_string(k);
    ASSERT_EQ(cover("--shard " + n + "/4 --state part" + n + ".cov").code, 0);
    parts += " part" + n + ".cov";
  }
  const Outcome combined = assay("combine --out all.cov" + parts);
  EXPECT_EQ(combined.code, 0) << combined.err;
  EXPECT_TRUE(bytes("all.cov") == bytes("whole.cov"));
  EXPECT_EQ(assay("combine part1.cov part1.cov").code, 6) << "nothing is counted twice";
  ASSERT_EQ(assay("combine part1.cov part2.cov --json half.json").code, 0);
  EXPECT_EQ(assay("combine part2.cov part1.cov --no-worse-than half.json").code, 0);
  EXPECT_EQ(assay("combine --no-worse-than half.json" + parts).code, 6) << "of other records";
  EXPECT_EQ(assay("combine --any-baseline --compare kmnc --no-worse-than half.json" + parts).code, 0);
  EXPECT_EQ(assay("combine --no-worse-than whole.json" + parts).code, 0) << "the parts are the whole";
  ASSERT_EQ(cover("--shard 1/4 --json one.json").code, 0);
  const auto one = nlohmann::json::parse(bytes("one.json")),
             whole = nlohmann::json::parse(bytes("whole.json"));
  EXPECT_NE(one["provenance"]["test_hash"], whole["provenance"]["test_hash"]);
  EXPECT_NE(one["headline"].get<std::string>().find(" records of "), std::string::npos) << one["headline"];
  EXPECT_EQ(cover("--shard 2/4 --no-worse-than one.json").code, 6) << "of other records";
  write_file(folder / "junk.cov", "junk");
  EXPECT_EQ(assay("combine part1.cov junk.cov").code, 5);
  const Outcome skipping = assay("combine part1.cov junk.cov part2.cov --skip-unreadable --json left.json");
  EXPECT_EQ(nlohmann::json::parse(bytes("left.json"))["warnings"][0]["id"], "unreadable");
  EXPECT_EQ(skipping.code, 0) << skipping.err;
  EXPECT_NE(skipping.out.find("junk.cov"), std::string::npos) << skipping.out;
  EXPECT_EQ(assay("combine part1.cov junk.cov --skip-unreadable --strict").code, 9);
  EXPECT_EQ(assay("combine part1.cov junk.cov --skip-unreadable --fail-under 'warnings<=0'").code, 2);
}

TEST_F(CoverageProgram, ARunThatIsKilledGoesOn) {
  write_data("many-images-idx3-ubyte", "many-labels-idx1-ubyte", 1200);
  const std::string run =
      "cover --quiet --model net.onnx --profile net.profile --test many-images-idx3-ubyte --criterion kmnc "
      "--criterion nlc --batch 8 --json r.json --state ";
  ASSERT_EQ(assay(run + "calm.cov").code, 0);
  const auto calm = nlohmann::json::parse(bytes("r.json"));
  std::filesystem::remove(folder / "r.json");
  EXPECT_GT(killed_until_done(run + "killed.cov --journal-every 0"), 2);
  // Growth, histograms and records of the whole run, not of its last part.
  EXPECT_EQ(nlohmann::json::parse(bytes("r.json"))["tables"], calm["tables"]);
  const Outcome last = assay(run + "killed.cov");
  EXPECT_EQ(last.code, 0) << last.err;
  EXPECT_TRUE(bytes("killed.cov") == bytes("calm.cov"));
  EXPECT_FALSE(std::filesystem::exists(folder / "killed.cov.journal"));
}

TEST_F(CoverageProgram, GatesDecideTheExitCode) {
  const Outcome passed =
      cover("--fail-under nc=0.5 --fail-under 'kmnc[layer=hidden]=0.01' --no-worse-than whole.json");
  EXPECT_EQ(passed.code, 0) << passed.out << passed.err;
  EXPECT_NE(passed.out.find(" passed"), std::string::npos);
  const Outcome failed =
      cover("--fail-under kmnc=99% --junit gates.xml --sarif gates.sarif --markdown gates.md --csv gates");
  EXPECT_EQ(failed.code, 2);
  EXPECT_NE(failed.out.find("GATE FAILED: kmnc=99%"), std::string::npos) << failed.out;
  EXPECT_NE(bytes("gates.xml").find("<failure"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(bytes("gates.sarif")).at("version"), "2.1.0");
  EXPECT_EQ(cover("--fail-under nc").code, 1);
  const Outcome none = cover("--fail-under kmcn=0.1");
  EXPECT_EQ(none.code, 1) << "before any work";
  EXPECT_NE(none.err.find("did you mean 'kmnc'"), std::string::npos) << none.err;
}

TEST_F(CoverageProgram, ContextsAndDifferencesNameWhatIsNew) {
  ASSERT_EQ(cover("--context day --state both.cov").code, 0);
  const Outcome night = assay(
      "cover --quiet --model net.onnx --profile net.profile --test 'images-idx3-ubyte[:20]' -m 2 --criterion "
      "idc --criterion kmnc --criterion nc "
      "--criterion nlc --criterion dsc --context night --state both.cov --append");
  EXPECT_EQ(night.code, 0) << night.err;
  EXPECT_NE(night.out.find("night"), std::string::npos);
  ASSERT_EQ(cover("--shard 1/2 --state half.cov").code, 0);
  const Outcome diff = assay("diff half.cov whole.cov --json -");
  ASSERT_EQ(diff.code, 0) << diff.err;
  const auto json = nlohmann::json::parse(diff.out);
  for (const auto& row : json["tables"]["difference"]["rows"]) {
    EXPECT_TRUE(row["only_a"].is_null() || row["only_a"] == 0) << row.dump();
  }
  bool spread = false;
  for (const auto& row : json["tables"]["measures"]["rows"]) {
    spread |= row["criterion"] == "nlc" && row["layer"] == "all";
    EXPECT_DOUBLE_EQ(row["change"], row["value_b"].get<double>() - row["value_a"].get<double>());
  }
  EXPECT_TRUE(spread) << "measures without items have their values compared";
  const auto neurons = json["tables"]["changed_neurons"]["rows"];
  ASSERT_FALSE(neurons.empty());
  for (const auto& row : neurons) EXPECT_GT(row["only_b"], 0);
}

TEST_F(CoverageProgram, ResultsBecomeAPage) {
  EXPECT_EQ(assay("report whole.json whole.json --out both.html").code, 0);
  const std::string page = bytes("both.html");
  EXPECT_EQ(page.find("PLACEHOLDER"), std::string::npos);
  EXPECT_NE(page.find("{\"documents\":[{\"schema\":\"assay/result\""), std::string::npos);
  EXPECT_EQ(assay("report net.onnx").code, 5);
  EXPECT_EQ(assay("report whole.json --json list.json --out one.html").code, 0);
  EXPECT_THAT(assay("report list.json").err, testing::HasSubstr("name the results themselves"));
  EXPECT_THAT(assay("report whole.json --html one.html").err, testing::HasSubstr("--out one.html"));
  EXPECT_EQ(assay("evaluate --quiet --model net.onnx --data images-idx3-ubyte --html page.html").code, 0);
  EXPECT_NE(bytes("page.html").find("\"command\":\"evaluate\""), std::string::npos);
}

// What a state covers counts no more: a half and what is chosen of the other cover what both do.
TEST_F(CoverageProgram, ChosenTestsGoBeyondAState) {
  const std::string cover =
                        "cover --quiet --model net.onnx --profile net.profile --criterion nc "
                        "--criterion kmnc --criterion idc --criterion tknp -m 3 ",
                    select = "select --quiet --model net.onnx --by minimise --json chosen.json ";
  const auto covered = [&](const std::string& file, const std::string& criterion) {
    const auto result = nlohmann::json::parse(bytes(file));
    for (const auto& row : result["tables"]["criteria"]["rows"]) {
      if (row["criterion"] == criterion && row["layer"] == "all") return row["covered"].dump();
    }
    return std::string("none");
  };
  ASSERT_EQ(assay(cover + "--test 'images-idx3-ubyte[:60]' --state half.cov --json half.json").code, 0);
  ASSERT_EQ(assay(cover + "--test images-idx3-ubyte --json all.json").code, 0);
  const std::string half = bytes("half.cov");
  for (const std::string criterion : {"nc", "kmnc", "tknp", "idc[m=3]"}) {
    write_file(folder / "half.cov", half);
    const Outcome outcome = assay(select + "--test 'images-idx3-ubyte[60:]' --beyond half.cov --criterion '" +
                                  criterion + "' --out more.txt");
    ASSERT_EQ(outcome.code, 0) << criterion << outcome.err;
    const auto chosen = nlohmann::json::parse(bytes("chosen.json"));
    EXPECT_EQ(chosen["facts"]["beyond"], "half.cov");
    EXPECT_EQ(chosen["facts"]["covered"], chosen["facts"]["coverable"]);
    write_file(folder / "both.json", bytes("half.json"));
    if (chosen["facts"]["chosen"] != 0) {
      ASSERT_EQ(
          assay(cover + "--test images-idx3-ubyte,ids=more.txt --state half.cov --append --json both.json")
              .code,
          0);
    }
    EXPECT_EQ(covered("both.json", criterion), covered("all.json", criterion)) << criterion;
  }
  // Nothing new: none are chosen, and the headline says why.
  write_file(folder / "half.cov", half);
  ASSERT_EQ(assay(select + "--test 'images-idx3-ubyte[:60]' --beyond half.cov").code, 0);
  const auto none = nlohmann::json::parse(bytes("chosen.json"));
  EXPECT_EQ(none["facts"]["chosen"], 0);
  EXPECT_THAT(none["headline"].get<std::string>(),
              testing::HasSubstr("none covers anything beyond half.cov"));
  for (const auto& [flags, told] :
       {std::pair("--by entropy --beyond half.cov", "does not use coverage"),
        std::pair("--by budget --size 3 --beyond half.cov --criterion snac", "does not hold snac"),
        std::pair("--by budget --size 3 --beyond half.cov --train images-idx3-ubyte", "leave it out"),
        std::pair("--by budget --size 3 --beyond net.onnx", "net.onnx")})
    EXPECT_THAT(assay("select --model net.onnx --test images-idx3-ubyte " + std::string(flags)).err,
                testing::HasSubstr(told));
}

TEST_F(CoverageProgram, ChosenTestsKeepTheCoverage) {
  const Outcome small = assay(
      "select --quiet --model net.onnx --profile net.profile --test images-idx3-ubyte --by minimise "
      "--criterion kmnc --out keep.txt --write small.npz --json select.json");
  ASSERT_EQ(small.code, 0) << small.err;
  ASSERT_EQ(assay("cover --quiet --model net.onnx --profile net.profile --test small.npz,scale=1 --criterion "
                  "kmnc --json small.json")
                .code,
            0);
  const auto covered = [&](const std::string& file) {
    const auto result = nlohmann::json::parse(bytes(file));
    for (const auto& row : result["tables"]["criteria"]["rows"]) {
      if (row["criterion"] == "kmnc" && row["layer"] == "all") return row["covered"].dump();
    }
    return std::string("none");
  };
  EXPECT_EQ(covered("small.json"), covered("whole.json"));
  const auto facts = nlohmann::json::parse(bytes("select.json"))["facts"];
  EXPECT_LT(facts["chosen"].get<int>(), 200);
  for (const char* way :
       {"deepgini", "entropy", "margin", "max-softmax", "random", "dsa", "additional", "budget --size 7"}) {
    const std::string by = way;
    const bool counts = by == "additional" || by.starts_with("budget");
    const Outcome order =
        assay("select --quiet --model net.onnx --test images-idx3-ubyte --out order.txt --by " + by +
              (counts ? " --criterion kmnc" : "") + (counts || by == "dsa" ? " --profile net.profile" : ""));
    EXPECT_EQ(order.code, 0) << way << ": " << order.err;
    const std::string ids = bytes("order.txt");
    EXPECT_EQ(std::count(ids.begin(), ids.end(), '\n'), std::string(way).starts_with("budget") ? 7 : 200)
        << way;
  }
  EXPECT_EQ(assay("select --model net.onnx --test images-idx3-ubyte --by dsa").code, 1);
}

TEST_F(CoverageProgram, CriteriaAreExplained) {
  const Outcome all = assay("criteria");
  EXPECT_NE(all.out.find("kmnc"), std::string::npos);
  const Outcome one = assay("criteria kmnc");
  EXPECT_EQ(one.code, 0);
  EXPECT_NE(one.out.find("sections"), std::string::npos);
  EXPECT_EQ(assay("criteria kmcn").code, 1);
}

}  // namespace
}  // namespace assay

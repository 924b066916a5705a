// Audits as people use them.

#include <nlohmann/json.hpp>

#include "tests/program/program.h"

namespace assay {
namespace {

class AuditProgram : public Program {
 protected:
  Outcome audit(const std::string& more) const {
    return assay(
        "audit --quiet --model net.onnx --train images-idx3-ubyte --test images-idx3-ubyte --subsets 12 "
        "--permutations 39 --resamples 30 --orders 19 --quality 1 " +
        std::string(more.find("--mutants") == std::string::npos ? "--count 3 " : "") + more);
  }
  nlohmann::json json(const std::string& name) const {
    return nlohmann::json::parse(read_file(folder / name));
  }
};

TEST_F(AuditProgram, JudgesEachCriterionByEachKindOfFaults) {
  const Outcome done = audit(
      "--criterion 'nc[threshold=0.5]' --criterion 'kmnc[sections=10]' --noise 0.05 --twin net.onnx --json "
      "a.json");
  ASSERT_EQ(done.code, 0) << done.err;
  const auto document = json("a.json");
  std::map<std::string, nlohmann::json> tables;
  for (const auto& [id, table] : document["tables"].items()) tables[id] = table["rows"];
  std::size_t criteria = 0;
  for (const auto& row : tables.at("verdicts")) criteria += row["baseline"] == false;
  EXPECT_EQ(criteria % 2, 0U);
  EXPECT_GE(criteria, 2U);
  for (const auto& row : tables.at("discrimination")) {
    // The same network says the same.
    if (row["criterion"].get<std::string>().starts_with("nc")) {
      EXPECT_NEAR(row.at("again_net").get<double>(), 1, 1e-9);
    }
  }
  EXPECT_GT(tables.at("orders").size(), 0U);
  // The same seed gives the same document, whatever the number of threads.
  ASSERT_EQ(audit("--criterion 'nc[threshold=0.5]' --criterion 'kmnc[sections=10]' --noise 0.05 --twin "
                  "net.onnx --threads 1 --json b.json")
                .code,
            0);
  EXPECT_EQ(json("b.json")["tables"], document["tables"]);
}

TEST_F(AuditProgram, TwinsOfOneNameAreToldApart) {
  std::filesystem::create_directory(folder / "other");
  std::filesystem::copy_file(folder / "net.onnx", folder / "other/net.onnx");
  const Outcome done =
      audit("--criterion 'nc[threshold=0.5]' --twin net.onnx --twin other/net.onnx --json t.json");
  ASSERT_EQ(done.code, 0) << done.err;
  const auto row = json("t.json")["tables"]["discrimination"]["rows"][0];
  EXPECT_NEAR(row.at("again_net").get<double>(), 1, 1e-9);
  EXPECT_NEAR(row.at("again_other/net.onnx").get<double>(), 1, 1e-9);
}

TEST_F(AuditProgram, PredictsWhatAnotherSetFinds) {
  const std::string sizes =
      "--criterion 'kmnc[sections=10]' --criterion 'nc[threshold=0.5]' --sizes 5,30,90 ";
  const Outcome done = audit(sizes + "--predict 'images-idx3-ubyte[:40]' --json p.json");
  ASSERT_EQ(done.code, 0) << done.err;
  const auto document = json("p.json");
  bool predicted = false;
  for (const auto& row : document["tables"]["predictions"]["rows"]) {
    EXPECT_EQ(row["share"].is_null(), row["reason"] != "") << row;
    EXPECT_EQ(row["baseline"].get<bool>(), row["criterion"] == "number of records") << row;
    if (row["baseline"]) EXPECT_EQ(row["covered"], 40);
    if (row["share"].is_null()) continue;
    predicted = true;
    EXPECT_LE(row["low"], row["share"]);
    EXPECT_GE(row["high"], row["share"]);
    EXPECT_GE(row["covered"], row["least"]);
    EXPECT_LE(row["covered"], row["most"]);
  }
  EXPECT_TRUE(predicted);
  for (const auto& row : document["tables"]["predictions"]["rows"]) {
    std::size_t taken = 0;
    for (const auto& form : document["tables"]["prediction_forms"]["rows"]) {
      if (form["criterion"] != row["criterion"] || form["faults"] != row["faults"] || !form["taken"])
        continue;
      ++taken;
      EXPECT_EQ(form["rmse"], row["rmse"]);
    }
    EXPECT_EQ(taken, 1U) << row;
  }
  EXPECT_NE(document["headline"].get<std::string>().find("; predicted for images-idx3-ubyte[:40]"),
            std::string::npos);
  EXPECT_EQ(document["provenance"].dump().find("predict") == std::string::npos, false);
  // All records cover more than any subset of them.
  ASSERT_EQ(audit("--criterion 'kmnc[sections=10]' --sizes 5 --predict images-idx3-ubyte --json q.json").code,
            0);
  for (const auto& row : json("q.json")["tables"]["predictions"]["rows"])
    EXPECT_NE(row["reason"].get<std::string>().find("take larger subsets"), std::string::npos) << row;
}

TEST_F(AuditProgram, TakesWhatAnAttackMadeOfTheRecordsAsFaults) {
  ASSERT_EQ(
      assay("attack net.onnx images-idx3-ubyte --attack 'fgsm[eps=0.3]' --only-successful --quiet --out made")
          .code,
      0);
  const Outcome done = audit("--criterion nc --findings made/fgsm.npz --json f.json");
  ASSERT_EQ(done.code, 0) << done.err;
  EXPECT_GT(json("f.json")["facts"]["faults_findings"].get<int>(), 0);
}

TEST_F(AuditProgram, TakesMutantsOfAState) {
  ASSERT_EQ(
      assay("mutate --quiet --model net.onnx --test images-idx3-ubyte --operator 'gf[sigma=2]' --quality "
            "1 --count 5 --state m.mut")
          .code,
      0);
  const Outcome done = audit("--criterion nc --mutants m.mut --by-layer --json m.json");
  ASSERT_EQ(done.code, 0) << done.err;
  EXPECT_NE(json("m.json").dump().find("nc[layer="), std::string::npos);
  const Outcome wrong = audit("--criterion nc --mutants net.onnx");
  EXPECT_EQ(wrong.code, 5) << wrong.err;
}

TEST_F(AuditProgram, SaysWhatIsWrong) {
  const Outcome size = audit("--criterion nc --sizes 20,100000");
  EXPECT_EQ(size.code, 1);
  EXPECT_NE(size.err.find("cannot be drawn from"), std::string::npos) << size.err;
  const Outcome sampler = audit("--criterion nc --sampler classes");
  EXPECT_EQ(sampler.code, 1);
  EXPECT_NE(sampler.err.find("did you mean 'class'"), std::string::npos) << sampler.err;
  const Outcome criterion = audit("--criterion nlc");
  EXPECT_EQ(criterion.code, 1);
  EXPECT_NE(criterion.err.find("choose another criterion"), std::string::npos) << criterion.err;
}

}  // namespace
}  // namespace assay

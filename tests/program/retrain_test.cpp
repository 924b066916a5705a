// Retraining as people use it: comparisons, votes, interruptions, gates, mistakes.

#include <nlohmann/json.hpp>

#include "tests/program/program.h"

namespace assay {
namespace {

class RetrainProgram : public Program {
 protected:
  void SetUp() override {
    Program::SetUp();
    write_data("more-idx3-ubyte", "more-labels-idx1-ubyte", 90);
  }
  static std::string command(const std::string& more) {
    return "retrain --quiet net.onnx --train 'images-idx3-ubyte[:120]' --test 'images-idx3-ubyte[120:]' "
           "--add "
           "'more-idx3-ubyte,labels=more-labels-idx1-ubyte' "
           "--optimiser adam --learning-rate 1e-3 --train-batch 20 --threads 1 " +
           more;
  }
  Outcome retrain(const std::string& more) const { return assay(command(more)); }
  nlohmann::json json(const std::string& name) const {
    return nlohmann::json::parse(read_file(folder / name));
  }
};

TEST_F(RetrainProgram, ComparesTheSameNumberOfAdditionsOfEachKind) {
  const Outcome run = retrain(
      "--count 20 --epochs 2 --repeats 3 --against 'noise,fgsm[eps=0.2]' --out-dir out --json result.json");
  ASSERT_EQ(run.code, 0) << run.err;
  const auto document = json("result.json");
  // Four conditions and "before" on three sets; given, noise and fgsm with the control, given and fgsm with
  // noise.
  EXPECT_EQ(document["tables"]["retraining"]["rows"].size(), 15U);
  EXPECT_EQ(document["tables"]["differences"]["rows"].size(), 15U);
  EXPECT_EQ(document["tables"]["runs"]["rows"].size(), 36U);
  for (const char* name : {"given", "noise", "fgsm", "none"})
    EXPECT_TRUE(std::filesystem::exists(folder / "out" / (std::string(name) + ".onnx"))) << name;
  const auto before = document["tables"]["retraining"]["rows"][0];
  EXPECT_EQ(before["condition"], "before");
  EXPECT_DOUBLE_EQ(before["mean"], 0.9);
}

TEST_F(RetrainProgram, ARunThatIsKilledGoesOnToTheSameTable) {
  const std::string more = "--count 20 --epochs 20 --repeats 12 --against noise ";
  ASSERT_EQ(retrain(more + "--json calm.json").code, 0);
  const std::string kept = "--checkpoint kept --json killed.json ";
  EXPECT_GT(killed_until_done(command(more + kept)), 2);
  ASSERT_EQ(retrain(more + kept).code, 0);
  EXPECT_EQ(json("killed.json")["tables"], json("calm.json")["tables"]);
  EXPECT_EQ(retrain(more + kept + "--markdown known.md").code, 0);
  EXPECT_NE(read_file(folder / "out.txt").find("36 of 36 runs were known"), std::string::npos)
      << read_file(folder / "out.txt");
}

TEST_F(RetrainProgram, VotesAndGates) {
  const std::string small = "--count 20 --epochs 2 --repeats 2 --against none --evaluate-on none ";
  const Outcome vote = retrain(small +
                               "--labels majority --voters net.onnx net.onnx net.onnx --json vote.json "
                               "--fail-under 'retrained[condition=given,set=held-out]=99%'");
  EXPECT_EQ(vote.code, 0) << vote.out << vote.err;
  // The voters are the network itself: it agrees with every label.
  EXPECT_DOUBLE_EQ(json("vote.json")["tables"]["retraining"]["rows"][3]["mean"], 1.0);
  EXPECT_EQ(retrain(small + "--fail-under 'retrained[condition=given,set=held-out]=100%'").code, 2);
  EXPECT_EQ(retrain(small + "--no-worse-than vote.json").code, 2);
}

TEST_F(RetrainProgram, CoverageRaisingRecordsAreOneMoreKind) {
  const Outcome run = retrain(
      "--count 15 --epochs 2 --repeats 2 --against noise --coverage-raising 'kmnc[sections=100]' "
      "--evaluate-on 'removal[share=0.2]' --json raising.json");
  ASSERT_EQ(run.code, 0) << run.err;
  const auto rows = json("raising.json")["tables"]["retraining"]["rows"];
  ASSERT_EQ(rows.size(), 15U);
  EXPECT_EQ(rows[1]["condition"], "raising");
  EXPECT_EQ(rows[14]["set"], "test-removal");
  EXPECT_GT(json("raising.json")["facts"]["raised"], 0);
  EXPECT_EQ(retrain("--coverage-raising kmcn").code, 1);
  const Outcome none = assay(
      "retrain --quiet net.onnx --train images-idx3-ubyte --test images-idx3-ubyte --add images-idx3-ubyte "
      "--coverage-raising nc --count 5");
  EXPECT_EQ(none.code, 5) << none.err;
}

TEST_F(RetrainProgram, SaysWhatIsMissing) {
  EXPECT_EQ(assay("retrain --quiet net.onnx --train images-idx3-ubyte --test images-idx3-ubyte").code, 1);
  const Outcome two = retrain("--labels majority --voters net.onnx net.onnx");
  EXPECT_EQ(two.code, 1);
  EXPECT_NE(two.err.find("at least three"), std::string::npos) << two.err;
  EXPECT_EQ(retrain("--against nosie").code, 1);
  EXPECT_EQ(retrain("--hold-out 1").code, 1);
  const Outcome many = retrain("--against none --evaluate-on none --count 80");
  EXPECT_EQ(many.code, 1);
  EXPECT_NE(many.err.find("80 additions are wanted"), std::string::npos) << many.err;
  EXPECT_NE(many.err.find("--count"), std::string::npos) << many.err;
  const std::string held = "--held-out 'more-idx3-ubyte,labels=more-labels-idx1-ubyte' ";
  for (const std::string& idle : {held + "--hold-out 0.3", std::string("--against none --only-successful"),
                                  std::string("--against none --pool 5"), std::string("--layer hidden")}) {
    const Outcome refused = retrain(idle);
    EXPECT_EQ(refused.code, 1) << idle;
    EXPECT_NE(refused.err.find("has no effect"), std::string::npos) << refused.err;
  }
  ASSERT_EQ(
      retrain(held + "--against none --evaluate-on none --count 5 --epochs 1 --repeats 1 --json r.json").code,
      0);
  EXPECT_NE(json("r.json").dump().find("is both added and held out"), std::string::npos);
}

}  // namespace
}  // namespace assay

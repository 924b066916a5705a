// Mutants of training programs as people use them: trained once, resumed, compared, with trainers of their
// own.

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/program/program.h"

namespace assay {
namespace {

class SourceMutationProgram : public Program {
 protected:
  Outcome mutate(const std::string& more, const std::string& action = "") const {
    return assay("mutate " + action +
                 " --quiet --model net.onnx --train 'images-idx3-ubyte[:120]' --optimiser adam "
                 "--learning-rate 0.01 --epochs 2 --train-batch 20 " +
                 (action.empty() ? "--quality 1 " : "") + more);
  }
  // Judged by the other records.
  Outcome judged(const std::string& more) const {
    return mutate(operators + " --test 'images-idx3-ubyte[120:]' --store kept " + more);
  }
  std::string bytes(const std::string& name) const { return read_file(folder / name); }
  nlohmann::json json(const std::string& name) const { return nlohmann::json::parse(bytes(name)); }

  const std::string operators =
      "--operator 'le[ratio=0.5]' --operator 'dm[classes=random,ratio=0.9]' --operator 'epochs[to=1]' "
      "--count 2 ";
};

TEST_F(SourceMutationProgram, TrainsEachMutantOnceWhateverIsAsked) {
  const Outcome first = judged("--json first.json --matrix first.csv --state first.mut");
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_NE(first.out.find("mutation score"), std::string::npos) << first.out;
  EXPECT_EQ(json("first.json")["facts"]["trained"], 5);
  EXPECT_TRUE(json("first.json")["headline"].get<std::string>().starts_with("net:"))
      << json("first.json")["headline"];
  ASSERT_EQ(judged("--json again.json --matrix again.csv --state again.mut").code, 0);
  EXPECT_EQ(json("again.json")["facts"]["trained"], 0);
  EXPECT_EQ(json("again.json")["facts"]["trained_before"], 5);
  EXPECT_EQ(bytes("first.csv"), bytes("again.csv"));
  EXPECT_TRUE(bytes("first.mut") == bytes("again.mut"));
  ASSERT_EQ(judged("--operator afrs --json more.json").code, 0);
  EXPECT_EQ(json("more.json")["facts"]["trained_before"], 5);
  EXPECT_GT(json("more.json")["facts"]["trained"], 0);
}

TEST_F(SourceMutationProgram, ShardsCombineToTheWholeAndShareTheStore) {
  ASSERT_EQ(judged("--shard 1/2 --state 1.mut").code, 0);
  ASSERT_EQ(judged("--shard 2/2 --state 2.mut").code, 0);
  ASSERT_EQ(judged("--state whole.mut --json whole.json").code, 0);
  EXPECT_EQ(json("whole.json")["facts"]["trained"], 0);
  ASSERT_EQ(assay("combine 2.mut 1.mut --out all.mut --quality 1").code, 0);
  EXPECT_TRUE(bytes("all.mut") == bytes("whole.mut"));
}

TEST_F(SourceMutationProgram, PartsOfRepeatedTrainingsAreTheWholeThroughTheStore) {
  const std::string run =
      "mutate --quiet --model net.onnx --train 'images-idx3-ubyte[:60]' --test 'images-idx3-ubyte[120:]' "
      "--optimiser adam --epochs 1 --train-batch 20 --runs 2,3 --store kept --operator 'le[ratio=0.5]' "
      "--operator 'epochs[to=2]' ";
  for (const char* part : {"1/2", "2/2"}) {
    const Outcome outcome = assay(run + "--shard " + part);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_NE((outcome.out + outcome.err).find("the same command without --shard"), std::string::npos);
  }
  ASSERT_EQ(assay(run + "--json whole.json").code, 0);
  const auto facts = json("whole.json")["facts"];
  EXPECT_EQ(facts["trained"], 0) << facts;
  EXPECT_EQ(assay(run + "--shard 3/2").code, 1);
}

TEST_F(SourceMutationProgram, OperatorsThatMakeNoMutantAreNamed) {
  const std::string run =
      "mutate --quiet --model net.onnx --train 'images-idx3-ubyte[:60]' --test 'images-idx3-ubyte[120:]' "
      "--optimiser adam --epochs 1 --train-batch 20 --operator remove-validation --store kept ";
  const std::string none =
      "operator remove-validation makes no mutant: there are no validation data (recipe)";
  for (const std::string more : {"--operator 'epochs[to=2]'", "--operator 'epochs[to=2]' --runs 2"}) {
    ASSERT_EQ(assay(run + more + " --json some.json").code, 0);
    EXPECT_EQ(json("some.json")["notices"][0], none) << more;
  }
  EXPECT_NE(assay(run).err.find("there are no validation data"), std::string::npos);
  // One epoch is kept with and without validation data.
  ASSERT_EQ(assay(run + "--validation 'images-idx3-ubyte[60:80]' --json same.json").code, 0);
  EXPECT_NE(json("same.json")["notices"].dump().find("every mutant of remove-validation looks equivalent"),
            std::string::npos);
}

TEST_F(SourceMutationProgram, ARunThatIsKilledGoesOn) {
  const std::string run =
      "mutate --quiet --model net.onnx --train 'images-idx3-ubyte[:120]' --test 'images-idx3-ubyte[120:]' "
      "--quality 1 --operator le --count 12 --optimiser adam --epochs 6 --train-batch 4 ";
  ASSERT_EQ(assay(run + "--store calm --state calm.mut").code, 0);
  EXPECT_GE(killed_until_done(run + "--store killed --state killed.mut"), 1);
  ASSERT_EQ(assay(run + "--store killed --state killed.mut --json last.json").code, 0);
  EXPECT_TRUE(bytes("killed.mut") == bytes("calm.mut"));
}

TEST_F(SourceMutationProgram, ComparesTestSets) {
  const Outcome outcome = judged("--test 'images-idx3-ubyte[120:130]' --json both.json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto document = json("both.json");
  const auto rows = document["tables"]["test_sets"]["rows"];
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0]["records"], 80);
  EXPECT_EQ(rows[1]["records"], 10);
  EXPECT_EQ(rows[0]["score"], document["facts"]["mutation_score"]);
  EXPECT_LE(rows[1]["killed"], rows[0]["killed"]);
}

TEST_F(SourceMutationProgram, ListsExportsAndLooksIntoTheStore) {
  ASSERT_EQ(mutate(operators + " --json list.json", "list").code, 0);
  const auto rows = json("list.json")["tables"]["mutants"]["rows"];
  ASSERT_EQ(rows.size(), 5U);
  const std::string text = rows[0]["text"];
  EXPECT_TRUE(text.starts_with("le[ratio=0.5]@data#")) << text;
  ASSERT_EQ(judged("").code, 0);
  const Outcome exported = mutate("--mutant '" + text + "' --store kept --out mutant.onnx", "export");
  EXPECT_EQ(exported.code, 0) << exported.err;
  EXPECT_EQ(assay("evaluate --quiet --model mutant.onnx --data images-idx3-ubyte").code, 0);
  ASSERT_EQ(assay("mutate store --quiet --store kept --json store.json").code, 0);
  EXPECT_EQ(json("store.json")["facts"]["networks"], 6);
  const auto listed = json("store.json");
  for (const auto& row : listed["tables"]["store"]["rows"]) EXPECT_EQ(row["status"], "trained");
  ASSERT_EQ(assay("mutate store --quiet --store kept --prune all --json pruned.json").code, 0);
  EXPECT_EQ(json("pruned.json")["facts"]["removed"], 6);
  EXPECT_TRUE(std::filesystem::is_empty(folder / "kept"));
}

TEST_F(SourceMutationProgram, MutantsThatTheTrainingDataDoNotKillDoNotCount) {
  ASSERT_EQ(judged("--operator 'dr[ratio=0.01]' --killable --json some.json").code, 0);
  ASSERT_EQ(judged("--operator 'dr[ratio=0.01]' --json all.json").code, 0);
  EXPECT_EQ(json("some.json")["facts"]["mutants"], json("all.json")["facts"]["mutants"]);
  EXPECT_EQ(json("some.json")["facts"]["excluded"], json("all.json")["facts"]["excluded"]);
  EXPECT_TRUE(json("some.json")["facts"].contains("not_killable"));
  EXPECT_FALSE(json("all.json")["facts"].contains("not_killable"));
}

TEST_F(SourceMutationProgram, PartsKeepWhatTheTrainingDataDoNotKill) {
  const std::string some = "--operator 'dr[ratio=0.01]' --killable ";
  ASSERT_EQ(judged(some + "--shard 1/2 --state 1.mut").code, 0);
  ASSERT_EQ(judged(some + "--shard 2/2 --state 2.mut").code, 0);
  ASSERT_EQ(judged(some + "--state whole.mut --json whole.json").code, 0);
  ASSERT_EQ(assay("combine 2.mut 1.mut --out all.mut --quality 1 --json all.json").code, 0);
  EXPECT_TRUE(bytes("all.mut") == bytes("whole.mut"));
  EXPECT_EQ(json("all.json")["facts"]["mutation_score"], json("whole.json")["facts"]["mutation_score"]);
  EXPECT_EQ(json("all.json")["facts"]["not_killable"], json("whole.json")["facts"]["not_killable"]);
  ASSERT_EQ(judged("--operator 'dr[ratio=0.01]' --shard 2/2 --state other.mut").code, 0);
  const Outcome mixed = assay("combine 1.mut other.mut");
  EXPECT_NE(mixed.code, 0);
  EXPECT_NE(mixed.err.find("--killable"), std::string::npos) << mixed.err;
}

TEST_F(SourceMutationProgram, APartWithoutMutantsIsAnEmptyState) {
  const std::string one =
      "--operator 'le[ratio=0.5]' --count 1 --test 'images-idx3-ubyte[120:]' --store kept ";
  const Outcome empty = mutate(one + "--shard 2/2 --state 2.mut");
  ASSERT_EQ(empty.code, 0) << empty.err;
  ASSERT_EQ(mutate(one + "--shard 1/2 --state 1.mut").code, 0);
  ASSERT_EQ(mutate(one + "--state whole.mut").code, 0);
  ASSERT_EQ(assay("combine 1.mut 2.mut --out all.mut --quality 1").code, 0);
  EXPECT_TRUE(bytes("all.mut") == bytes("whole.mut"));
}

TEST_F(SourceMutationProgram, TrainsByACommand) {
  const std::string source = ASSAY_SOURCE_DIR;
  const Outcome outcome = judged("--trainer 'ASSAY=\"" ASSAY_PROGRAM "\" sh " + source +
                                 "/examples/trainers/train_assay.sh' --json r.json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(json("r.json")["facts"]["trained"], 5);
  EXPECT_FALSE(json("r.json")["facts"].contains("not_trained"));
}

// Pictures of what is in the archive otherwise: the same records, so the same networks.
TEST_F(SourceMutationProgram, GivesPicturesToTrainersThatWantThem) {
  write_file(folder / "train.sh",
             std::string_view("set -e\nfolder=$(dirname \"$1\")\n"
                              "grep -q '\"low\": 0.0' \"$1\"\n"
                              "test $(find \"$folder/training\" -name '*.png' | wc -l) -gt 5\n"
                              "\"" ASSAY_PROGRAM "\" train --quiet --model \"$folder/network.onnx\" --data "
                              "\"$folder/training,color=grey\" --optimiser adam --epochs 1 --out "
                              "\"$folder/trained.onnx\"\n"));
  const Outcome outcome = judged("--trainer 'sh train.sh' --trainer-data images --json r.json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(json("r.json")["facts"]["trained"], 5) << outcome.err;
  EXPECT_FALSE(json("r.json")["facts"].contains("not_trained"));
}

TEST_F(SourceMutationProgram, SaysWhatBecameOfMutantsWhoseTrainerFails) {
  write_file(folder / "train.sh", std::string_view("grep -q '\"operator\": \"le\"' \"$1\" && exit 7\n"
                                                   "cp \"$(dirname \"$1\")/network.onnx\" "
                                                   "\"$(dirname \"$1\")/trained.onnx\"\n"));
  const Outcome outcome = judged("--initialiser keep --trainer 'sh train.sh' --json r.json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto rows = json("r.json")["tables"]["not_trained"]["rows"];
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_NE(std::string(rows[0]["reason"]).find("exit code 7"), std::string::npos);
  EXPECT_EQ(json("r.json")["facts"]["mutants"], 3);
}

TEST_F(SourceMutationProgram, TrainsByTheTemplateForPyTorch) {
  if (shell("python3 -c 'import torch, numpy'").code != 0) GTEST_SKIP() << "python3-torch is not installed";
  const std::string source = ASSAY_SOURCE_DIR;
  const Outcome outcome = mutate(
      "--operator 'le[ratio=0.5]' --test 'images-idx3-ubyte[120:]' --store kept --trainer "
      "'python3 " +
      source + "/examples/trainers/train_pytorch.py' --json r.json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_FALSE(json("r.json")["facts"].contains("not_trained")) << json("r.json")["tables"]["not_trained"];
}

TEST_F(SourceMutationProgram, FlagsWithoutEffectAreErrors) {
  const std::string edits =
      "mutate --quiet --model net.onnx --test images-idx3-ubyte --operator gf --count 1 ";
  for (const char* flag : {"--epochs 3", "--store kept", "--jobs 2", "--killable", "--trainer true",
                           "--validation images-idx3-ubyte", "--prune all", "--test images-idx3-ubyte"}) {
    const Outcome outcome = assay(edits + flag);
    EXPECT_EQ(outcome.code, 1) << flag << outcome.err;
  }
  const Outcome unused = assay(edits + "--train images-idx3-ubyte");
  EXPECT_EQ(unused.code, 0) << unused.err;
  EXPECT_NE((unused.out + unused.err).find("training data are not used"), std::string::npos);
  for (const char* flag : {"--naive", "--whole-network", "--operator gf", "--trainer-timeout 3",
                           "--trainer-data images", "--prune all", "--architecture lenet5"}) {
    const Outcome outcome = judged(flag);
    EXPECT_EQ(outcome.code, 1) << flag << outcome.err;
  }
  const Outcome tolerance = assay(edits + "--tolerance 0.1");
  EXPECT_EQ(tolerance.code, 1);
  EXPECT_NE(tolerance.err.find("without --expect-accuracy"), std::string::npos) << tolerance.err;
  const Outcome nowhere =
      mutate("--operator le --layer hidden --count 1 --test 'images-idx3-ubyte[120:]' --store kept");
  EXPECT_EQ(nowhere.code, 1);
  EXPECT_NE(nowhere.err.find("--layer hidden"), std::string::npos) << nowhere.err;
  EXPECT_EQ(mutate(operators + " --test images-idx3-ubyte").code, 1);  // no store
  const Outcome idle = assay("mutate store --quiet --store kept --task pixels");
  EXPECT_EQ(idle.code, 1);
  EXPECT_NE(idle.err.find("--task has no effect with the action store"), std::string::npos) << idle.err;
  EXPECT_EQ(assay("mutate store --quiet").code, 1);
  EXPECT_EQ(assay("mutate --quiet --model net.onnx --test images-idx3-ubyte --operator le --store s").code,
            1);
}

}  // namespace
}  // namespace assay

// The program started by mpirun: the same results as by one process, and what happens when a rank ends.

#include <nlohmann/json.hpp>

#include "tests/program/program.h"

namespace assay {
namespace {

class RanksProgram : public Program {
 protected:
  void SetUp() override {
    Program::SetUp();
    if (!std::filesystem::exists(module)) GTEST_SKIP() << "built without OpenMPI";
    if (shell("command -v mpirun").code != 0) GTEST_SKIP() << "mpirun is not installed";
  }

  const std::filesystem::path module = std::filesystem::path(ASSAY_PROGRAM).parent_path() / "libassay_mpi.so";

  // `command`: as a shell runs it on each rank.
  Outcome launched(int ranks, const std::string& command) const {
    return shell("OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe -n " +
                 std::to_string(ranks) + " " + command);
  }
  Outcome by(int ranks, const std::string& arguments) const {
    return ranks == 1 ? assay(arguments) : launched(ranks, "\"$assay\" " + arguments);
  }

  // A result document without what tells one run from another.
  nlohmann::json document(const std::string& name) const {
    auto json = nlohmann::json::parse(read_file(folder / name));
    for (const char* const of_the_run : {"seconds", "finished"}) json["provenance"].erase(of_the_run);
    return json;
  }

  // The same command by one process and by several gives the same document and the same files, each time from
  // nothing: without `kept`, either.
  void expect_same(const std::string& arguments, const std::vector<std::string>& files,
                   const std::vector<int>& ranks, const std::string& kept = "none") {
    const auto run = [&](int count) {
      for (const std::string& file : files) std::filesystem::remove_all(folder / file);
      std::filesystem::remove_all(folder / kept);
      const Outcome outcome = by(count, arguments + " --quiet --batch 16 --json r.json");
      EXPECT_EQ(outcome.code, 0) << count << " ranks: " << outcome.out << outcome.err;
    };
    run(1);
    const nlohmann::json alone = document("r.json");
    std::vector<std::string> bytes;
    for (const std::string& file : files) bytes.push_back(read_file(folder / file));
    for (const int count : ranks) {
      run(count);
      EXPECT_EQ(document("r.json"), alone) << count << " ranks, " << arguments;
      for (std::size_t f = 0; f < files.size(); ++f)
        EXPECT_TRUE(read_file(folder / files[f]) == bytes[f]) << files[f] << " by " << count << " ranks";
    }
  }

  void write_plain_data() { write_data("more-images-idx3-ubyte", "more-labels-idx1-ubyte", 500); }
};

TEST_F(RanksProgram, CoverIsTheSame) {
  write_plain_data();
  expect_same(
      "cover --model net.onnx --train images-idx3-ubyte --test more-images-idx3-ubyte -m 2 --layer hidden "
      "--criterion idc --criterion kmnc --criterion nc --criterion nlc --criterion dsc --profile net.profile "
      "--state "
      "s.cov",
      {"net.profile", "s.cov"}, {2, 4, 8});
}

TEST_F(RanksProgram, EvaluateAndImportanceAreTheSame) {
  write_plain_data();
  expect_same("evaluate --model net.onnx --data more-images-idx3-ubyte --predictions said.csv", {"said.csv"},
              {3});
  expect_same("evaluate --model net.onnx --data more-images-idx3-ubyte --task embedding", {}, {3});
  expect_same("importance --model net.onnx --data more-images-idx3-ubyte --layer hidden", {}, {4});
}

TEST_F(RanksProgram, MutateIsTheSame) {
  expect_same("mutate --model net.onnx --test images-idx3-ubyte --count 4 --state s.mut --matrix m.csv",
              {"s.mut", "m.csv"}, {4});
}

TEST_F(RanksProgram, TrainingsAreTheSame) {
  write_plain_data();
  const std::string trained =
      "mutate --model net.onnx --train images-idx3-ubyte --test images-idx3-ubyte --epochs 1 --operator "
      "'le[ratio=0.2]' --operator 'dr[ratio=0.5]' --store trained ";
  expect_same(trained + "--test more-images-idx3-ubyte --count 3 --killable --state s.mut --matrix m.csv",
              {"s.mut", "m.csv"}, {3}, "trained");
  expect_same(trained + "--runs 3", {}, {3}, "trained");
}

TEST_F(RanksProgram, SelectIsTheSame) {
  expect_same(
      "select --model net.onnx --train images-idx3-ubyte --test images-idx3-ubyte --by additional "
      "--criterion kmnc "
      "--out order.txt",
      {"order.txt"}, {3});
}

TEST_F(RanksProgram, AttackAndExploreAreTheSame) {
  const std::string attack =
      "attack net.onnx images-idx3-ubyte --attack 'pgd[eps=0.2,steps=3]' --pictures 0 --quiet "
      "--batch 16 --out ";
  ASSERT_EQ(assay(attack + "one").code, 0);
  const Outcome attacked = launched(3, "\"$assay\" " + attack + "three");
  ASSERT_EQ(attacked.code, 0) << attacked.err;
  EXPECT_TRUE(read_file(folder / "one/pgd.npz") == read_file(folder / "three/pgd.npz"));
  const std::string explore =
      "explore net.onnx --mutant ws --data images-idx3-ubyte --train images-idx3-ubyte "
      "--criterion nc --iterations 5 --round 50 --pictures 0 --quiet --out ";
  const Outcome alone = assay(explore + "alone");
  ASSERT_EQ(alone.code, 0) << alone.err;
  const Outcome explored = launched(3, "\"$assay\" " + explore + "ranks");
  ASSERT_EQ(explored.code, 0) << explored.err;
  EXPECT_TRUE(read_file(folder / "alone/findings.npz") == read_file(folder / "ranks/findings.npz"));
}

TEST_F(RanksProgram, WhatIsSentToARankThatLeavesDoesNotHoldTheOthers) {
  const Outcome outcome = launched(3, ASSAY_LEAVING_RANK " " + module.string());
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "left\nleft\nleft\n");
}

TEST_F(RanksProgram, OneMessageSaysWhatIsWrong) {
  const Outcome missing = by(3, "evaluate --model nowhere.onnx --data images-idx3-ubyte");
  EXPECT_EQ(missing.code, 7);
  EXPECT_EQ(missing.err.find("nowhere.onnx"), missing.err.rfind("nowhere.onnx")) << missing.err;
  const Outcome alone = by(2, "data images-idx3-ubyte");
  EXPECT_EQ(alone.code, 1);
  EXPECT_NE(alone.err.find("`assay data` is not shared among the 2 processes"), std::string::npos)
      << alone.err;
  EXPECT_EQ(
      shell("OMPI_COMM_WORLD_SIZE=2 \"$assay\" evaluate --model net.onnx --data images-idx3-ubyte").code, 1)
      << "what no launcher has started is no rank";
}

// A rank that is killed, ever later, while it writes its journal; each run has another number of ranks.
TEST_F(RanksProgram, AfterAKillTheSameCommandGoesOnWithAnyNumberOfRanks) {
  write_data("many-images-idx3-ubyte", "many-labels-idx1-ubyte", 1200);
  ASSERT_EQ(
      assay("cover --quiet --model net.onnx --train images-idx3-ubyte --test images-idx3-ubyte --criterion "
            "kmnc --criterion nlc --profile net.profile")
          .code,
      0);
  const std::string run =
      "cover --quiet --model net.onnx --profile net.profile --test many-images-idx3-ubyte --criterion kmnc "
      "--criterion nlc --batch 8 --json r.json --journal-every 0 --state ";
  ASSERT_EQ(assay(run + "calm.cov").code, 0);
  const auto calm = document("r.json");
  int kills = 0;
  for (const auto& [ranks, killed, call] :
       {std::tuple(3, 2, 12), std::tuple(2, 0, 16), std::tuple(4, 1, 14)}) {
    std::filesystem::remove(folder / "r.json");
    const Outcome outcome = launched(
        ranks, "sh -c 'if [ $OMPI_COMM_WORLD_RANK = " + std::to_string(killed) +
                   " ]; then export LD_PRELOAD=" ASSAY_KILL_AT " ASSAY_KILL_AT=" + std::to_string(call) +
                   "; fi; exec \"" ASSAY_PROGRAM "\" " + run + "killed.cov'");
    if (outcome.code == 0) continue;
    ++kills;
    EXPECT_NE(outcome.err.find("rank " + std::to_string(killed)), std::string::npos) << outcome.err;
  }
  EXPECT_GE(kills, 2);
  const Outcome last = by(2, run + "killed.cov");
  ASSERT_EQ(last.code, 0) << last.err;
  EXPECT_TRUE(read_file(folder / "killed.cov") == read_file(folder / "calm.cov"));
  EXPECT_EQ(document("r.json")["tables"], calm["tables"]);
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    EXPECT_EQ(entry.path().string().find("killed.cov.journal"), std::string::npos) << entry.path();
}

class ShardsOfSchedulers : public Program {};

TEST_F(ShardsOfSchedulers, AutoIsThePartThatTheEnvironmentNames) {
  const std::string cover =
      "\"$assay\" cover --quiet --model net.onnx --profile net.profile --test images-idx3-ubyte --criterion "
      "kmnc ";
  ASSERT_EQ(assay("cover --quiet --model net.onnx --train images-idx3-ubyte --test images-idx3-ubyte "
                  "--criterion kmnc "
                  "--profile net.profile --state whole.cov")
                .code,
            0);
  const auto combined = [&](const std::string& tasks) {
    const Outcome outcome =
        shell(tasks + " && \"$assay\" combine --quiet --out all.cov part*.cov && rm part*.cov");
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_TRUE(read_file(folder / "all.cov") == read_file(folder / "whole.cov")) << tasks;
  };
  combined(
      "for t in 10 12 14; do SLURM_ARRAY_TASK_ID=$t SLURM_ARRAY_TASK_MIN=10 SLURM_ARRAY_TASK_STEP=2 "
      "SLURM_ARRAY_TASK_COUNT=3 " +
      cover + "--shard auto --state part$t.cov || exit 1; done");
  combined("for t in 0 1; do SLURM_PROCID=$t SLURM_STEP_NUM_TASKS=2 " + cover +
           "--shard auto --state part$t.cov || exit 1; done");
  combined("for t in 0 1 2; do JOB_COMPLETION_INDEX=$t ASSAY_SHARDS=3 " + cover +
           "--shard auto --state part$t.cov || exit 1; done");
  EXPECT_EQ(shell(cover + "--shard auto").code, 1) << "nobody has numbered this process";
  const Outcome uncounted = shell("JOB_COMPLETION_INDEX=1 " + cover + "--shard auto");
  EXPECT_EQ(uncounted.code, 1);
  EXPECT_NE(uncounted.err.find("ASSAY_SHARDS"), std::string::npos) << uncounted.err;
  EXPECT_EQ(shell("JOB_COMPLETION_INDEX=3 ASSAY_SHARDS=3 " + cover + "--shard auto").code, 1);
}

}  // namespace
}  // namespace assay
